package requests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCorefilesAreLintedByTheSignpostDNSBesideSignpost: real programs, as make
// build leaves them, and Corefiles that are meant to do harm.
func TestCorefilesAreLintedByTheSignpostDNSBesideSignpost(t *testing.T) {
	c := begin(t, 1)
	for _, one := range []struct{ reason, text, findings string }{
		{"right", ".:53 {\n forward . /etc/resolv.conf\n}\n", `[]`},
		{"the seed's mistake", "foo.com:5353 {\n forward . 1.2.3.4 5.6.7.8:5353\n policy round_robin\n}\n", `[{"line":3,"severity":"error","message":"there is no plugin \"policy\""}]`},
		{"a file", ".:53 { import /etc/passwd\n}\n", `[{"line":1,"severity":"error","message":"import reads another file: write what it says"}]`},
		{"the environment", "\n{$HOME}:53 {\n}\n", `[{"line":2,"severity":"error","message":"{$HOME} would be read from the environment: write the value"}]`},
		{"nothing", "", `[{"line":0,"severity":"error","message":"it is empty: write a server block, as in .:53 { forward . /etc/resolv.conf }"}]`},
	} {
		status, body := c.lint(one.text)
		require.Equal(t, http.StatusOK, status, one.reason)
		require.JSONEq(t, `{"findings":`+one.findings+`}`, body, one.reason)
	}
	t.Run("one that takes all that it can keeps nobody from working", func(t *testing.T) {
		var all sync.WaitGroup
		for i := range 8 {
			greedy := i == 0
			text := fmt.Sprintf("a%d.example {\n errors\n}\n", i)
			if greedy {
				text = ".:53 {\n view a {\n expr " + strings.Repeat("(", 500_000) + "\n }\n}\n"
			}
			all.Go(func() {
				status, body := c.lint(text)
				for t.Context().Err() == nil && status == http.StatusServiceUnavailable && strings.Contains(body, "others have Corefiles linted that take long; try again") {
					status, body = c.lint(text)
				}
				assert.Equal(t, http.StatusOK, status, body)
				assert.Equal(t, greedy, strings.Contains(body, "CoreDNS does not survive it"), body)
			})
		}
		all.Wait()
	})
	c.remains()
}

// lint posts a Corefile.
func (c *conversation) lint(text string) (status int, body string) {
	sent, err := json.Marshal(map[string]string{"corefile": text})
	if err != nil {
		return 0, err.Error()
	}
	r := Request{Kind: Valid, Method: http.MethodPost, Target: "/v2/corefile/lint", Header: http.Header{"Content-Type": {"application/json"}}, Body: sent}
	got, err := r.Send(c.Context(), c.client, c.base)
	if err != nil {
		return 0, err.Error()
	}
	return got.Status, string(got.Body)
}
