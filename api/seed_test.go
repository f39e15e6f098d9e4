package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/seed"
)

// TestTheSeedsExampleIsPostedAsItStands: for each provider of the seed, its
// example is created, and the warnings are those that the flag table's own test
// lists, one by one; but for those on the TSIG secret, which is sealed by then,
// and not shown again.
func TestTheSeedsExampleIsPostedAsItStands(t *testing.T) {
	t.Parallel()
	for _, provider := range seed.Providers() {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.send(http.MethodPost, "/v2/projects", `{"metadata":{"name":"shop"}}`).want(http.StatusCreated)
			record, err := seed.Record(provider)
			require.NoError(t, err)
			answer := w.send(http.MethodPost, "/v2/project/shop/dns-update-records/", record).want(http.StatusCreated)
			require.NotContains(t, answer.Body.String(), `"tsig secret"`)

			golden, err := os.ReadFile(filepath.Join("..", "pkg", "dns", "externaldns", "testdata", "seed", provider+".golden"))
			require.NoError(t, err)
			odd, _, _ := strings.Cut(string(golden), "\n\n")
			status, _ := answer.json()["status"].(map[string]any)
			warnings, _ := status["warnings"].([]any)
			messages := map[string]bool{}
			for _, warning := range warnings {
				fields, _ := warning.(map[string]any)
				message, _ := fields["message"].(string)
				messages[message] = true
			}
			for line := range strings.SplitSeq(odd, "\n") {
				if strings.HasPrefix(line, "/rfc2136-tsig-secret ") {
					continue
				}
				if _, detail, isParameter := strings.Cut(line, " "); isParameter && strings.HasPrefix(line, "/") {
					line = detail
				}
				require.True(t, messages[line], "%s is not among %v", line, messages)
			}
		})
	}
}
