package app

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecondRegistrationIsAConflictOverHTTP: it names the field and stores
// nothing, and what was there goes on.
func TestSecondRegistrationIsAConflictOverHTTP(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	const clusters = "/v2/cluster-providers/edge/clusters"
	document := func(name, uid string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"kubeconfig":%q}}`, name, base64.StdEncoding.EncodeToString(apiServer(t, uid)))
	}
	status, _ := s.send(http.MethodPost, "/v2/cluster-providers", `{"metadata":{"name":"edge"},"spec":{}}`)
	require.Equal(t, http.StatusCreated, status)
	for name, uid := range map[string]string{"hub": "a", "alias": "b"} {
		status, _ = s.send(http.MethodPost, clusters, document(name, uid))
		require.Equal(t, http.StatusCreated, status)
	}
	_, before := s.get(clusters + "/alias")
	for method, at := range map[string]string{http.MethodPost: clusters, http.MethodPut: clusters + "/alias"} {
		name := map[string]string{http.MethodPost: "third", http.MethodPut: "alias"}[method]
		status, answer := s.send(method, at, document(name, "a"))
		require.Equal(t, http.StatusConflict, status, answer)
		require.Contains(t, answer, `"/spec/kubeconfig"`)
		require.Contains(t, answer, "registered as edge+hub already")
	}
	_, now := s.get(clusters + "/alias")
	require.Equal(t, before, now)
	status, _ = s.get(clusters + "/third")
	require.Equal(t, http.StatusNotFound, status)
	s.stop()
}

// apiServer is the kubeconfig of a server that says which cluster it is.
func apiServer(t *testing.T, uid string) (kubeconfig []byte) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"kube-system","uid":%q}}`, uid)
	}))
	t.Cleanup(server.Close)
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c"}}]}`, server.URL)
}

func (s *server) send(method, path, body string) (status int, answer string) {
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.http+path, strings.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, string(raw)
}
