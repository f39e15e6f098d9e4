package actions

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestAStreamEndsAsUnauthorizedOnlyIfItIs: a client follows again after anything else.
func TestAStreamEndsAsUnauthorizedOnlyIfItIs(t *testing.T) {
	t.Parallel()
	for code, reason := range map[intent.Code]string{
		intent.Unavailable: "closing", intent.TooMany: "closing", intent.Unauthenticated: "unauthorized", intent.Forbidden: "unauthorized",
	} {
		why := new(follower).renew(func() (intent.Actor, error) { return intent.Actor{}, &intent.Error{Code: code} })
		require.Equal(t, reason, why.Reason, code)
	}
}
