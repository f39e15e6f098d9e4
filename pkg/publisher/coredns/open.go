package coredns

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

// defaultPrefix is external-dns' own.
const defaultPrefix = "/skydns/"

// longestAnswer is how many bytes an answer of the etcd may have. Its own values have 1.5 MiB at most by default.
const longestAnswer = 4 << 20

// Open makes a Writer of a provider's settings. It connects when it is first used.
func Open(s publisher.Settings) (*Writer, error) {
	m, err := marks.For(s)
	if err != nil {
		return nil, err
	}
	endpoints, secure, err := urls(s.Environment["ETCD_URLS"])
	if err != nil {
		return nil, err
	}
	prefix := prefixOf(s)
	dialed := &lastError{}
	config := clientv3.Config{
		Endpoints: endpoints, Username: s.Environment["ETCD_USERNAME"], Password: s.Environment["ETCD_PASSWORD"], Logger: zap.NewNop(),
		DialTimeout: publisher.WriteDeadline, MaxCallRecvMsgSize: longestAnswer,
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := s.Dial(ctx, "tcp", address, prefix)
			dialed.set(err)
			return conn, err
		})},
	}
	if secure {
		if config.TLS, err = tlsOf(s); err != nil {
			return nil, err
		}
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, fault.Errorf(fault.Unreachable, "etcd of the provider: %v", err)
	}
	strict := externaldns.Values(s.Parameters, "coredns-strictly-owned")
	return &Writer{client: client, prefix: prefix, marks: m, strict: slices.Equal(strict, []string{"true"}), dialed: dialed}, nil
}

// Servers are those that the settings name.
func Servers(s publisher.Settings) []publisher.Server {
	var servers []publisher.Server
	endpoints, _, _ := urls(s.Environment["ETCD_URLS"]) // Open tells what is wrong with them
	for _, endpoint := range endpoints {
		if at, err := url.Parse(endpoint); err == nil {
			servers = append(servers, publisher.Server{Address: at.Host, Scope: prefixOf(s), Field: "environment/ETCD_URLS"})
		}
	}
	return servers
}

// prefixOf is the prefix of all keys, between slashes.
func prefixOf(s publisher.Settings) string {
	return "/" + strings.Trim(cmp.Or(externaldns.Value(s.Parameters, "coredns-prefix"), defaultPrefix), "/") + "/"
}

// urls reads ETCD_URLS.
func urls(text string) (endpoints []string, secure bool, err error) {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one != "" {
			endpoints = append(endpoints, one)
		}
	}
	if len(endpoints) == 0 {
		return nil, false, fault.Errorf(publisher.Invalid, "ETCD_URLS is missing in the environment; the built-in publisher takes no default, because that is this machine")
	}
	first := strings.ToLower(endpoints[0])
	secure = strings.HasPrefix(first, "https://")
	if !secure && !strings.HasPrefix(first, "http://") {
		return nil, false, fault.Errorf(publisher.Invalid, "ETCD_URLS has to begin with http:// or https://")
	}
	return endpoints, secure, nil
}

// tlsOf reads the files that the environment names from the settings, and never from the disk.
func tlsOf(s publisher.Settings) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.Environment["ETCD_TLS_SERVER_NAME"]}
	switch strings.ToLower(s.Environment["ETCD_TLS_INSECURE"]) {
	case "true", "yes", "1":
		config.InsecureSkipVerify = true //nolint:gosec // the provider's environment says so, as for external-dns
	}
	file := func(variable string) publisher.FileSetting {
		return publisher.FileSetting{Name: variable, Path: s.Environment[variable]}
	}
	return config, s.TLS(config, file("ETCD_CA_FILE"), file("ETCD_CERT_FILE"), file("ETCD_KEY_FILE"))
}

// lastError keeps why the last connection failed: etcd's client itself says no more than
// that the time is over.
type lastError struct {
	told func(error) // is called for each failed connection; nil: nobody asks

	mu  sync.Mutex
	err error
}

func (l *lastError) set(err error) {
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
	if l.told != nil && err != nil {
		l.told(err)
	}
}

func (l *lastError) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// failed says why a request failed.
func (w *Writer) failed(what string, err error) *fault.Error {
	kind := fault.Unreachable
	switch code := status.Code(rpctypes.Error(err)); {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
	case code == codes.PermissionDenied || code == codes.Unauthenticated || code == codes.InvalidArgument || code == codes.ResourceExhausted:
		kind = fault.Refused
	}
	if known, ok := errors.AsType[rpctypes.EtcdError](err); ok && kind != fault.Refused {
		switch known.Code() {
		case codes.PermissionDenied, codes.Unauthenticated, codes.InvalidArgument, codes.ResourceExhausted:
			kind = fault.Refused
		}
	}
	if dialed := w.dialed.get(); dialed != nil && kind == fault.Unreachable {
		if fault.Of(dialed) == publisher.Forbidden {
			kind = publisher.Forbidden
		}
		return fault.Errorf(kind, "etcd does not answer a %s: %v", what, dialed)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Errorf(kind, "etcd does not answer a %s in time: %w", what, err)
	}
	return fault.Errorf(kind, "etcd answers a %s: %w", what, err)
}
