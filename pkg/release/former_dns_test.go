package release_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// servesIn has the DNS service of a namespace of berlin have an address.
func (w *world) servesIn(namespace, ip string) {
	w.Helper()
	writer, err := w.observed.Writer(w.Context(), berlin, fence)
	require.NoError(w, err)
	require.NoError(w, writer.SetService(w.Context(), namespace, "dns-default", address.Observation{Found: true, ClusterIPs: []string{ip}}))
}

// services are the namespaces of berlin that hold a DNS service.
func (w *world) services() []string {
	w.Helper()
	var out []string
	for _, o := range w.bundle(appcontext.Owner(eu)) {
		if o.Cluster == berlin && o.Kind == "Service" {
			out = append(out, o.Namespace)
		}
	}
	return out
}

// moved is eu of resolving, whose DNS has moved to another namespace.
func moved(t testing.TB) *world {
	w := resolving(t)
	w.servesIn("signpost-dns", "10.96.0.5")
	w.resolve(`[]`, `,"namespace":"eu-dns"`)
	w.do(intent.Update, eu)
	w.settle(eu)
	return w
}

// moveDNS moves the DNS to another namespace, and has the former one go.
func (w *world) moveDNS() {
	w.Helper()
	w.resolve(`[]`, `,"namespace":"eu-dns"`)
	w.do(intent.Update, eu)
	down := w.down
	w.down = map[string]bool{}
	w.settle(eu)
	w.down = down
	w.clear()
}

// clear takes the former DNS away: by the token of an update that changes nothing.
func (w *world) clear() {
	w.Helper()
	plan := w.plan(eu, intent.Update)
	require.Empty(w, plan.Errors)
	_, err := w.try(intent.Update, eu, plan.Token)
	require.NoError(w, err)
}

// TestDNSThatMovesStaysUntilItsRemovalIsConfirmed: running pods ask the address that
// they started with.
func TestDNSThatMovesStaysUntilItsRemovalIsConfirmed(t *testing.T) {
	t.Parallel()
	w := moved(t)
	require.Equal(t, []string{"eu-dns", "signpost-dns"}, w.services())
	require.Contains(t, w.corefile(berlin), ".:5353")
	snap := w.snapshot(eu)
	require.True(t, snap.DNS[len(snap.DNS)-2].Former)
	require.Equal(t, "10.96.0.5", snap.DNS[len(snap.DNS)-2].Address)
	require.Contains(t, snap.DNS[len(snap.DNS)-2].Message(), "another DNS service replaces that of namespace \"signpost-dns\"")

	again := w.do(intent.Update, eu)
	w.settle(eu)
	require.EqualValues(t, 2, again.Revision, "asked again without a confirmation, nothing changes")
	require.Equal(t, []string{"eu-dns", "signpost-dns"}, w.services())

	w.clear()
	w.settle(eu)
	require.Equal(t, []string{"eu-dns"}, w.services())
	require.Equal(t, intent.Instantiated, w.state(eu))
}

// TestWhateverReplacesDNSKeepsIt: by which way ever the place of a cluster's DNS
// changes.
func TestWhateverReplacesDNSKeepsIt(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct {
		change func(w *world)
		want   []string
	}{
		"a third place": {func(w *world) { w.resolve(`[]`, `,"namespace":"eu-dns-2"`); w.do(intent.Update, eu) }, []string{"eu-dns", "eu-dns-2", "signpost-dns"}},
		"back again":    {func(w *world) { w.resolve(`[]`, ``); w.do(intent.Update, eu) }, []string{"eu-dns", "signpost-dns"}},
		"a rollback":    {func(w *world) { w.do(intent.Rollback, eu) }, []string{"eu-dns", "signpost-dns"}},
		"mode import":   {func(w *world) { w.resolve(`[]`, `,"namespace":"eu-dns","mode":"import"`); w.do(intent.Update, eu) }, []string{"eu-dns", "signpost-dns"}},
		"another intent": {func(w *world) {
			require.NoError(w, w.delete(resolvers))
			w.put(eu+"/dns-cr-intents/other", `{"namespace":"other-dns"}`)
			w.do(intent.Update, eu)
		}, []string{"eu-dns", "other-dns", "signpost-dns"}},
		"an update of something else": {func(w *world) {
			w.resolve(`[{"domain":"bar.com","nameservers":["1.2.3.4"]}]`, `,"namespace":"eu-dns"`)
			w.clear()
		}, []string{"eu-dns", "signpost-dns"}},
		"terminate, which takes all": {func(w *world) { w.do(intent.Terminate, eu) }, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := moved(t)
			c.change(w)
			w.settle(eu)
			require.Equal(t, c.want, w.services())
		})
	}
}

// TestAFormerDNSKeepsThePlaceOfItsPods, its content, and its namespace from others.
func TestAFormerDNSKeepsThePlaceOfItsPods(t *testing.T) {
	t.Parallel()
	w := moved(t)
	w.rival(us)
	w.refuses(intent.Instantiate, us, `"mine" and "resolvers"`)
	w.nodes[berlin] = nil
	w.settle(eu)
	require.Equal(t, []string{"eu-dns", "signpost-dns"}, w.services(), "though no node is left")
	w.restartOn(w.fake)
	w.settle(eu)
	require.Equal(t, []string{"eu-dns", "signpost-dns"}, w.services())
}

// TestThePlanTellsWhoStillAsksTheFormerDNS, of whatever takes an address of a
// nameserver away, as far as that is seen.
func TestThePlanTellsWhoStillAsksTheFormerDNS(t *testing.T) {
	t.Parallel()
	users := []string{"ConfigMap kube-system/kubelet-config", "pod shop/web-1"}
	for reason, c := range map[string]struct {
		users []string
		err   error
		says  string
	}{
		"some":                 {users, nil, "10.96.0.5 any more, and pods keep asking until they restart; its observed users are ConfigMap kube-system/kubelet-config, pod shop/web-1"},
		"none":                 {nil, nil, "nothing answers at 10.96.0.5 any more, and pods keep asking until they restart; no user was observed"},
		"those that were seen": {users[:1], errors.New("pods is forbidden"), "its observed users are ConfigMap kube-system/kubelet-config; not everything could be observed: pods is forbidden"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := moved(t)
			w.options.Live = liveState{resolverUsers: func(cluster string, addresses []string) ([]string, error) {
				require.Equal(t, berlin, cluster)
				require.Equal(t, []string{"10.96.0.5"}, addresses)
				return c.users, c.err
			}}
			w.restartOn(w.fake)
			for _, action := range []intent.Action{intent.Update, intent.Terminate} {
				require.Contains(t, strings.Join(w.plan(eu, action).Warnings, "\n"), c.says, action)
			}
			w.resolve(`[]`, `,"namespace":"eu-dns","logLevel":"Debug"`)
			require.NotContains(t, strings.Join(w.plan(eu, intent.Update).Warnings, "\n"), " goes: ", "it stays")
		})
	}
}

// TestAnotherAddressOfTheNodesCachesIsTold: nobody listens at the one before.
func TestAnotherAddressOfTheNodesCachesIsTold(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.resolve(`[]`, `,"nodeLocalDNS":{"enabled":true}`)
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	w.resolve(`[]`, `,"nodeLocalDNS":{"enabled":true,"localIP":"169.254.20.11"}`)
	require.Contains(t, strings.Join(w.plan(eu, intent.Update).Warnings, "\n"), "nothing answers at 169.254.20.10 any more")
}

// TestAPlaceThatSomebodyElseHasIsRefused, before the DNS moves there.
func TestAPlaceThatSomebodyElseHasIsRefused(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	w.options.Live = liveState{foreignObjects: func(cluster string, ids []bundle.ID) (taken []bundle.ID) {
		for _, id := range ids {
			if cluster == paris && id.Namespace == "eu-dns" && id.Kind == "Service" {
				taken = append(taken, id)
			}
		}
		return taken
	}}
	w.restartOn(w.fake)
	w.resolve(`[]`, `,"namespace":"eu-dns"`)
	w.refuses(intent.Update, eu, "on edge+paris, Service eu-dns/dns-default belongs to somebody else, and stays as it is; give another namespace")
	w.settle(eu)
	require.Equal(t, []string{"signpost-dns"}, w.services())
}
