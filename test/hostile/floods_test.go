package hostile

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/apiserver"
)

const list = `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"more"},"items":[`

// flood is one kind of an answer without end.
type flood struct {
	name  string
	watch bool // of watches, else of lists
	pour  func(w io.Writer)
}

func floods() []flood {
	return []flood{
		{"a small answer that unpacks to gigabytes", false, func(w io.Writer) {
			repeat(w, list+`{"metadata":{"name":"`, "x")
		}},
		{"an object without end", false, func(w io.Writer) { repeat(w, list+`{"metadata":{"labels":{"a":"`, "x") }},
		{"objects of two characters", false, func(w io.Writer) { repeat(w, list, "{},") }},
		{"pages without end", false, page},
		{"a line of a watch without end", true, func(w io.Writer) { repeat(w, `{"type":"ADDED","object":{"kind":"`, "x") }},
		{"events without end", true, func(w io.Writer) {
			for n := 0; ; n++ {
				if _, err := fmt.Fprintf(w, `{"type":"ADDED","object":{"kind":"Service","apiVersion":"v1","metadata":{"name":"s-%d","namespace":"den","resourceVersion":"%d"},"spec":{"externalIPs":[%q]}}}`+"\n",
					n, n+100, strings.Repeat("x", 1<<10)); err != nil {
					return
				}
			}
		}},
	}
}

// repeat writes the first text, and the other until nobody reads it any more.
func repeat(w io.Writer, first, then string) {
	_, err := io.WriteString(w, first)
	for chunk := []byte(strings.Repeat(then, 64<<10)); err == nil; {
		_, err = w.Write(chunk)
	}
}

// page is a page of a list that has another one.
func page(w io.Writer) {
	start := time.Now().UnixNano()
	var items []string
	for n := range 500 {
		items = append(items, fmt.Sprintf(`{"metadata":{"name":"s-%d-%d","namespace":"den","labels":{"a":%q}},"spec":{"externalIPs":[%q]}}`,
			start, n, strings.Repeat("x", 1<<10), strings.Repeat("x", 1<<10)))
	}
	_, _ = io.WriteString(w, list+strings.Join(items, ",")+"]}")
}

// front is an API server that floods while it is on.
type front struct {
	*httptest.Server
	behind *apiserver.Server
	flood  flood
	on     atomic.Bool
}

func newFront(t *testing.T, name string, of flood) *front {
	t.Helper()
	f := &front{behind: apiserver.Start(t, name, 0), flood: of}
	f.Server = httptest.NewUnstartedServer(f)
	f.EnableHTTP2 = true
	f.StartTLS()
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

// ServeHTTP implements http.Handler. A flooded cluster still says which one it is.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	watch := r.URL.Query().Get("watch") != ""
	if f.on.Load() && watch && !f.flood.watch { // so that lists begin anew
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`)
		return
	}
	if !f.on.Load() || r.Method != http.MethodGet || watch != f.flood.watch || strings.HasSuffix(r.URL.Path, "/kube-system") {
		f.behind.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if !strings.Contains(f.flood.name, "unpacks") {
		f.flood.pour(w)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	f.flood.pour(packed)
}

// floodingDNS is a DNS server whose every answer is as long as can be.
func floodingDNS(t *testing.T) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	stream, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	packets, err := net.ListenPacket("udp", stream.Addr().String())
	require.NoError(t, err)
	answer := func(w dns.ResponseWriter, q *dns.Msg) {
		asked.Add(1)
		m := new(dns.Msg).SetReply(q)
		m.Authoritative, m.Compress = true, true
		if m.Truncated = w.LocalAddr().Network() == "udp"; !m.Truncated {
			for n := range 4000 {
				m.Answer = append(m.Answer, &dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 5}, A: net.IPv4(10, 0, byte(n>>8), byte(n))})
			}
		}
		_ = w.WriteMsg(m)
	}
	for _, server := range []*dns.Server{{Listener: stream, Handler: dns.HandlerFunc(answer)}, {PacketConn: packets, Handler: dns.HandlerFunc(answer)}} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() { _ = server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = server.Shutdown() })
	}
	return stream.Addr().String(), asked
}
