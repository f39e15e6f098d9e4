package app

import (
	"context"
	"log/slog"
	"net"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials"
)

// handshakes counts the connections of a listener that TLS ends before there is a
// request, for example because of an expired certificate. The log has them at debug
// level, because everybody who reaches the listener can cause them.
type handshakes struct {
	failed prometheus.Counter
	log    *slog.Logger
}

func newHandshakes(listener string, metrics prometheus.Registerer, log *slog.Logger) (handshakes, error) {
	failed := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "signpost_tls_handshakes_failed_total", Help: "Connections that ended in the handshake of TLS, by listener.",
		ConstLabels: prometheus.Labels{"listener": listener},
	})
	return handshakes{failed: failed, log: log}, metrics.Register(failed)
}

// ofHTTP is where an http.Server tells of connections that fail.
func (h handshakes) ofHTTP() slog.Handler { return httpErrors{h.log.Handler(), h.failed} }

// ofGRPC has the handshakes told of that are made with credentials.
func (h handshakes) ofGRPC(c credentials.TransportCredentials) credentials.TransportCredentials {
	return toldCredentials{c, h}
}

type httpErrors struct {
	slog.Handler
	handshakes prometheus.Counter
}

// Enabled implements slog.Handler: what is not logged is counted, too.
func (e httpErrors) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler. Handshakes are told apart by how their line
// begins.
func (e httpErrors) Handle(ctx context.Context, line slog.Record) error {
	if strings.HasPrefix(line.Message, "http: TLS handshake error") {
		e.handshakes.Inc()
	}
	if !e.Handler.Enabled(ctx, line.Level) {
		return nil
	}
	return e.Handler.Handle(ctx, line)
}

type toldCredentials struct {
	credentials.TransportCredentials
	told handshakes
}

func (c toldCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := c.TransportCredentials.ServerHandshake(conn)
	if err != nil {
		c.told.failed.Inc()
		c.told.log.Debug("grpc: TLS handshake error", slog.String("address", conn.RemoteAddr().String()), slog.Any("error", err))
	}
	return secured, info, err
}

func (c toldCredentials) Clone() credentials.TransportCredentials {
	return toldCredentials{c.TransportCredentials.Clone(), c.told}
}
