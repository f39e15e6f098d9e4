package faults

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/otlp"
)

// TestOneTraceFromThePOSTToTheCluster: the caller's, though the process that has
// accepted the request dies before the first object is there, and another one
// does the work: in what the API server is sent, and in the spans that are
// exported.
func TestOneTraceFromThePOSTToTheCluster(t *testing.T) {
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	w := newWorld(t)
	spans := otlp.Start(t)
	w.signpost = newSignpost(t, w.dir, "--otlp-endpoint="+spans.URL)
	require.NoError(t, w.signpost.Start(t.Context()))
	w.intents(w.kubeconfig(), `{"name": "web"}`, oldHost)
	answered := make(chan struct{})
	killed := w.tap.Strike("hub", 0, Before, func() { <-answered; w.server().kill() })

	base, err := w.signpost.URL()
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+group+"/instantiate", http.NoBody)
	require.NoError(t, err)
	request.Header.Set("traceparent", "00-"+trace+"-"+parent+"-01")
	answer, err := http.DefaultClient.Do(request)
	close(answered)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusAccepted, answer.StatusCode)
	select {
	case <-killed:
	case <-t.Context().Done():
	}
	w.tap.Count()
	w.server().revive()
	w.eventually("the group to be instantiated", func() error { return w.is("Instantiated") })

	writes := w.tap.Writes("hub")
	require.NotEmpty(t, writes)
	for _, write := range writes {
		require.Contains(t, write.Trace, "00-"+trace+"-", write.What)
	}
	w.eventually("the spans to be exported", func() error {
		names := strings.Join(spans.Of(trace), ", ")
		if !strings.Contains(names, "create DNSEndpoint") || !strings.Contains(names, "create Deployment") {
			return errors.New("there are " + names)
		}
		return nil
	})
}

// TestACollectorThatIsAwayHoldsNobodyUp: requests are answered, objects are
// made, and the process ends in time.
func TestACollectorThatIsAwayHoldsNobodyUp(t *testing.T) {
	hangs, err := net.Listen("tcp", "127.0.0.1:0") // and never answers
	require.NoError(t, err)
	defer func() { _ = hangs.Close() }()
	s := &service{T: t, signpost: newSignpost(t, t.TempDir(), "--otlp-endpoint=http://"+hangs.Addr().String())}
	require.NoError(t, s.signpost.Start(t.Context()))
	s.intents(`{"directory": "hub"}`, `{"name": "web"}`, oldHost)
	s.call(http.MethodPost, group+"/instantiate", "", http.StatusAccepted)
	s.eventually("the group to be instantiated", func() error { return s.is("Instantiated") })
	require.NoError(t, s.signpost.Stop(patience))
}
