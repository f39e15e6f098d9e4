package cluster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/memory"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/directory"
)

// TestAWatchedFileTakesLittle: each single name is a file, and there may be very many. A file of somebody else has the
// labels of nobody.
func TestAWatchedFileTakesLittle(t *testing.T) {
	const many, most = 2000, 300 // bytes of each
	root := t.TempDir()
	d, err := directory.NewDirectory(root, "hub", cluster.Options{Installation: installation, ScanEvery: time.Hour})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	name := func(n int) string { return fmt.Sprintf("n%06d.lab.example", n) }
	folder := filepath.Join(root, "hub", "shop-dns")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for n := range many {
		whose := installation
		if n == 0 {
			whose = "somebody else"
		}
		text := fmt.Appendf(nil, "apiVersion: externaldns.k8s.io/v1alpha1\nkind: DNSEndpoint\nmetadata:\n  name: %s\n  namespace: shop-dns\n  labels:\n"+
			"    app.kubernetes.io/managed-by: signpost\n    signpost.dev/installation: %s\n    signpost.dev/project: shop\n    signpost.dev/record: lab\n"+
			"    signpost.dev/scope: public\n    signpost.dev/name: %s\nspec: {}\n", name(n), whose, name(n))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "dnsendpoint_"+name(n)+".yaml"), text, 0o600))
	}
	before := memory.InUse()
	watches := d.Watch(t.Context(), cluster.Notify{})
	t.Cleanup(watches.Stop)
	each := (memory.InUse() - before) / many
	t.Logf("%d bytes", each)
	require.Less(t, each, most)
	see := func(n int) cluster.Sight { return watches.Object(bundle.EndpointID("hub", "shop-dns", name(n)), "") }
	live, err := d.Get(t.Context(), bundle.EndpointID("hub", "shop-dns", name(7)))
	require.NoError(t, err)
	require.Equal(t, cluster.Sight{Known: true, Live: live}, see(7), "a watch sees what a request reads")
	require.Equal(t, name(7), see(7).Live.Labels[bundle.LabelName])
	require.Equal(t, cluster.Sight{Known: true}, see(0))
}
