package webhook

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/external-dns/endpoint"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/guard"
)

// program is a webhook that keeps records in memory.
type program struct {
	records []*endpoint.Endpoint
	answer  func(w http.ResponseWriter, r *http.Request) bool // before all else; true: it has answered
	writes  int
}

func (p *program) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.answer != nil && p.answer(w, r) {
		return
	}
	w.Header().Set("Content-Type", mediaType)
	switch {
	case r.URL.Path == "/adjustendpoints":
		var asked []*endpoint.Endpoint
		_ = json.NewDecoder(r.Body).Decode(&asked)
		for _, e := range asked {
			e.RecordTTL = max(e.RecordTTL, 30)
		}
		_ = json.NewEncoder(w).Encode(asked)
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(p.records)
	default:
		var c changes
		_ = json.NewDecoder(r.Body).Decode(&c)
		p.apply(c)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (p *program) apply(c changes) {
	p.writes++
	var kept []*endpoint.Endpoint
	for _, e := range p.records {
		gone := false
		for _, g := range append(c.Delete, c.UpdateOld...) {
			gone = gone || g.DNSName == e.DNSName && g.RecordType == e.RecordType
		}
		if !gone {
			kept = append(kept, e)
		}
	}
	p.records = append(append(kept, c.Create...), c.UpdateNew...)
}

func begin(t *testing.T, p *program) *Writer {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	w, err := Open(settings(server.URL))
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

func settings(url string) publisher.Settings {
	return publisher.Settings{
		Provider: "webhook", Owner: "one", Parameters: externaldns.Parameters{"webhook-provider-url": url},
		Dial: func(ctx context.Context, network, address, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, address)
		},
	}
}

const name = "www.lab.example"

func set(kind string, ttl int64, targets ...string) publisher.Set {
	return publisher.Set{Name: name, Type: kind, TTL: ttl, Targets: targets, Mark: publisher.Mark{Resource: "crd/shop/www"}}
}

func write(t *testing.T, w *Writer, after ...publisher.Set) error {
	t.Helper()
	states, err := w.Read(t.Context(), []string{name})
	require.NoError(t, err)
	return w.Write(t.Context(), publisher.Change{Before: states[name], After: after})
}

func TestANameIsMadeChangedAndRemoved(t *testing.T) {
	p := &program{}
	w := begin(t, p)
	require.NoError(t, write(t, w, set("A", 60, "192.0.2.1")))
	require.Len(t, p.records, 2)
	assert.Equal(t, "a-www.lab.example", p.records[1].DNSName)
	assert.Equal(t, endpoint.Targets{`"heritage=external-dns,external-dns/owner=one,external-dns/resource=crd/shop/www"`}, p.records[1].Targets)
	require.NoError(t, write(t, w, set("A", 10, "192.0.2.2")))
	states, err := w.Read(t.Context(), []string{name})
	require.NoError(t, err)
	assert.Equal(t, int64(30), states[name].Sets[0].TTL, "the program has a least TTL")
	writes := p.writes
	require.NoError(t, write(t, w, set("A", 10, "192.0.2.2")))
	assert.Equal(t, writes, p.writes, "what is as the program would have it is not written")
	require.NoError(t, write(t, w))
	assert.Empty(t, p.records)
}

func TestAChangedNameIsNotWrittenOver(t *testing.T) {
	p := &program{}
	w := begin(t, p)
	require.NoError(t, write(t, w, set("A", 60, "192.0.2.1")))
	states, err := w.Read(t.Context(), []string{name})
	require.NoError(t, err)
	require.NoError(t, write(t, w, set("A", 60, "192.0.2.2")))
	err = w.Write(t.Context(), publisher.Change{Before: states[name], After: []publisher.Set{set("A", 60, "192.0.2.3")}})
	require.Equal(t, fault.Stale, fault.Of(err), "%v", err)
	now, err := w.Read(t.Context(), []string{name})
	require.NoError(t, err)
	assert.Equal(t, []string{"192.0.2.2"}, now[name].Sets[0].Targets)
}

// TestAWebhookThatLiesIsReported has a program that answers what it should not.
func TestAWebhookThatLiesIsReported(t *testing.T) {
	for reason, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request) bool
		fault  fault.Kind
		says   string
	}{
		"a page": {func(w http.ResponseWriter, _ *http.Request) bool { _, _ = w.Write([]byte("<html>")); return true }, fault.Refused, "webhook protocol"},
		"an error": {func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "no such zone", http.StatusBadRequest)
			return true
		}, fault.Refused, "no such zone"},
		"a server error": {func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "try later", http.StatusServiceUnavailable)
			return true
		}, fault.Unreachable, "try later"},
		"half an answer": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", mediaType)
			_, _ = w.Write([]byte("[{"))
			return true
		}, fault.Refused, "cannot be read"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
			return true
		}, fault.Refused, "redirects to 169.254.169.254"},
		"another address": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/adjustendpoints" {
				w.Header().Set("Content-Type", mediaType)
				_, _ = w.Write([]byte(`[{"dnsName":"` + name + `","recordType":"A","targets":["198.51.100.66"]}]`))
			}
			return r.URL.Path == "/adjustendpoints"
		}, fault.Refused, "with the targets 198.51.100.66 in place of 192.0.2.1"},
		"a change that was not made": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/records" && r.Method == http.MethodPost {
				w.WriteHeader(http.StatusNoContent)
				return true
			}
			return false
		}, fault.Unreachable, "its records do not show the change"},
		"a set left out": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/adjustendpoints" {
				w.Header().Set("Content-Type", mediaType)
				_, _ = w.Write([]byte("[null]"))
			}
			return r.URL.Path == "/adjustendpoints"
		}, fault.Refused, "does not take"},
	} {
		t.Run(reason, func(t *testing.T) {
			w := begin(t, &program{answer: c.answer})
			states, err := w.Read(t.Context(), []string{name})
			if err == nil {
				err = w.Write(t.Context(), publisher.Change{Before: states[name], After: []publisher.Set{set("A", 60, "192.0.2.1")}})
			}
			require.Equal(t, c.fault, fault.Of(err), "%v", err)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

func TestAForbiddenAddressIsNotAsked(t *testing.T) {
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(server.Close)
	s := settings(strings.Replace(server.URL, "127.0.0.1", "localhost", 1))
	s.Dial = (&guard.Dialer{}).Dial
	w, err := Open(s)
	require.NoError(t, err)
	_, err = w.Read(t.Context(), []string{name})
	require.Equal(t, publisher.Forbidden, fault.Of(err), "%v", err)
	assert.False(t, asked)
}
