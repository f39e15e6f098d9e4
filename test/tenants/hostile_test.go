package tenants

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// tokens has mallory do all that an editor of a project may do, and an operator
// too: who attacks may have got hold of both.
const tokens = `admin-token,anna,admin
baker-token,beryl,operator,bakery
mallory-token,mallory,operator,evil
max-token,max,admin,evil
`

// prod is what the bakery has deployed.
const prod = "/v2/projects/bakery/composite-apps/shop/v1/deployment-intent-groups/prod"

// server is a Signpost that asks for tokens.
type server struct {
	*testing.T

	base        string
	directories string // of the clusters
}

func start(t *testing.T) *server {
	programs, dir := t.TempDir(), t.TempDir()
	program, err := fixture.Build(t.Context(), programs)
	require.NoError(t, err)
	file := filepath.Join(dir, "tokens")
	require.NoError(t, os.WriteFile(file, []byte(tokens), 0o600))
	signpost, err := fixture.NewSignpost(program, dir, "--token-file="+file)
	require.NoError(t, err)
	t.Cleanup(signpost.Kill)
	require.NoError(t, signpost.Start(t.Context()))
	base, err := signpost.URL()
	require.NoError(t, err)
	return &server{T: t, base: base, directories: filepath.Join(dir, "data", "clusters")}
}

// send sends a step as it stands: its path is not tidied up on the way.
func (s *server) send(t *testing.T, one step) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), one.method, s.base, strings.NewReader(one.body))
	require.NoError(t, err)
	request.URL.Opaque = one.path
	request.Header.Set("Authorization", "Bearer "+one.who+"-token")
	if one.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, field := range one.header {
		request.Header.Set(field[0], field[1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(raw)
}

// expect sends a step and judges the answer.
func (s *server) expect(t *testing.T, one step) string {
	t.Helper()
	status, answer := s.send(t, one)
	require.Equal(t, one.status, status, "%s %s\n%s\n%s", one.method, one.path, one.body, answer)
	require.Contains(t, answer, one.says, "%s %s\n%s", one.method, one.path, one.body)
	return answer
}

// bakers is all that the bakery has: its documents, and what is in clusters.
func (s *server) bakers(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range []string{"", "/dns-update-records/flour", "/logical-clouds/oven", "/logical-clouds/oven/kv-pairs/dns-update-record-list"} {
		path = "/v2/projects/bakery" + path
		all[path] = s.expect(t, step{who: "baker", method: "GET", path: path, status: http.StatusOK})
	}
	all[prod] = s.expect(t, step{who: "baker", method: "GET", path: prod, status: http.StatusOK})
	err := filepath.WalkDir(s.directories, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(file)
		all[file] = string(raw)
		return err
	})
	require.NoError(t, err)
	return all
}

// deployed waits until the bakery's objects are in their cluster.
func (s *server) deployed() {
	require.Eventually(s, func() bool {
		status, answer := s.send(s.T, step{who: "baker", method: "GET", path: prod + "/status"})
		var is struct{ State string }
		return status == http.StatusOK && json.Unmarshal([]byte(answer), &is) == nil && is.State == "Instantiated"
	}, time.Minute, 50*time.Millisecond)
}

// TestAHostileEditorGetsNowhere: each attempt of hostile.txt is answered as it
// says, tells nothing of the other project that was not said under the same
// heading, and leaves all that the other project has as it was.
func TestAHostileEditorGetsNowhere(t *testing.T) {
	s := start(t)
	for _, one := range read(t, "world.txt") {
		s.expect(t, one)
	}
	s.deployed()
	before := s.bakers(t)
	said := map[string]string{} // by heading
	for i, one := range read(t, "hostile.txt") {
		said[one.heading] += strings.ToLower(one.path + one.body)
		t.Run(fmt.Sprintf("%d_%s", i, one.heading), func(t *testing.T) {
			answer := s.expect(t, one)
			for _, theirs := range []string{"bakery", "flour", "oven", "bread", "recipe", "beryl", "203.0.113.7"} {
				if one.who == "mallory" && !strings.Contains(said[one.heading], theirs) {
					require.NotContains(t, answer, theirs)
				}
			}
		})
	}
	require.Equal(t, before, s.bakers(t))
}
