package app

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/contextupdate"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// newGRPC is the server of the gRPC listener.
func newGRPC(c Config, options api.Options, authenticator *access.Authenticator, contexts contextupdate.Contexts, health *health.Server) (*grpc.Server, error) {
	config, err := c.grpcTLS().Config(options.Log)
	if err != nil {
		return nil, err
	}
	edge := contextupdate.Options{Contexts: contexts, Health: health, Authorize: c.grpcAuthorizer(authenticator), Buckets: options.Buckets, Connections: options.Connections, Metrics: options.Metrics, Log: options.Log, Tracer: options.Tracer}
	if config != nil {
		told, err := newHandshakes("grpc", options.Metrics, options.Log)
		if err != nil {
			return nil, err
		}
		edge.Credentials = told.ofGRPC(credentials.NewTLS(config))
	}
	return contextupdate.New(edge)
}

// grpcTLS is the TLS of the gRPC listener. A client without a properly signed certificate
// gets no connection.
func (l Listeners) grpcTLS() access.ListenerTLS {
	return access.ListenerTLS{Prefix: "grpc-", CertFile: l.GRPCCertFile, KeyFile: l.GRPCKeyFile, ClientCAFile: l.GRPCClientCAFile, Required: true, Protocols: []string{"h2"}}
}

// grpcAuthorizer says who may have app contexts changed, nil: everybody who
// reaches the listener. EMCO sends no tokens, so loopback is for it, or for the
// proxy of a service mesh.
func (c Config) grpcAuthorizer(authenticator *access.Authenticator) contextupdate.Authorizer {
	byRole := func(ctx context.Context, caller access.Caller) (intent.Actor, error) {
		return authenticator.Authorize(ctx, caller, access.Operator, "")
	}
	switch {
	case c.GRPCClientCAFile != "" && c.PolicyFile == "":
		return authenticator.Certified
	case c.GRPCClientCAFile != "":
		return byRole
	case authenticator == nil, c.Insecure, onLoopback(c.GRPCListen):
		return nil
	}
	return func(ctx context.Context, caller access.Caller) (intent.Actor, error) {
		actor, err := byRole(ctx, caller)
		if err != nil && caller.Authorization == "" {
			err = &intent.Error{
				Code:   intent.Unauthenticated,
				Detail: "send a token, as in authorization: Bearer TOKEN, or have Signpost ask for certificates (--grpc-client-ca) or serve everybody (--insecure)",
			}
		}
		return actor, err
	}
}

// readAuthorities reads the file that a flag names.
func readAuthorities(flag, file string) (*x509.CertPool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("%s: %s holds no PEM certificate", flag, file)
	}
	return pool, nil
}
