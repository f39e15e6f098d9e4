package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func (w *world) contextID() string {
	w.Helper()
	return w.snapshot(prod).Lifecycle.ContextID
}

// TestTheParentNamesTheGroupsContextAsItsChild and the external-dns' context
// not, which others use: EMCO uninstalls the children of what it terminates.
func TestTheParentNamesTheGroupsContextAsItsChild(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	require.Equal(t, []string{w.contextID()}, w.children(firstContext))
	w.serve("two.lab.example")
	w.appContext(secondContext)
	w.event(secondContext, intent.Update)
	w.settle(prod)
	require.Equal(t, []string{w.contextID()}, w.children(secondContext))
	require.Empty(t, w.children(firstContext), "the children of earlier contexts are nobody's")
	w.tell(firstContext, "Update", secondContext)
	w.event(firstContext, intent.Update)
	w.settle(prod)
	require.Equal(t, []string{w.contextID()}, w.children(firstContext))
	require.Empty(t, w.children(secondContext))
	w.event(firstContext, intent.Terminate)
	require.Empty(t, w.children(firstContext), "before EMCO is answered: it reads the meta right after")
	w.outlive()
	require.Empty(t, w.children(firstContext))
}

// TestTerminatingAnotherContextLeavesTheChild: another context that ends leaves the current one
// its child, and asked again nothing changes.
func TestTerminatingAnotherContextLeavesTheChild(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	w.appContext(secondContext)
	require.NoError(t, w.service.TerminateContext(t.Context(), secondContext))
	require.Equal(t, []string{w.contextID()}, w.children(firstContext))
	for range 2 {
		require.NoError(t, w.service.TerminateContext(t.Context(), firstContext))
		require.Empty(t, w.children(firstContext))
	}
}

// TestTheChildIsNamedAgain when another controller has written the meta over.
func TestTheChildIsNamedAgain(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	at := "/context/1111/meta/"
	w.putKey(at, strings.Replace(w.value(at), w.contextID(), `77","78`, 1))
	w.settle(prod)
	require.Equal(t, []string{"77", "78", w.contextID()}, w.children(firstContext), "beside those of others")
	before := w.keys()
	w.settle(prod)
	require.Equal(t, before, w.keys())
}

// TestTheChildIsNamedWhileOthersWriteTheMeta: nothing of theirs is lost.
func TestTheChildIsNamedWhileOthersWriteTheMeta(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.appContext(firstContext)
	w.event(firstContext, intent.Instantiate)
	at := "/context/1111/meta/"
	w.fake.Before = func(op, key string) error {
		if op == "txn" && key == at {
			w.fake.Before = nil
			w.putKey(at, strings.Replace(w.value(at), `"ChildContextIDs":null`, `"ChildContextIDs":["77"]`, 1))
		}
		return nil
	}
	w.settle(prod)
	require.Nil(t, w.fake.Before)
	require.Equal(t, []string{"77", w.contextID()}, w.children(firstContext))
}

// TestAParentThatCannotBeReadStopsNothing: the child is not named there.
func TestAParentThatCannotBeReadStopsNothing(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(w *world){
		"half-written": func(w *world) { w.remove("/context/1111/app/instruction/order/") },
		"without meta": func(w *world) { w.remove("/context/1111/meta/") },
		"unreadable":   func(w *world) { w.putKey("/context/1111/meta/", `{"ChildContextIDs":7}`) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			w.appContext(firstContext)
			w.event(firstContext, intent.Instantiate)
			spoil(w)
			w.settle(prod)
			require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
		})
	}
}
