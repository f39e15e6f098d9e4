package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// ErrTLSRefused is what Dial and Ping answer when etcd refuses the TLS
// handshake by an alert, as for want of a certificate.
var ErrTLSRefused = errors.New("etcd refuses it")

// cause is why a request failed that no server has answered. The client often does not
// know. It waits for time to run out, or it writes to a refused connection before it
// reads the alert that says so. Hence one more connection to each endpoint, which only
// reads. If one of them is accepted, or time has run out, the cause is err.
func cause(ctx context.Context, endpoints []string, config *tls.Config, err error) error {
	var answered rpctypes.EtcdError
	if ctx.Err() != nil || errors.As(rpctypes.Error(err), &answered) {
		return err
	}
	found := make([]error, len(endpoints))
	var all sync.WaitGroup
	for i, endpoint := range endpoints {
		all.Go(func() { found[i] = reach(ctx, endpoint, config) })
	}
	all.Wait()
	var why error
	for i, one := range found {
		switch {
		case one == nil:
			return err
		case why == nil:
			why = fmt.Errorf("%s: %w", endpoints[i], one)
		default:
			why = fmt.Errorf("%w; %s: %w", why, endpoints[i], one)
		}
	}
	if why == nil {
		return err
	}
	return why
}

// reach connects to an endpoint, and answers why that cannot be.
func reach(ctx context.Context, endpoint string, config *tls.Config) error {
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" { // host:port, which is without TLS
		at = &url.URL{Host: endpoint}
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.Host)
	if err != nil {
		return err
	}
	defer connection.Close()
	secure := at.Scheme == "https"
	if secure && config != nil {
		config = config.Clone()
	} else {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config.ServerName, config.NextProtos = at.Hostname(), []string{"h2"}
	err = accepted(ctx, tls.Client(connection, config))
	var distrusted *tls.CertificateVerificationError
	var other tls.RecordHeaderError
	switch {
	case !secure && (err == nil || errors.Is(err, ErrTLSRefused) || errors.As(err, &distrusted)):
		return errors.New("it speaks TLS: give https://")
	case !secure:
		return nil
	case errors.Is(err, io.EOF) || errors.As(err, &other):
		return fmt.Errorf("TLS handshake: it answers as those do that speak http://: %w", err)
	case err != nil:
		return fmt.Errorf("TLS handshake: %w", err)
	}
	return nil
}

// accepted shakes hands, and waits for the server's answer. With TLS 1.3 the client has
// ended the handshake before the server checks its certificate.
func accepted(ctx context.Context, connection *tls.Conn) error {
	err := connection.HandshakeContext(ctx)
	if err == nil {
		defer context.AfterFunc(ctx, func() { _ = connection.SetReadDeadline(time.Now()) })()
		_, err = connection.Read(make([]byte, 1))
	}
	var alert *net.OpError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil // the server waits for a request
	case errors.As(err, &alert) && alert.Op == "remote error":
		return fmt.Errorf("%w: %w", ErrTLSRefused, err)
	}
	return err
}

// failure maps etcd's answer to the contract's errors. All failures that are not known
// refusals count as Unavailable: the outcome of a write is unknown then.
func failure(what string, err error) error {
	err = rpctypes.Error(err)
	switch {
	case errors.Is(err, rpctypes.ErrCompacted):
		return kv.ErrCompacted
	case errors.Is(err, rpctypes.ErrRequestTooLarge):
		return &intent.Error{Code: intent.TooLarge, Detail: "etcd: " + what, Err: err}
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return &intent.Error{Code: intent.Conflict, Detail: "etcd: " + what, Err: err}
	case errors.Is(err, rpctypes.ErrTooManyOps), errors.Is(err, rpctypes.ErrDuplicateKey), errors.Is(err, rpctypes.ErrEmptyKey):
		return &intent.Error{Code: intent.Invalid, Detail: "etcd: " + what, Err: err}
	case errors.Is(err, rpctypes.ErrPermissionDenied), errors.Is(err, rpctypes.ErrUserEmpty):
		return &intent.Error{Code: intent.Unavailable, Detail: "etcd does not allow it: " + what, Err: err}
	}
	return &intent.Error{Code: intent.Unavailable, Detail: "etcd does not answer: " + what, Err: err}
}

func isCompacted(err error) bool { return errors.Is(err, kv.ErrCompacted) }
