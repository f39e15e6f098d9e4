package nameindex

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// TestAnAnswerOfBeforeTheLastChangeIsNoVerdict: a list says that the servers are asked again, as the page of the name does.
func TestAnAnswerOfBeforeTheLastChangeIsNoVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, verdict string
		after         time.Duration // since the change, that the servers were asked
		want, why     string
	}{
		{"it was leaving, and comes back", "Gone", -time.Minute, "Unknown", verify.AskedAgain},
		{"it was leaving, at whatever time", "StillThere", time.Minute, "Unknown", verify.AskedAgain},
		{"it was missing before", "NotThere", -time.Minute, "Unknown", verify.AskedAgain},
		{"no server answered before", "Unreachable", -time.Minute, "Unknown", verify.AskedAgain},
		{"it is missing now", "NotThere", time.Minute, "False", "192.0.2.53:53 says so"},
		{"it is as it was", "Matches", -time.Minute, "True", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, true)
				w.run()
				g := w.published(prod, "lab", "www.example")
				changed := time.Now().UTC()
				stages := ledger.StagesOf(intent.Stages{Observed: changed.Add(-time.Second)})
				require.NoError(t, w.store.Ledger.Write(t.Context(), fence(), []ledger.Entry{{
					ID: endpointID(g), UID: "u", Generation: 1, Status: ledger.Applied, Since: changed, Stages: &stages,
				}}, nil))
				w.asked(g, changed.Add(c.after), c.verdict, "192.0.2.53:53 says so")
				require.Equal(t, []string{"www.example prod lab Instantiated True " + c.want}, w.find(intent.NameQuery{}))
				require.Equal(t, c.why, w.reasonOf())
			})
		})
	}
}

// TestWhatHasLeftItsHomeIsNotVerified, however it was answered there: the page of the name says so, too.
func TestWhatHasLeftItsHomeIsNotVerified(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		g := w.published(prod, "lab", "www.example")
		require.Equal(t, []string{"www.example prod lab Instantiated True True"}, w.find(intent.NameQuery{}))
		require.NoError(t, w.store.Ledger.Write(t.Context(), fence(), nil, []bundle.ID{endpointID(g)}))
		require.Equal(t, []string{"www.example prod lab Instantiated False Unknown"}, w.find(intent.NameQuery{}))
	})
}
