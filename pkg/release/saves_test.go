package release_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// counted is a store that counts what is asked of it, and how often each lifecycle is
// stored.
type counted struct {
	kv.KV
	requests int
	saves    map[intent.Path]int
}

func (c *counted) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	c.requests++
	done, revision, err := c.KV.Txn(ctx, when, then...)
	for _, op := range then {
		if owner, is := strings.CutPrefix(op.Key, "/signpost/doc/lifecycle//"); is && done {
			c.saves[intent.Path(owner)]++
		}
	}
	return done, revision, err
}

func (c *counted) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	c.requests++
	return c.KV.Get(ctx, key)
}

func (c *counted) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	c.requests++
	return c.KV.Range(ctx, r)
}

// tellMove is the life of a group whose provider moves to another home.
func tellMove(l *life, rest func()) {
	l.ask("instantiate", intent.Instantiate, prod)
	rest()
	require.NoError(l, l.moveTo("paris"))
	rest()
	l.ask("terminate", intent.Terminate, prod)
	rest()
	l.clock.pass(70 * time.Second)
	rest()
}

// TestAStepSavesEachLifecycleOnce: whatever the story, and however much a step finds.
// Nor do the steps of a story ask for more than they did when this was written.
func TestAStepSavesEachLifecycleOnce(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]struct {
		begin    func(t testing.TB) *world
		tell     func(l *life, rest func())
		requests int // of all steps
		saves    int // by all steps
	}{
		"group":           {newShop, tellGroup, 760, 8},
		"logical cloud":   {newCloud, tellCloud, 165, 4},
		"autopath":        {newOffer, tellAutopath, 415, 8},
		"group of EMCO's": {newShop, tellOrchestrated, 740, 8},
		"move":            {newShop, tellMove, 525, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := story.begin(t)
			c := &counted{KV: w.fake, saves: map[intent.Path]int{}}
			l := &life{world: w, acked: map[string]intent.Accepted{}}
			l.process = &mortal{KV: c}
			l.restartOn(l.process)
			requests, saves := 0, 0
			w.begin = func(owner intent.Path) (end func()) {
				c.requests, c.saves = 0, map[intent.Path]int{}
				return func() {
					requests += c.requests
					for saved, n := range c.saves {
						require.Equal(t, 1, n, "%s by a step of %s", saved, owner)
						saves += n
					}
				}
			}
			l.told(story.tell)
			t.Logf("%d requests, %d saves", requests, saves)
			require.LessOrEqual(t, requests, story.requests)
			require.Equal(t, story.saves, saves)
		})
	}
}
