package canary

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// TestSecretsAreWriteOnly (I9): nothing that Signpost says, keeps or makes holds
// one of them.
func TestSecretsAreWriteOnly(t *testing.T) {
	program, err := fixture.Build(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Run("a server that cannot start", func(t *testing.T) { unstartable(t, program) })
	t.Run("embedded", func(t *testing.T) {
		w := newWorld(t, program)
		data := filepath.Join(w.dir, "server", "data")
		w.story(directory{filepath.Join(data, "clusters")})
		w.seeEmbedded()
		w.backUp("--data-dir=" + data)
		w.none()
	})
	t.Run("external", func(t *testing.T) {
		s := startStores(t)
		w := newWorld(t, program, s.args()...)
		w.story(w.startCluster())
		w.backUp(s.args()...)
		w.seeStores(s)
		w.none()
	})
}

// story gives Signpost secrets, has it work with them, and stops it.
func (w *world) story(at hub) {
	w.Helper()
	all := w.documents(at)
	w.write(all)
	w.refuse()
	w.deploy(func() {
		held := w.seeObjects(at.objects(w))
		if at.secrets() {
			require.Equal(w, slices.Sorted(maps.Keys(w.used)), held, "the Secrets hold what external-dns needs")
		}
	})
	w.read(all)
	w.profile()
	w.command(all)
	w.seeObjects(at.objects(w))
	w.stop()
}
