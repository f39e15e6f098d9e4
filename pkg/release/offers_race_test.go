package release_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// lifecycleOf is the lifecycle document of an owner.
func (w *world) lifecycleOf(owner intent.Path) intent.Document {
	w.Helper()
	doc, err := w.documents.Get(context.Background(), intent.Join(intent.LifecycleCollection, string(owner)))
	if intent.CodeOf(err) != intent.NotFound {
		require.NoError(w, err)
	}
	return doc
}

// reliesOnWhatIsOffered checks I10 for autopath: whatever offers prod's pods
// rely on are there, and eu's current release is one that offers them.
func (w *world) reliesOnWhatIsOffered() {
	w.Helper()
	before := w.lifecycleOf(prod)
	refs := slices.DeleteFunc(slices.Clone(before.Refs), func(ref intent.Path) bool { return ref.Collection() != intent.OfferCollection })
	cloud, gone := w.lifecycleOf(eu), map[intent.Path]error{}
	for _, ref := range refs {
		_, gone[ref] = w.documents.Get(context.Background(), ref)
	}
	if w.lifecycleOf(prod).Revision != before.Revision {
		return // by now what was read may be another's
	}
	var offered state.Lifecycle
	if cloud.Revision > 0 {
		require.NoError(w, json.Unmarshal(cloud.Body, &offered))
	}
	for _, ref := range refs {
		named := func(o state.Offer) bool { return strings.HasSuffix(string(ref), o.Cluster+"/"+o.ID) }
		require.True(w, slices.ContainsFunc(offered.Offers, named), "%s is not offered", ref)
		require.NotEqual(w, intent.Terminate, offered.Wanted, "%s is not offered", ref)
		require.NoError(w, gone[ref])
	}
}

// deed is what somebody does, at some moment.
type deed func(w *world) error

func asks(action intent.Action, owner intent.Path) deed {
	return func(w *world) error { _, err := w.try(action, owner, ""); return err }
}

func steps(owner intent.Path) deed { return func(w *world) error { return w.step(owner) } }

// after prepares the documents of a deed.
func after(change func(w *world), do deed) deed {
	return func(w *world) error { change(w); return do(w) }
}

// inTurn does several deeds, and answers the error of the first that fails.
func inTurn(deeds ...deed) deed {
	return func(w *world) error {
		for _, do := range deeds {
			if err := do(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestNoMeetingLeavesPodsWithoutTheirDNS: whatever comes, from its beginning to
// its end, in the midst of what a group or its logical cloud does, no group
// relies on an offer that is gone (I10), and the world comes to rest.
func TestNoMeetingLeavesPodsWithoutTheirDNS(t *testing.T) {
	t.Parallel()
	withdraws := after(func(w *world) { w.resolve(`[]`, ``) }, asks(intent.Update, eu))
	offersAgain := after(func(w *world) { w.offering(`{}`, ``) }, asks(intent.Update, eu))
	relies := asks(intent.Instantiate, prod)
	for _, c := range []struct {
		reason        string
		begin         func(t testing.TB) *world
		first, second deed
	}{
		{"an offer goes while pods come to rely on it", newWalkers, relies, withdraws},
		{"pods come to rely on an offer that goes", newWalkers, withdraws, relies},
		{"the logical cloud is terminated while pods come to rely on it", newWalkers, relies, asks(intent.Terminate, eu)},
		{"pods come to rely on a logical cloud that is terminated", newWalkers, asks(intent.Terminate, eu), relies},
		{"an offer goes and comes again while pods come to rely on it", newWalkers, relies, inTurn(withdraws, steps(eu), offersAgain)},
		{"an offer is mended and relied on while it goes", newWalkers, withdraws, inTurn(steps(eu), relies)},
		{"an offer goes while it is mended", broken, steps(eu), withdraws},
		{"it is mended while it goes", broken, withdraws, steps(eu)},
		{"two mend it", broken, steps(eu), inTurn(steps(eu), relies)},
		{"pods come to rely on it while it is mended", broken, steps(eu), relies},
		{"it is mended while pods come to rely on it", broken, relies, steps(eu)},
		{"an offer goes while pods leave it", walking, asks(intent.Terminate, prod), withdraws},
		{"pods leave an offer that goes", walking, withdraws, asks(intent.Terminate, prod)},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			moments := c.begin(t).meet(0, c.first, c.second)
			require.Greater(t, moments, 3)
			met := 0
			for at := 1; at <= moments; at++ {
				if !sample.Every(t, at, meetings) {
					continue
				}
				w := c.begin(t)
				require.Equal(t, at, w.meet(at, c.first, c.second), "they have met")
				met++
				require.NoError(t, w.rest())
				w.reliesOnWhatIsOffered()
			}
			require.NotZero(t, met)
		})
	}
}

// meetings is the part of all moments of a deed at which a run of rings 1 and 2
// lets another deed come in its midst: one in so many.
const meetings = 7

// meet does the first deed, and the second one right before its request number
// at, of those that write, or read lifecycles or offers. It returns how many of
// them there were up to that one, and all of them if at is 0. Only what may be
// refused is.
func (w *world) meet(at int, first, second deed) (requests int) {
	w.Helper()
	w.fake.Before = func(op, key string) error {
		if op != "txn" && !strings.Contains(key, intent.LifecycleCollection) && !strings.Contains(key, intent.OfferCollection) {
			return nil
		}
		requests++
		if requests == at {
			w.fake.Before = nil
			w.mayBeRefused(second(w))
			w.reliesOnWhatIsOffered()
		}
		return nil
	}
	err := first(w)
	w.fake.Before = nil
	w.mayBeRefused(err)
	w.reliesOnWhatIsOffered()
	return requests
}

func (w *world) mayBeRefused(err error) {
	w.Helper()
	code := intent.CodeOf(err)
	assert.True(w, err == nil || code == intent.Conflict || code == appcontext.ErrStale, "%v", err)
}

// broken is newWalkers after a request that died when it had deleted the offers.
func broken(t testing.TB) *world {
	w := newWalkers(t)
	page, err := w.documents.List(context.Background(), intent.ListOptions{Collection: intent.OfferCollection})
	require.NoError(t, err)
	for _, doc := range page.Items {
		require.NoError(t, w.delete(doc.Path))
	}
	return w
}

// TestMissingOffersAreMadeAnew by the step of their logical cloud; until then
// nobody relies on them.
func TestMissingOffersAreMadeAnew(t *testing.T) {
	t.Parallel()
	w := broken(t)
	_, err := w.try(intent.Instantiate, prod, "")
	require.Equal(t, intent.Conflict, intent.CodeOf(err), "%v", err)
	require.NoError(t, w.step(eu))
	require.Len(t, w.offers(), 2)
	w.do(intent.Instantiate, prod)
	w.settle(eu, prod)
	w.reliesOnWhatIsOffered()
	require.Equal(t, atNode, w.podsDNS(berlin))
}

// TestWhoLosesAnOfferPlansAgain: what is offered anew is relied on, and what is
// not is told as ever.
func TestWhoLosesAnOfferPlansAgain(t *testing.T) {
	t.Parallel()
	withdraw := func(w *world) {
		w.resolve(`[]`, ``)
		w.do(intent.Update, eu)
		require.NoError(w, w.step(eu))
	}
	atSwap := func(w *world, then func(w *world)) {
		w.meanwhile(intent.LifecycleCollection+"//"+string(prod), func() { then(w) })
	}
	w := newWalkers(t)
	atSwap(w, withdraw)
	_, err := w.try(intent.Instantiate, prod, "")
	require.ErrorContains(t, err, `DNS CR intent "resolvers" does not ask for it; set its autopath`)

	w = newWalkers(t)
	atSwap(w, func(w *world) {
		withdraw(w)
		w.offering(`{}`, `,"nodeLocalDNS":{"localIP":"169.254.99.1"}`)
		w.do(intent.Update, eu)
	})
	w.do(intent.Instantiate, prod)
	w.settle(eu, prod)
	require.Contains(t, w.podsDNS(berlin), "169.254.99.1")
}

// TestARacingLogicalCloudKeepsWhatPodsRelyOn: replicas accept, step and
// terminate a logical cloud and a group at once (I10).
func TestARacingLogicalCloudKeepsWhatPodsRelyOn(t *testing.T) {
	t.Parallel()
	const replicas, deeds = 4, 25
	specs := []string{``, `,"autopath":{}`, `,"autopath":{},"nodeLocalDNS":{"localIP":"169.254.99.1"}`}
	for _, seed := range seeds(t, 2, 8, 40) {
		w := newPods(t, autopathWeb)
		w.nodes = map[string][]placement.Node{berlin: {linux("b1")}, paris: {linux("p1")}}
		w.offering(`{}`, ``)
		var running sync.WaitGroup
		for replica := range uint64(replicas) {
			service := release.New(w.options)
			random := rand.New(rand.NewPCG(seed, replica))
			running.Go(func() {
				for range deeds {
					w.randomAutopathDeed(service, random, specs)
					w.reliesOnWhatIsOffered()
				}
			})
		}
		running.Wait()
		require.NoError(t, w.rest())
		w.outlive()
		w.settle(eu)
		if w.state(prod) != intent.Created { // else none of its requests came while autopath was offered
			w.settle(prod)
		}
		w.reliesOnWhatIsOffered()
	}
}

// randomAutopathDeed does one of the things that replicas do.
func (w *world) randomAutopathDeed(service *release.Service, random *rand.Rand, specs []string) {
	ctx := context.Background()
	var err error
	switch random.IntN(9) {
	case 0:
		_, err = service.Instantiate(ctx, eu, "", "ann")
	case 1:
		w.resolve(`[]`, specs[random.IntN(len(specs))])
		_, err = service.Update(ctx, eu, "", "bob")
	case 2:
		_, err = service.Terminate(ctx, eu, false, "", "cid")
	case 3, 4:
		_, err = service.Instantiate(ctx, prod, "", "ann")
	case 5:
		_, err = service.Terminate(ctx, prod, false, "", "cid")
	case 6:
		_, err = service.StepGroup(ctx, prod)
	default:
		_, err = service.StepGroup(ctx, eu)
	}
	w.mayBeRefused(err)
}
