package release_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/status"
)

// Built-in publishers need no cluster.
const (
	publisher = "_publisher.shop+lab"
	builtIn   = `,"deployOn":{"publisher":"built-in"}`
)

var labBuiltIn = state.Use{Record: lab, Scope: intent.Public, Cluster: publisher}

const wwwBuiltIn = publisher + " lab/public: www.lab.example A 203.0.113.10,203.0.113.20"

// moveIn has the provider lab move to the built-in publisher.
func (w *world) moveIn() error {
	w.Helper()
	w.put(lab, record("lab.example", builtIn))
	_, err := w.service.UpdateRecord(context.Background(), lab, "", "", "ann")
	return err
}

// writesNames tells whether the built-in publisher writes names.
func (w *world) writesNames() bool {
	w.Helper()
	settings := ""
	for _, o := range w.bundle(providerOwner(labBuiltIn)) {
		require.Equal(w, "Publisher", o.Kind, "nothing runs in a cluster")
		settings = string(o.JSON)
	}
	return settings != "" && !strings.Contains(settings, `"stopped":true`)
}

func TestAProviderWithTheBuiltInPublisherNeedsNoCluster(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, record("lab.example", builtIn))
	planned := w.plan(prod, intent.Instantiate)
	require.Empty(t, planned.Errors)
	require.Empty(t, planned.Objects, "the plan names no cluster")
	require.Equal(t, "1s", planned.Names[0].AnsweredWithin)

	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, []string{wwwBuiltIn}, w.published(prod))
	require.True(t, w.writesNames())
	require.Equal(t, intent.Instantiated, w.state(prod))
	shown := status.Of(w.snapshot(prod))
	require.NotContains(t, shown.Clusters, publisher)
	known := w.explained("www.lab.example").Owners[0].ExternalDNS
	require.Len(t, known, 1, "the publisher stands beside the names that it publishes")
	require.Equal(t, intent.BuiltIn, known[0].Cluster)
	snap, err := w.service.RecordSnapshot(t.Context(), lab)
	require.NoError(t, err)
	require.Equal(t, &intent.Home{Publisher: intent.BuiltIn}, status.OfRecord(snap).Home)

	w.observe(paris, "shop/web", "203.0.113.99")
	w.settle(prod)
	require.Equal(t, []string{strings.Replace(wwwBuiltIn, "203.0.113.20", "203.0.113.99", 1)}, w.published(prod))

	require.Error(t, w.delete(lab), "it is in use")
	w.do(intent.Terminate, prod)
	w.outlive()
	require.False(t, w.writesNames())
	require.Empty(t, w.inClusters())
	w.put(eu.Child("kv-pairs", intent.AssociationName), `{"kv":[]}`)
	require.NoError(t, w.delete(lab), "nothing holds the provider any more")
}

// guardPublisher checks at every write that the built-in publisher and an external-dns
// never publish at the same time, and that neither begins before all names are there.
func (w *world) guardPublisher() {
	looking := false
	w.fake.After = func(op, _ string) error {
		if op != "txn" || looking {
			return nil
		}
		looking = true
		defer func() { looking = false }()
		if w.writesNames() {
			require.False(w, w.holds(hub, "Deployment", "external-dns-lab") && w.runs(labOnHub), "one of the two publishes")
			require.True(w, w.holds(publisher, "DNSEndpoint", "web-web-"), "the publisher begins when the names are there")
		}
		if w.runs(labOnHub) {
			require.True(w, w.holds(hub, "DNSEndpoint", "web-web-"), "external-dns begins when the names are there")
		}
		return nil
	}
}

// TestAProviderMovesToTheBuiltInPublisherAndBack: with its names, and without a moment at
// which a publisher misses one of them.
func TestAFixedAddressOfTheBuiltInPublisherNamesNoCluster(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, record("lab.example", builtIn))
	const fixed = "projects/shop/names/fixed.lab.example"
	require.NoError(t, w.publish(fixed, `{"addresses":["203.0.113.99"],"provider":"lab"}`))
	w.settle(fixed)
	require.Equal(t, intent.BuiltIn, status.Of(w.snapshot(fixed)).Names[0].Sources[0].Cluster)
}

func TestAProviderMovesToTheBuiltInPublisherAndBack(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.guardPublisher()
	require.NoError(t, w.moveIn())
	w.settle(prod)
	w.fake.After = nil
	require.True(t, w.writesNames())
	require.Equal(t, []string{wwwBuiltIn}, w.published(prod))
	for _, line := range w.inClusters() {
		require.NotContains(t, line, hub)
	}

	w.guardPublisher()
	require.NoError(t, w.moveTo("hub"))
	w.settle(prod)
	w.fake.After = nil
	require.True(t, w.runs(labOnHub))
	require.False(t, w.writesNames())
	require.Equal(t, []string{wwwOnBoth}, w.published(prod))
	for _, line := range w.inClusters() {
		require.NotContains(t, line, publisher)
	}
	require.Error(t, w.delete(lab), "it is still in use")
}

// TestTheBuiltInPublisherHasPublicNamesOnly: nobody else can ask for those of one cluster.
func TestTheBuiltInPublisherHasPublicNamesOnly(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, record("lab.example", builtIn))
	w.associate(intent.Join("cluster-providers/edge/clusters/paris"), "lab")
	w.refuses(intent.Instantiate, prod, "has the built-in publisher, which has public names only")
}
