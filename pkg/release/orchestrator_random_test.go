package release_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// history is what EMCO does with prod, in an order that a seed decides: calls,
// events that come late or never, states that rsync writes when it gets to it,
// and steps of two replicas between them.
type history struct {
	*world
	random   *rand.Rand
	replicas []*release.Service

	last    int      // number of the last app context
	life    []string // the contexts that were current since the group was instantiated
	all     []string // every context that there is
	rsyncs  []func() // what rsync is still to do
	states  map[string]string
	told    []string // what happened
	current string   // app context, empty for none
}

// TestWhateverEMCODoesItIsFollowed: at rest, the names are those that were
// frozen for the context that EMCO has made current, whichever events came.
func TestWhateverEMCODoesItIsFollowed(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 15, 60, 600) {
		w := newShop(t)
		h := &history{
			world: w, random: rand.New(rand.NewPCG(seed, 1)), states: map[string]string{},
			replicas: []*release.Service{w.service, release.New(w.options)},
		}
		for range 60 {
			h.deed()
		}
		h.finish()
	}
}

func (h *history) chance(percent int) bool { return h.random.IntN(100) < percent }

func (h *history) note(format string, args ...any) {
	h.told = append(h.told, fmt.Sprintf(format, args...))
}

// replica is who answers a call or takes a step.
func (h *history) replica() *release.Service { return h.replicas[h.random.IntN(len(h.replicas))] }

func (h *history) deed() {
	h.Helper()
	switch h.random.IntN(10) {
	case 0:
		if h.current == "" {
			h.begin()
		}
	case 1:
		if h.current != "" {
			h.begin()
		}
	case 2:
		h.back()
	case 3:
		if h.chance(40) {
			h.end()
		}
	case 4:
		if h.current != "" { // another controller writes the meta that it has read before
			h.note("meta of %s", h.current)
			at := "/context/" + h.current + "/meta/"
			h.putKey(at, strings.ReplaceAll(h.value(at), `"`+h.contextID()+`"`, ``))
		}
	case 5, 6:
		h.work()
	case 7:
		h.clock.pass(40 * time.Second)
		h.applyAll()
		require.NoError(h, h.replica().StepRecord(context.Background(), lab))
	default:
		h.tread()
	}
}

// tread is a step of a replica.
func (h *history) tread() {
	h.Helper()
	if _, err := h.replica().StepGroup(context.Background(), prod); intent.CodeOf(err) != appcontext.ErrStale {
		require.NoError(h, err, "%v", h.told)
	}
}

// work is the next thing that rsync does.
func (h *history) work() {
	if len(h.rsyncs) > 0 {
		next := h.rsyncs[0]
		h.rsyncs = h.rsyncs[1:]
		next()
	}
}

// later has rsync do something, if the context is in one of these states then.
func (h *history) later(id, state string, from ...string) {
	h.rsyncs = append(h.rsyncs, func() {
		if slices.Contains(from, h.states[id]) {
			h.note("%s is %s", id, state)
			h.states[id] = state
			h.rsync(id, state)
		}
	})
}

// begin instantiates, or updates what is current. Now and then EMCO gives up.
func (h *history) begin() {
	h.Helper()
	h.last++
	id, from := fmt.Sprint(1000+h.last), h.current
	h.all = append(h.all, id)
	h.serve("h" + id + ".lab.example")
	h.writeContext(id)
	_, err := h.replica().UpdateContext(context.Background(), id, "front", from)
	require.NoError(h, err, "%v", h.told)
	if h.chance(20) {
		h.note("%s is given up", id)
		if from == "" || h.chance(50) {
			h.gone(id)
		}
		return
	}
	h.note("%s follows %s", id, from)
	h.replaces(from, id, "")
	h.posted(id, map[bool]intent.Action{true: intent.Instantiate, false: intent.Update}[from == ""])
}

// replaces has rsync take the place of one context, empty for none, to another.
func (h *history) replaces(from, to, was string) {
	h.life, h.current = append(h.life, to), to
	h.tell(to, map[bool]string{true: "Instantiate", false: "Update"}[from == ""], from)
	h.later(to, "Instantiating", was)
	if from != "" {
		h.rsyncs = append(h.rsyncs, func() { h.tell(from, "UpdateDelete", to) })
		h.later(from, "Updating", "Instantiated")
		h.later(from, "Updated", "Updating")
	}
	h.later(to, []string{"Instantiated", "Instantiated", "InstantiateFailed"}[h.random.IntN(3)], "Instantiating")
}

// back rolls back to an earlier context, once rsync has done all else.
func (h *history) back() {
	h.Helper()
	if h.current == "" || len(h.rsyncs) > 0 {
		return // rsync itself loses count when it is told faster than it begins
	}
	to := h.life[h.random.IntN(len(h.life))]
	if to == h.current {
		return
	}
	h.note("back from %s to %s", h.current, to)
	h.replaces(h.current, to, "Updated")
	h.posted(to, intent.Update)
}

func (h *history) end() {
	h.Helper()
	if h.current == "" {
		return
	}
	id := h.current
	h.note("%s ends", id)
	require.NoError(h, h.replica().TerminateContext(context.Background(), id))
	h.tell(id, "Terminate", "")
	h.later(id, "Terminating", "Instantiating", "Instantiated", "InstantiateFailed", "Updating", "Updated")
	h.later(id, "Terminated", "Terminating")
	h.current, h.life = "", nil
	h.posted(id, intent.Terminate)
	if h.chance(30) {
		for len(h.rsyncs) > 0 {
			h.work()
		}
		h.note("the group is deleted")
		for _, id := range slices.Clone(h.all) {
			h.gone(id)
			h.tread()
		}
	}
}

func (h *history) gone(id string) {
	h.vanish(id)
	h.all = slices.DeleteFunc(h.all, func(one string) bool { return one == id })
}

// posted is the event, after rsync has got on for a while, or never.
func (h *history) posted(id string, event intent.Action) {
	h.Helper()
	for range h.random.IntN(4) {
		h.work()
	}
	if h.chance(40) {
		h.note("no event")
		return
	}
	for range 1 + h.random.IntN(2) {
		require.NoError(h, h.replica().PostEvent(context.Background(), id, event), "%v", h.told)
	}
}

// finish lets everybody come to an end, and looks at what has become of it.
func (h *history) finish() {
	h.Helper()
	for len(h.rsyncs) > 0 {
		h.work()
	}
	h.outlive()
	h.outlive()
	h.settle(prod)
	l := h.snapshot(prod).Lifecycle
	named := map[string][]string{}
	for _, id := range h.all {
		if children := h.children(id); len(children) > 0 {
			named[id] = children
		}
	}
	if h.current == "" {
		require.Contains(h, []intent.State{intent.Created, intent.Terminated}, l.State(), "%v", h.told)
		require.Empty(h, h.published(prod), "%v", h.told)
		require.Empty(h, h.inClusters(), "%v", h.told)
		require.NotContains(h, named, l.AppContext, "%v", h.told)
		return
	}
	require.Equal(h, fmt.Sprintf("Instantiated %s [edge+hub lab/public: h%s.lab.example A 203.0.113.10,203.0.113.20]", h.current, h.current), h.world.current(), "%v", h.told)
	require.Equal(h, []string{l.ContextID}, named[h.current], "%v", h.told)
}

// TestReplicasThatAreToldAtOnceAgree: calls, events and steps of one context
// reach several replicas at the same time.
func TestReplicasThatAreToldAtOnceAgree(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	replicas := []*release.Service{release.New(w.options), release.New(w.options), release.New(w.options)}
	together := func(do func(ctx context.Context, service *release.Service) error) {
		var running sync.WaitGroup
		for _, service := range replicas {
			running.Go(func() {
				err := do(context.Background(), service)
				for range 3 {
					_, stepped := service.StepGroup(context.Background(), prod)
					assert.True(w, stepped == nil || intent.CodeOf(stepped) == appcontext.ErrStale, "%v", stepped)
				}
				assert.NoError(w, err)
			})
		}
		running.Wait()
	}
	from := ""
	for n, id := range []string{firstContext, secondContext, thirdContext} {
		w.serve(fmt.Sprintf("n%d.lab.example", n))
		w.writeContext(id)
		together(func(ctx context.Context, service *release.Service) error {
			_, err := service.UpdateContext(ctx, id, "front", from)
			return err
		})
		together(func(ctx context.Context, service *release.Service) error {
			return service.PostEvent(ctx, id, intent.Update)
		})
		w.settle(prod)
		require.Equal(t, fmt.Sprintf("Instantiated %s [edge+hub lab/public: n%d.lab.example A 203.0.113.10,203.0.113.20]", id, n), w.current())
		require.Equal(t, int64(n+1), w.snapshot(prod).Lifecycle.Seq, "one release for each context")
		require.Equal(t, []string{w.contextID()}, w.children(id))
		from = id
	}
	together(func(ctx context.Context, service *release.Service) error {
		return service.TerminateContext(ctx, thirdContext)
	})
	w.outlive()
	require.Equal(t, "Terminated 3333 []", w.current())
	require.Empty(t, w.inClusters())
	w.sweep()
	require.Empty(t, w.snapshot(prod).Lifecycle.Prepared)
}
