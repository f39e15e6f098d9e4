package emco_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

const (
	benchSites     = 100
	benchResources = 20
	benchText      = 1000 // bytes of a resource
)

func benchStore(b *testing.B) kv.KV {
	b.Helper()
	store := realEtcd(b)
	large(b, benchSites, benchResources, benchText).write(b, store)
	return store
}

// BenchmarkBare reads the keys of 100 clusters with 20 resources each, and does
// nothing with them.
func BenchmarkBare(b *testing.B) {
	store := benchStore(b)
	for b.Loop() {
		_, _, err := store.Range(b.Context(), kv.Range{Prefix: root})
		require.NoError(b, err)
	}
}

func BenchmarkRead(b *testing.B) {
	s := newStore(benchStore(b))
	for b.Loop() {
		read(b, s, first)
	}
}

// BenchmarkPatchOneWorkloadOfEachCluster reads and patches, as a pod DNS intent
// of an app does.
func BenchmarkPatchOneWorkloadOfEachCluster(b *testing.B) { benchPatch(b, 1) }

// BenchmarkPatchEveryResource exceeds one transaction.
func BenchmarkPatchEveryResource(b *testing.B) { benchPatch(b, benchResources) }

func benchPatch(b *testing.B, each int) {
	s := newStore(benchStore(b))
	for turn := 0; b.Loop(); turn++ {
		var p emco.Patch
		for n := range benchSites {
			for r := range each {
				text := fmt.Sprintf("# turn %d\n%s", turn, strings.Repeat("x", benchText))
				p.Resources = append(p.Resources, emco.Edit{App: "web", Cluster: clusterName(n), Key: fmt.Sprintf("web-%d+Deployment", r), Text: text})
			}
		}
		done, err := s.Apply(b.Context(), read(b, s, first), p)
		require.NoError(b, err)
		require.True(b, done)
	}
}
