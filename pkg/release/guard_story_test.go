package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// guarded is a group whose names are all in the clusters, each with the address of
// a Service of its own, and what has changed since.
type guarded struct {
	Names      []string // of record lab
	MaxRemoval string   // of the record; empty: it says nothing
	Given      []string // those that intents still give; none: all
	Deleted    []string // those whose Services were deleted by hand
}

// TestGuardedPlans: what the plan of an update says, what an update without its token
// is answered and takes away, and what one with it does.
func TestGuardedPlans(t *testing.T) { story.Check(t, tellGuarded) }

func tellGuarded(t *testing.T, in guarded) string {
	t.Helper()
	w := newShop(t)
	if in.MaxRemoval != "" {
		w.put(lab, record("lab.example", fmt.Sprintf(`,"maxRemoval":%q`, in.MaxRemoval)))
	}
	w.open(in.Names...)
	w.names(in.Names...)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	if in.Given != nil {
		w.names(in.Given...)
	}
	w.shut(in.Deleted...)
	w.settle(prod)

	var out strings.Builder
	w.tellPlan(&out)
	accepted := "accepted"
	if _, err := w.try(intent.Update, prod, ""); err != nil {
		accepted = err.Error()
	}
	w.settle(prod)
	fmt.Fprintf(&out, "--- an update without the token is answered\n%s\n--- and leaves\n%s\n", accepted, strings.Join(w.published(prod), "\n"))
	_, err := w.try(intent.Update, prod, w.plan(prod, intent.Update).Token)
	require.NoError(t, err)
	w.settle(prod)
	fmt.Fprintf(&out, "--- one with the token leaves\n%s\n", strings.Join(w.published(prod), "\n"))
	return out.String()
}

// tellPlan tells what the plan of an update says of names.
func (w *world) tellPlan(out *strings.Builder) {
	w.Helper()
	plan := w.plan(prod, intent.Update)
	require.Empty(w, plan.Errors)
	fmt.Fprintln(out, "--- the plan")
	for _, warning := range plan.Warnings {
		fmt.Fprintln(out, "warning:", warning)
	}
	for _, n := range plan.Names {
		fmt.Fprintln(out, n.Action, n.Name, n.Type, n.Targets)
	}
}
