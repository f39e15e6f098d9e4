package documents_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/documents"
)

// BenchmarkHundredClusters reads a hundred clusters one after the other, as a
// plan does: as they are kept, and when all have to be asked for again.
func BenchmarkHundredClusters(b *testing.B) {
	const clusters = 100
	w := newWorld(b)
	var paths []intent.Path
	for i := range clusters {
		path := intent.Join("cluster-providers", "edge", "clusters", fmt.Sprintf("c%d", i))
		paths = append(paths, path)
		w.say(path, `{"metadata":{"name":"`+path.Name()+`"},"spec":{"gitOps":{"gitOpsType":""}}}`)
		w.say(path+" as a file", kubeconfig)
		w.say(path+"/labels", `[{"clusterLabel":"west"}]`)
	}
	s := w.store()
	read := func(b *testing.B) {
		for _, path := range paths {
			_, err := s.Get(b.Context(), path)
			require.NoError(b, err)
		}
	}
	b.Run("kept", func(b *testing.B) {
		for b.Loop() {
			read(b)
		}
	})
	b.Run("asked for", func(b *testing.B) {
		for b.Loop() {
			w.pass(documents.DefaultFresh)
			read(b)
		}
	})
}
