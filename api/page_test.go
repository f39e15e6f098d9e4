package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAPageOfLargeDocumentsEndsEarly, with what continues it, however many it is
// asked for.
func TestAPageOfLargeDocumentsEndsEarly(t *testing.T) {
	t.Parallel()
	const documents, size, most = 12, 900 << 10, 4 << 20
	w := newWorld(t)
	for n := range documents {
		w.send("POST", "/v2/projects", fmt.Sprintf(`{"metadata":{"name":"p%02d","userData1":%q}}`, n, strings.Repeat("x", size))).want(http.StatusCreated)
	}
	seen, pages, next := 0, 0, ""
	for {
		answer := w.send("GET", "/v2/projects?limit=1000"+next, nil).want(http.StatusOK)
		require.Less(t, answer.Body.Len(), most)
		page := answer.json()
		items, _ := page["items"].([]any)
		require.NotEmpty(t, items)
		seen, pages = seen+len(items), pages+1
		token, more := page["continue"].(string)
		if !more {
			break
		}
		next = "&continue=" + token
	}
	require.Equal(t, documents, seen)
	require.Equal(t, 3, pages)
}
