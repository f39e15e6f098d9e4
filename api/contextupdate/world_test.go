package contextupdate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/test/bufconn"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// patience is how long a test waits for what happens in a moment.
const patience = 30 * time.Second

// domain notes what it is asked for, and answers what the test wants.
type domain struct {
	answer func(ctx context.Context) ([]string, error) // nil: yes

	mu    sync.Mutex
	asked []string
}

func (d *domain) ask(ctx context.Context, what string) ([]string, error) {
	d.mu.Lock()
	d.asked = append(d.asked, what)
	d.mu.Unlock()
	if d.answer == nil {
		return nil, nil
	}
	return d.answer(ctx)
}

func (d *domain) calls() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.asked...)
}

func (d *domain) UpdateContext(ctx context.Context, contextID, trafficGroup, from string) ([]string, error) {
	return d.ask(ctx, "update "+contextID+" by "+trafficGroup+" from "+from)
}

func (d *domain) TerminateContext(ctx context.Context, contextID string) error {
	_, err := d.ask(ctx, "terminate "+contextID)
	return err
}

func (d *domain) PostEvent(ctx context.Context, contextID string, event intent.Action) error {
	_, err := d.ask(ctx, string(event)+" event of "+contextID)
	return err
}

// world is a server, on a real listener if nothing else is said.
type world struct {
	t       *testing.T
	address string
	route   []grpc.DialOption // to it, where the address alone is none
	domain  *domain
	health  *health.Server
	metrics *prometheus.Registry
	log     *journal
}

func newWorld(t *testing.T, changes ...func(o *Options)) *world {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return serve(t, listener, changes...)
}

// inABubble tests a server whose time stands still while anybody works, so that
// a busy machine takes none of what callers have.
func inABubble(t *testing.T, test func(t *testing.T, w *world), changes ...func(o *Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := bufconn.Listen(1 << 16)
		w := serve(t, listener, changes...)
		w.address = "passthrough:///memory"
		w.route = append(w.route, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
		test(t, w)
	})
}

func serve(t *testing.T, listener net.Listener, changes ...func(o *Options)) *world {
	w := &world{t: t, domain: &domain{}, health: health.NewServer(), metrics: prometheus.NewRegistry(), log: &journal{}}
	options := Options{Contexts: w.domain, Health: w.health, Metrics: w.metrics, Log: slog.New(tracing.Handler(slog.NewTextHandler(w.log, nil)))}
	for _, change := range changes {
		change(&options)
	}
	server, err := New(options)
	require.NoError(t, err)
	w.address = listener.Addr().String()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; !errors.Is(err, grpc.ErrServerStopped) { // before it has begun
			require.NoError(t, err)
		}
	})
	return w
}

// dial connects as EMCO does.
func (w *world) dial(options ...grpc.DialOption) *grpc.ClientConn {
	if len(options) == 0 {
		options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	connection, err := grpc.NewClient(w.address, append(options, w.route...)...)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, connection.Close()) })
	return connection
}

func (w *world) client() emcopb.ContextupdateClient { return emcopb.NewContextupdateClient(w.dial()) }

func update(id string) *emcopb.ContextUpdateRequest {
	return &emcopb.ContextUpdateRequest{AppContext: id, IntentName: "lb", UpdateFromAppContext: "<nil>"}
}

// journal is a log that may be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

var _ io.Writer = (*journal)(nil)

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}
