package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// leads puts a DNS intent for a Service, and answers the warnings of the write and those
// of a plan.
func (w *world) leads(service string) (written []intent.Warning, planned string) {
	w.Helper()
	w.put(www(prod), fmt.Sprintf(`{"app":"web","serviceName":%q,"hostnames":["www.lab.example"]}`, service))
	written, err := w.service.NameWarnings(w.Context(), www(prod))
	require.NoError(w, err)
	return written, strings.Join(w.plan(prod, intent.Instantiate).Warnings, "\n")
}

// TestAServiceThatNoClusterHasIsWarnedOfAtOnce, with the nearest one that there is, by what
// was observed, by a live look and by manifests.
func TestAServiceThatNoClusterHasIsWarnedOfAtOnce(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	written, _ := w.leads("wbe")
	require.Empty(t, written, "it is not known")

	w.options.Live = liveState{
		service: func(s address.Service) (*address.Observation, error) {
			return &address.Observation{Found: s.Name == "web"}, nil
		},
		services: map[string][]string{"shop": {"api", "web"}},
	}
	w.restartOn(w.fake)
	written, planned := w.leads("wbe")
	require.Equal(t, []intent.Warning{{Parameter: "serviceName", Message: "there is no Service shop/wbe on edge+berlin, edge+paris; did you mean web?"}}, written)
	require.Contains(t, planned, "none of its clusters has Service shop/wbe; did you mean web?")
	written, _ = w.leads("database")
	require.Equal(t, "there is no Service shop/database on edge+berlin, edge+paris", written[0].Message)
	written, planned = w.leads("web")
	require.Empty(t, written)
	require.NotContains(t, planned, "did you mean")

	plan, err := w.service.PlanName(t.Context(), bakery, w.request(bakery, `{"service":"shop/wbe","clusters":["edge/berlin"],"provider":"lab"}`))
	require.NoError(t, err)
	require.Contains(t, plan.Warnings, "none of its clusters has Service shop/wbe; did you mean web?")
	require.Equal(t, []string{"shop/wbe"}, plan.MissingServices)
	require.Empty(t, w.plan(prod, intent.Instantiate).MissingServices, "of shop/web")

	w.observe(berlin, "shop/wbe", "203.0.113.10")
	written, _ = w.leads("wbe")
	require.Empty(t, written, "one cluster has it")

	for _, cluster := range []string{"berlin", "paris"} {
		w.put(intent.Join("cluster-providers/edge/clusters", cluster), fmt.Sprintf(`{"directory":%q}`, cluster))
	}
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}]}]}`, eu)
	written, planned = w.leads("wbe")
	require.Equal(t, "there is no Service shop/wbe on edge+berlin, edge+paris; did you mean web?", written[0].Message)
	require.Contains(t, planned, "none of its clusters has Service shop/wbe; did you mean web?")
}

// TestServicesOfAnotherProjectsNamespaceAreNotTold: nothing is said of what is there.
func TestServicesOfAnotherProjectsNamespaceAreNotTold(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.member(bankCloud, "berlin")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(www(bankProd), `{"app":"web","serviceName":"wbe","namespace":"shop","hostnames":["www.bank.example"]}`)
	asked := false
	w.options.Live = liveState{
		service:  func(address.Service) (*address.Observation, error) { asked = true; return &address.Observation{}, nil },
		services: map[string][]string{"shop": {"secret"}},
	}
	w.restartOn(w.fake)
	written, err := w.service.NameWarnings(t.Context(), www(bankProd))
	require.NoError(t, err)
	for _, warning := range written {
		require.NotContains(t, warning.Message, "Service")
	}
	require.False(t, asked)
}

// TestLabelsThatNoClusterHasAreWarnedOfAtOnce, with the labels that there are.
func TestLabelsThatNoClusterHasAreWarnedOfAtOnce(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"sealed","labels":{"region":"eu"}}`)
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","clusterLabels":{"region":"ue"}}]}`, eu)
	written, planned := w.leads("web")
	const want = `app "web" runs on no cluster: no cluster of logical cloud "eu" matches; its clusters have the labels region=eu`
	require.Equal(t, []intent.Warning{{Parameter: "app", Message: want}}, written)
	require.Contains(t, planned, want)
}
