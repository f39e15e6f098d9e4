package documents

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWhatIsHeldOfAServiceIsBounded in bytes: what there is no room for is asked for
// each time, and room is given back.
func TestWhatIsHeldOfAServiceIsBounded(t *testing.T) {
	t.Parallel()
	large := []byte(strings.Repeat(" ", 7<<20) + "{}")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) }))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	require.NoError(t, err)
	now := time.Now()
	s := New(nil, Options{DCM: base, Now: func() time.Time { return now }}).dcm
	for _, name := range strings.Split("aaabcdefghijkl", "") {
		_, err := s.get(t.Context(), name, asJSON)
		require.NoError(t, err)
		now = now.Add(DefaultFresh)
	}
	require.Len(t, s.held, 9)
	require.LessOrEqual(t, s.budget.Kept(), int64(maxMemory))
	now = now.Add(DefaultStale)
	s.sweep()
	require.Zero(t, s.budget.Kept())
}
