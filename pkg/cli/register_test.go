package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const registered = `{"metadata":{"name":"signpost"},"spec":{"host":"signpost.signpost","port":9048,"type":"action","priority":90}}`

// unchecked is what register says of where the orchestrator reaches Signpost.
const unchecked = "The command did not check whether the orchestrator reaches Signpost there.\n"

// register runs the command for a host, with further arguments.
func register(t *testing.T, orchestrator string, args ...string) result {
	t.Helper()
	return signpost(t, "", append([]string{"register", "--orchestrator", orchestrator, "--host", "signpost.signpost"}, args...)...)
}

func TestRegisterTellsTheOrchestratorWhereSignpostIs(t *testing.T) {
	t.Parallel()
	f := newFakeEMCO(t)
	got := register(t, f.url+"/v2/") // as emcoctl's configuration has it, too
	require.Equal(t, result{exitDone, "signpost registered: signpost.signpost:9048, action, priority 90\n" + unchecked, ""}, got)
	require.JSONEq(t, registered, f.documents["controllers/signpost"])

	got = register(t, f.url)
	require.Equal(t, result{exitDone, "signpost is registered already: signpost.signpost:9048, action, priority 90\n" + unchecked, ""}, got)
	require.Equal(t, []string{"POST controllers", "POST controllers"}, f.requests)

	got = register(t, f.url, "--port", "9049", "--priority", "7", "-o", "json")
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, "PUT controllers/signpost", f.requests[len(f.requests)-1])
	require.JSONEq(t, f.documents["controllers/signpost"], got.out)
	require.Contains(t, got.out, `"port": 9049`)
}

// TestRegisterAboveEMCOsPorts: EMCO refuses to create such a controller, but
// takes it as a replacement.
func TestRegisterAboveEMCOsPorts(t *testing.T) {
	t.Parallel()
	f := newFakeEMCO(t)
	got := register(t, f.url, "--port", "50001")
	require.Equal(t, exitDone, got.code)
	require.Equal(t, "signpost registered: signpost.signpost:50001, action, priority 90\n"+unchecked, got.out)
	require.Contains(t, got.err, "warning: EMCO accepts ports up to 50000 for a new controller; port 50001 is")
	require.Contains(t, f.documents["controllers/signpost"], "50001")
	require.Empty(t, register(t, f.url, "--port", "50000").err)
}

func TestRegisterSaysWhatEMCOSays(t *testing.T) {
	t.Parallel()
	f := newFakeEMCO(t)
	f.status = http.StatusInternalServerError
	require.Equal(t, result{exitFailed, "", "signpost register: EMCO's orchestrator answers 500 Internal Server Error: Cannot perform requested operation\n"}, register(t, f.url))

	dcm := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(dcm.Close)
	got := register(t, dcm.URL)
	require.Equal(t, result{exitFailed, "", "signpost register: EMCO's orchestrator answers 404 Not Found: 404 page not found; is --orchestrator EMCO's orchestrator?\n"}, got)

	got = register(t, "http://127.0.0.1:1")
	require.Equal(t, exitUnreachable, got.code)
	require.Contains(t, got.err, "EMCO's orchestrator at http://127.0.0.1:1 cannot be reached: ")
	require.Contains(t, got.err, "its URL in --orchestrator")
	require.NotContains(t, got.err, "SIGNPOST_SERVER")

	answer := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-answer }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(answer) })
	got = register(t, slow.URL, "--timeout", "10ms")
	require.Equal(t, exitUnreachable, got.code)
	require.Contains(t, got.err, "does not answer in time; set a longer time with --timeout")
}

func TestRegisterDryRunAsksNobody(t *testing.T) {
	t.Parallel()
	got := register(t, "http://127.0.0.1:1", "--dry-run")
	require.Equal(t, result{exitDone, "signpost would be registered: signpost.signpost:9048, action, priority 90\n" + unchecked, ""}, got)
	got = register(t, "http://127.0.0.1:1", "--dry-run", "-o", "json")
	require.JSONEq(t, registered, got.out)
	got = register(t, "http://127.0.0.1:1", "--dry-run", "-o", "yaml", "--name", "dns", "--host", "2001:db8::1")
	require.Equal(t, "metadata:\n  name: dns\nspec:\n  host: 2001:db8::1\n  port: 9048\n  priority: 90\n  type: action\n", got.out)
}

func TestWhatRegisterRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ flag, value, says string }{
		{"--orchestrator", "", "the URL names no server; give one as in http://orchestrator.emco:9015"},
		{"--orchestrator", "orchestrator:9015", "the URL names no server"},
		{"--host", "", "--host is missing"},
		{"--host", "signpost:9048", "give only a name or an address, and the port by --port"},
		{"--host", "http://signpost", "give only a name or an address"},
		{"--host", strings.Repeat("a", 129), "EMCO accepts up to 128"},
		{"--name", "", "is not a valid name of a controller"},
		{"--name", "a/b", "is not a valid name of a controller"},
		{"--name", strings.Repeat("a", 129), "is not a valid name of a controller"},
		{"--port", "0", "is not a valid port"},
		{"--port", "65536", "is not a valid port"},
		{"--priority", "-1", "give a number from 0 to 100"},
		{"--priority", "101", "give a number from 0 to 100"},
	} {
		got := register(t, "http://127.0.0.1:1", "--dry-run", test.flag, test.value)
		require.Equal(t, exitUsage, got.code, "%s %s", test.flag, test.value)
		require.Contains(t, got.err, test.says)
		require.Empty(t, got.out)
	}
}
