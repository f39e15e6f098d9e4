package resolve

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestAPlanSaysNoMoreThanAnybodyReads: whoever may have thousands of objects
// cannot have an answer that grows with each.
func TestAPlanSaysNoMoreThanAnybodyReads(t *testing.T) {
	t.Parallel()
	d := &Draft{}
	for n := range 2 * mostSaid {
		d.Warn("warning %d", n)
		d.Warn("warning %d", n)
		d.Fail("projects/shop", "/spec", "error %d", n)
	}
	require.Len(t, d.Warnings, mostSaid)
	require.Equal(t, []string{"warning 998", "there are more warnings than these"}, d.Warnings[mostSaid-2:])
	require.Len(t, d.Errors, mostSaid)
	require.Equal(t, intent.Field{Pointer: "projects/shop#", Detail: "there are more errors than these: fix these first"}, d.Errors[mostSaid-1])
}
