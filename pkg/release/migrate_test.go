package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const next = intent.Path("projects/shop/composite-apps/store/v1/deployment-intent-groups/next")

// migrating is prod, instantiated, and its second context, which EMCO has made
// of the group next to take the place of the first.
func migrating(t *testing.T) *world {
	w := orchestrated(t)
	w.group(next, "web", "www.lab.example")
	o := orchestratedWeb(secondContext)
	o.meta["DeploymentIntentGroup"], o.meta["Level"] = "next", "1"
	w.lay(o)
	_, err := w.service.UpdateContext(t.Context(), secondContext, "front", firstContext)
	require.NoError(t, err)
	return w
}

// TestTheGroupThatEMCOHasMigratedFromEnds once its names are at the other one:
// no call and no state says so.
func TestTheGroupThatEMCOHasMigratedFromEnds(t *testing.T) {
	t.Parallel()
	for name, tell := range map[string]func(w *world){
		"by the event":      func(w *world) { w.event(secondContext, intent.Update) },
		"without the event": func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := migrating(t)
			w.replace(firstContext, secondContext)
			_, err := w.service.StepGroup(t.Context(), prod)
			require.NoError(t, err)
			require.Equal(t, "Instantiated 1111 "+wwwOf, w.current(), "the names are not at the other group yet")
			tell(w)
			w.settle(next)
			w.outlive()
			require.Equal(t, "Terminated 1111 []", w.current())
			require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"}, w.published(next))
		})
	}
}

// TestAMigrationThatIsGivenUpEndsNothing: the group that was to be left goes on.
func TestAMigrationThatIsGivenUpEndsNothing(t *testing.T) {
	t.Parallel()
	w := migrating(t)
	w.vanish(secondContext)
	w.settle(prod, next)
	require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
}
