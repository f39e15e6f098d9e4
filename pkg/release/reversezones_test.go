package release_test

import (
	"testing"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestZonesOfAClustersAddressesAreErrorsOfThePlan: of what became known after the
// intent was stored.
func TestZonesOfAClustersAddressesAreErrorsOfThePlan(t *testing.T) {
	t.Parallel()
	const mine, says = `[{"domain":"foo.com","nameservers":["1.2.3.4"]},{"domain":"10.in-addr.arpa","nameservers":["1.2.3.4"]}]`, "on edge+berlin: 10.in-addr.arpa holds the names of the cluster's Services, such as 10.96.0.5"
	for reason, know := range map[string]func(w *world){
		"by the cluster's document": func(w *world) {
			w.put("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"sealed","dns":{"address":"10.96.0.5"}}`)
		},
		"by the DNS service that was made": func(w *world) { w.servesIn("signpost-dns", "10.96.0.5") },
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newCloud(t)
			w.resolve(mine, ``)
			w.do(intent.Instantiate, eu)
			w.settle(eu)
			know(w)
			w.resolve(mine, `,"logLevel":"Debug"`)
			w.refuses(intent.Update, eu, says)
			w.resolve(`[{"domain":"97.10.in-addr.arpa","nameservers":["1.2.3.4"]}]`, ``)
			w.do(intent.Update, eu)
		})
	}
}
