package sharing

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestAPlanDoesWithoutAReleaseThatIsDroppedAlready, and fails if the store does not answer.
func TestAPlanDoesWithoutAReleaseThatIsDroppedAlready(t *testing.T) {
	t.Parallel()
	fake := kvtest.NewFake()
	judge := &Judge{Store: &state.Store{KV: fake}}
	gives := bundle.Published{Record: "lab", Names: []bundle.PublishedName{{Name: "www.lab.example", Host: "www.lab.example"}}}
	p := &resolve.Proposal{
		Request: state.Request{Action: intent.Update}, Lifecycle: state.Lifecycle{ContextID: "11"},
		Draft: &resolve.Draft{Group: plan.Group{Path: "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"}},
	}
	leaves := []bundle.Change{{Action: bundle.Delete, Before: &gives}}
	require.NoError(t, judge.SeeBeside(t.Context(), p, leaves))
	require.Empty(t, p.Beside)

	away := errors.New("the store is away")
	fake.Before = func(string, string) error { return away }
	require.ErrorIs(t, judge.SeeBeside(t.Context(), p, leaves), away)
}
