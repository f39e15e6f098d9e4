package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProfilesHaveAListenerOfTheirOwn: and the API does not offer them.
func TestProfilesHaveAListenerOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), func(c *Config) { c.PprofListen = "127.0.0.1:0" })
	require.NotEmpty(t, s.pprof, "the ready file names it")
	for path, status := range map[string]int{"/debug/pprof/": http.StatusOK, "/debug/pprof/heap": http.StatusOK, "/debug/pprof/symbol": http.StatusOK, "/debug/pprof/cmdline": http.StatusNotFound, "/v2/projects": http.StatusNotFound} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.pprof+path, http.NoBody)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, status, answer.StatusCode, path)
	}
	status, _ := s.get("/debug/pprof/")
	require.Equal(t, http.StatusNotFound, status)
	s.stop()
}

// TestProfilesAreNotForPagesThatCallThisMachineTheirs: as by a name of theirs that
// leads to loopback.
func TestProfilesAreNotForPagesThatCallThisMachineTheirs(t *testing.T) {
	t.Parallel()
	for host, status := range map[string]int{
		"127.0.0.1:6060": http.StatusOK, "localhost:6060": http.StatusOK, "[::1]:6060": http.StatusOK, "localhost": http.StatusOK,
		"evil.example:6060": http.StatusForbidden, "evil.example": http.StatusForbidden, "127.0.0.1.evil.example:6060": http.StatusForbidden,
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debug/pprof/", http.NoBody)
		request.Host = host
		answer := httptest.NewRecorder()
		newProfiles().Handler.ServeHTTP(answer, request)
		require.Equal(t, status, answer.Code, host)
	}
}

func TestAnAddressForProfilesThatIsTakenIsSaid(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	config := fits()
	config.DataDir, config.PprofListen = t.TempDir(), s.http
	require.ErrorContains(t, Run(t.Context(), config), "--pprof-listen")
}
