package app

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/contextupdate"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// newGRPC is the server of the gRPC listener.
func newGRPC(c Config, options api.Options, contexts contextupdate.Contexts, health *health.Server) (*grpc.Server, error) {
	config, err := grpcTLS(c, options.Log)
	if err != nil {
		return nil, err
	}
	edge := contextupdate.Options{Contexts: contexts, Health: health, Authorize: c.grpcAuthorizer(options.Tokens), Metrics: options.Metrics, Log: options.Log}
	if config != nil {
		edge.Credentials = credentials.NewTLS(config)
	}
	return contextupdate.New(edge)
}

// checkGRPC finds what cannot work together in how gRPC is served. It reads no
// file.
func (c Config) checkGRPC() error {
	switch {
	case (c.GRPCCertFile == "") != (c.GRPCKeyFile == ""):
		return errors.New("--grpc-tls-cert and --grpc-tls-key belong together: give both or none")
	case c.GRPCClientCAFile != "" && c.GRPCCertFile == "":
		return errors.New("--grpc-client-ca: callers show certificates over TLS alone; give --grpc-tls-cert and --grpc-tls-key, too")
	}
	return c.checkAddress("--grpc-listen", c.GRPCListen, c.TokenFile != "" || c.GRPCClientCAFile != "")
}

// grpcAuthorizer says who may have app contexts changed, where neither
// certificates nor the address of the listener decide it; nil: everybody who
// reaches it. EMCO sends no tokens, so loopback is for it, or for the proxy of a
// service mesh.
func (c Config) grpcAuthorizer(tokens *api.Tokens) func(authorization string) (string, error) {
	if tokens == nil || c.Insecure || onLoopback(c.GRPCListen) {
		return nil
	}
	return func(authorization string) (string, error) {
		if authorization == "" {
			return "", &intent.Error{
				Code:   intent.Unauthenticated,
				Detail: "send a token, as in authorization: Bearer TOKEN, or have Signpost ask for certificates (--grpc-client-ca) or serve everybody (--insecure)",
			}
		}
		return tokens.Operator(authorization)
	}
}

// certificates are what the gRPC listener shows and asks for. The files are
// read again for each connection, since certificates are renewed; while they
// are broken, the last good ones are used.
type certificates struct {
	config Config
	log    *slog.Logger

	mu   sync.Mutex
	good *tls.Config
}

// grpcTLS is the configuration of the gRPC listener, nil for plain text. It
// fails on files that cannot be read or hold something else.
func grpcTLS(c Config, log *slog.Logger) (*tls.Config, error) {
	if c.GRPCCertFile == "" {
		return nil, nil
	}
	first, err := c.readGRPCFiles()
	if err != nil {
		return nil, err
	}
	files := &certificates{config: c, log: log, good: first}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return files.current(), nil },
	}, nil
}

// current is the configuration that the files make now.
func (f *certificates) current() *tls.Config {
	now, err := f.config.readGRPCFiles()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.log.Error("the files of the gRPC listener's TLS are broken; their last good state holds", slog.Any("error", err))
		return f.good
	}
	f.good = now
	return now
}

// readGRPCFiles makes a configuration of the files.
func (c Config) readGRPCFiles() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.GRPCCertFile, c.GRPCKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--grpc-tls-cert and --grpc-tls-key: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if c.GRPCClientCAFile == "" {
		return config, nil
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	config.ClientCAs, err = readAuthorities("--grpc-client-ca", c.GRPCClientCAFile)
	return config, err
}

// readAuthorities reads the file that a flag names.
func readAuthorities(flag, file string) (*x509.CertPool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("%s: %s holds no certificate in PEM", flag, file)
	}
	return pool, nil
}
