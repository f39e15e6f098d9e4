package explain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestAnswersCountMoreThanAnExternalDNSThatCannotBeSeen: a name that all servers answer
// is not told as one that was not seen to be published.
func TestAnswersCountMoreThanAnExternalDNSThatCannotBeSeen(t *testing.T) {
	t.Parallel()
	of := func(published, verified string) string {
		return sentence("www.example", intent.NameOwner{Owner: "projects/shop/names/www.example", Records: []intent.NameStatus{{
			Record: "lab", Targets: []string{"192.0.2.1"},
			Conditions: []intent.StatusCondition{{Type: "Published", Status: published, Message: "external-dns is away"}, {Type: "Verified", Status: verified, Message: "a server is wrong"}},
		}}}, nil)
	}
	require.Equal(t, `The servers of www.example answer what projects/shop/names/www.example publishes by provider "lab": 192.0.2.1.`, of("Unknown", "True"))
	require.Equal(t, `The servers of www.example answer otherwise than projects/shop/names/www.example publishes by provider "lab": a server is wrong.`, of("Unknown", "False"))
	require.Equal(t, `www.example of projects/shop/names/www.example is not published by provider "lab": external-dns is away.`, of("False", "True"))
	require.Equal(t, `It is not known whether www.example of projects/shop/names/www.example is published by provider "lab": external-dns is away.`, of("Unknown", "Unknown"))
}

// TestAHeldRemovalIsTold: all is well with the answers, and nobody offers them any more.
func TestAHeldRemovalIsTold(t *testing.T) {
	t.Parallel()
	held := []intent.StatusCondition{{Type: "Synced", Status: "False", Reason: "RemovalFrozen"}, {Type: "Published", Status: "True"}, {Type: "Verified", Status: "True"}}
	of := func(records ...intent.NameStatus) string {
		return sentence("www.example", intent.NameOwner{Owner: "projects/shop/names/www.example", Records: records}, []string{"192.0.2.1"})
	}
	kept := intent.NameStatus{Record: "lab", Conditions: held}
	const published = `www.example of projects/shop/names/www.example is published by provider "lab", and its servers answer 192.0.2.1.`
	require.Equal(t, published+" No address of it exists any more: its removal is held, because too many names would go at once.", of(kept))
	require.Equal(t, published, of(kept, intent.NameStatus{Record: "other", Conditions: held[1:]}), "another provider has an address")
}

// TestASummaryHasTheAddressesOfAllOwners: the servers answer those of all.
func TestASummaryHasTheAddressesOfAllOwners(t *testing.T) {
	t.Parallel()
	of := func(owner intent.Path, targets ...string) intent.NameOwner {
		return intent.NameOwner{Owner: owner, Records: []intent.NameStatus{{Record: "lab", Targets: targets}}}
	}
	a, b := of("projects/shop/composite-apps/a/v1/deployment-intent-groups/x", "192.0.2.2", "192.0.2.1"), of("projects/shop/composite-apps/b/v1/deployment-intent-groups/x", "192.0.2.3")
	require.Contains(t, summarize("www.example", []intent.NameOwner{a, b}, false).Summary, " its servers answer 192.0.2.1, 192.0.2.2, 192.0.2.3. 2 owners give it, together 192.0.2.1, 192.0.2.2, 192.0.2.3.")
	a.Records[0].Targets, b.Records[0].Targets = nil, nil
	require.Contains(t, summarize("www.example", []intent.NameOwner{a, b}, false).Summary, " 2 owners give it, together no address.")
}

// TestAnOwnerWithoutAnAddressDoesNoHarmToAName that another owner gives: the summary is of what both give together.
func TestAnOwnerWithoutAnAddressDoesNoHarmToAName(t *testing.T) {
	t.Parallel()
	of := func(owner intent.Path, published string, targets ...string) intent.NameOwner {
		return intent.NameOwner{Owner: owner, State: intent.Instantiated, Records: []intent.NameStatus{{
			Record: "lab", Targets: targets,
			Conditions: []intent.StatusCondition{{Type: "Published", Status: published, Message: "edge/paris is drained"}, {Type: "Verified", Status: published}},
		}}}
	}
	drained, gives := of("projects/shop/composite-apps/a/v1/deployment-intent-groups/x", "False"), of("projects/shop/composite-apps/b/v1/deployment-intent-groups/x", "True", "192.0.2.3")
	require.Equal(t, `www.example of projects/shop/composite-apps/b/v1/deployment-intent-groups/x is published by provider "lab", and its servers answer 192.0.2.3. 2 owners give it, together 192.0.2.3. `+
		`projects/shop/composite-apps/a/v1/deployment-intent-groups/x gives it no address: edge/paris is drained.`, summarize("www.example", []intent.NameOwner{drained, gives}, false).Summary)
	require.Contains(t, summarize("www.example", []intent.NameOwner{drained, drained}, false).Summary, "is not published by provider")
}
