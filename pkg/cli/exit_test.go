package cli

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/client"
)

// TestTheExitCodeTellsWhetherToTryAgain checks the statuses that scripts tell
// apart: after 3 the same command may well succeed later.
func TestTheExitCodeTellsWhetherToTryAgain(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]int{
		http.StatusTooManyRequests:     exitUnreachable,
		http.StatusServiceUnavailable:  exitUnreachable,
		http.StatusConflict:            exitFailed,
		http.StatusInternalServerError: exitFailed,
	} {
		require.Equal(t, code, exitCode(fmt.Errorf("apply: %w", &client.Error{Status: status})), "status %d", status)
	}
}
