package address

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// What cannot be seen any more stays published (I11), and users are told.
func TestWhatIsAsItWasLastSeenIsWarnedOf(t *testing.T) {
	web := Service{Cluster: "edge+berlin", Namespace: "shop", Name: "web"}
	unseen := map[Kind]string{Ingress: "Ingresses may not be listed and watched", Gateway: "the cluster does not serve HTTPRoutes"}
	c, _ := Fold(Input{Rule: Rule{Scope: intent.Public}, Offers: []Offer{{Service: web, Observation: &Observation{
		Found: true, Unseen: unseen, Candidates: []Candidate{{Kind: Ingress, Object: "Ingress shop/web", Target: "8.8.8.8", Field: "status.loadBalancer.ingress[0].ip"}},
	}}}})
	assert.Equal(t, []string{"8.8.8.8"}, c.Targets("A"))
	assert.Equal(t, []string{"the routes to Service shop/web on edge+berlin by ingress are as they were last observed: Ingresses may not be listed and watched"}, c.Warnings, "of what was never there nothing is said")
}
