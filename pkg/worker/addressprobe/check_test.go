package addressprobe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/publisher/guard"
)

// loopback is what an administrator allows who has loopback addresses probed.
func loopback(t *testing.T, stores ...string) Dial {
	t.Helper()
	rules, err := guard.Parse(guard.Probes, []string{"127.0.0.0/8"})
	require.NoError(t, err)
	return (&guard.Dialer{Flag: guard.Probes, Rules: rules, Stores: stores}).Dial
}

// site is a server that answers as its path says.
func site(t *testing.T, secure bool) (port int, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, "host "+r.Host+" auth "+r.Header.Get("Authorization")+" cookie "+r.Header.Get("Cookie"))
	})
	mux.HandleFunc("/gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		http.Redirect(w, r, "http://127.0.0.9:1/elsewhere", http.StatusFound)
	})
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, ".")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	})
	mux.HandleFunc("/huge", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
				return
			}
		}
	})
	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = nil
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return int(netip.MustParseAddrPort(server.Listener.Addr().String()).Port()), asked
}

func asked(t *testing.T, spec intent.Probe, target string, dial Dial) error {
	t.Helper()
	c := newCheck(spec.Completed("www.shop.example"), target, dial)
	defer c.close()
	return c.ask(t.Context())
}

// TestAnAddressServesIfItAnswersAsAsked has hostile servers among those that it asks: a
// body without end, one that comes slowly for ever, and a redirect to another host.
func TestAnAddressServesIfItAnswersAsAsked(t *testing.T) {
	plain, _ := site(t, false)
	secure, _ := site(t, true)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	none := int(netip.MustParseAddrPort(closed.Addr().String()).Port())
	require.NoError(t, closed.Close())
	for _, c := range []struct {
		reason string
		spec   intent.Probe
		says   string // empty: the address serves
	}{
		{"it takes a connection", intent.Probe{Type: "TCP", Port: plain}, ""},
		{"nobody listens", intent.Probe{Type: "TCP", Port: none}, "connection refused"},
		{"it answers", intent.Probe{Type: "HTTP", Port: plain, Path: "/ok"}, ""},
		{"by the name, without credentials", intent.Probe{Type: "HTTP", Port: plain, Path: "/ok", Body: "host www.shop.example:" + strconv.Itoa(plain) + " auth  cookie "}, ""},
		{"another text", intent.Probe{Type: "HTTP", Port: plain, Path: "/ok", Body: "up"}, "lack the text of body"},
		{"a status", intent.Probe{Type: "HTTP", Port: plain, Path: "/gone"}, "status 410"},
		{"a status that is asked for", intent.Probe{Type: "HTTP", Port: plain, Path: "/gone", Statuses: []int{410}}, ""},
		{"a redirect is not followed", intent.Probe{Type: "HTTP", Port: plain, Path: "/away"}, "status 302"},
		{"slow for ever", intent.Probe{Type: "HTTP", Port: plain, Path: "/drip", Timeout: "300ms"}, "no answer within 300ms"},
		{"a body without end", intent.Probe{Type: "HTTP", Port: plain, Path: "/huge", Body: "xxx"}, ""},
		{"a certificate of nobody", intent.Probe{Type: "HTTPS", Port: secure, Path: "/ok"}, "certificate"},
		{"which is taken", intent.Probe{Type: "HTTPS", Port: secure, Path: "/ok", AllowInsecure: true}, ""},
		{"no TLS", intent.Probe{Type: "HTTPS", Port: plain, Path: "/ok"}, "HTTP"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			err := asked(t, c.spec, "127.0.0.1", loopback(t))
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
			assert.False(t, unjudged(err))
		})
	}
}

// TestNoProbeReachesWhatIsNear: a probe cannot be pointed at the machine, its links, the
// metadata of clouds or Signpost's stores.
func TestNoProbeReachesWhatIsNear(t *testing.T) {
	port, heard := site(t, false)
	for _, c := range []struct {
		reason, target string
		dial           Dial
	}{
		{"loopback", "127.0.0.1", (&guard.Dialer{Flag: guard.Probes}).Dial},
		{"link-local", "169.254.7.7", (&guard.Dialer{Flag: guard.Probes}).Dial},
		{"metadata", "169.254.169.254", (&guard.Dialer{Flag: guard.Probes}).Dial},
		{"private", "10.0.0.1", (&guard.Dialer{Flag: guard.Probes}).Dial},
		{"a store", "127.0.0.1", loopback(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))},
	} {
		for _, kind := range []string{"TCP", "HTTP", "HTTPS"} {
			err := asked(t, intent.Probe{Type: kind, Port: port, Path: "/ok"}, c.target, c.dial)
			require.Error(t, err, "%s by %s", c.reason, kind)
			require.True(t, unjudged(err), "%s by %s says nothing about the address: %v", c.reason, kind, err)
			require.ErrorContains(t, err, "--probe-targets")
		}
	}
	require.Zero(t, heard.Load())
}

func TestAConnectionIsKeptForTheNextProbe(t *testing.T) {
	port, heard := site(t, false)
	dials := 0
	counted := func(ctx context.Context, network, address, scope string) (net.Conn, error) {
		dials++
		return loopback(t)(ctx, network, address, scope)
	}
	c := newCheck(intent.Probe{Type: "HTTP", Port: port, Path: "/ok"}.Completed("www.shop.example"), "127.0.0.1", counted)
	defer c.close()
	for range 5 {
		require.NoError(t, c.ask(t.Context()))
	}
	assert.EqualValues(t, 5, heard.Load())
	assert.Equal(t, 1, dials)
}

func TestALocalFaultSaysNothingAboutAnAddress(t *testing.T) {
	broken := func(context.Context, string, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: errors.Join(errUnreachable())}
	}
	assert.True(t, unjudged(asked(t, intent.Probe{Type: "HTTP", Port: 80}, "203.0.113.1", broken)))
}
