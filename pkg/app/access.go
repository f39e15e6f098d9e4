package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/access"
)

// openAuthenticators opens the authenticator of the REST listener, nil if everybody is
// served, and that of gRPC, which has a CA file of its own.
func openAuthenticators(ctx context.Context, c Config, metrics prometheus.Registerer, log *slog.Logger) (rest, grpc *access.Authenticator, err error) {
	if !c.authenticates() && c.PolicyFile == "" && c.GRPCClientCAFile == "" {
		return nil, nil, nil
	}
	authenticator, err := access.Open(access.Options{
		TokenFile: c.TokenFile, PolicyFile: c.PolicyFile, ClientCAFile: c.ClientCAFile, GRPCClientCAFile: c.GRPCClientCAFile,
		OIDC: c.OIDC, Metrics: metrics, Log: log,
	})
	grpc = authenticator.ForGRPC()
	if err != nil || !c.authenticates() {
		return nil, grpc, err
	}
	if c.TLSCertFile == "" && !onLoopback(c.Listen) {
		log.WarnContext(ctx, "tokens come in plain text; give --tls-cert and --tls-key, or let only a proxy with TLS reach the listener", "listen", c.Listen)
	}
	return authenticator, grpc, nil
}

// restTLS is the TLS of the REST listener. Probes show no certificate, and who
// sends a token needs none.
func (l Listeners) restTLS() access.ListenerTLS {
	return access.ListenerTLS{CertFile: l.TLSCertFile, KeyFile: l.TLSKeyFile, ClientCAFile: l.ClientCAFile, Protocols: []string{"h2", "http/1.1"}}
}

// authenticates tells whether those who call REST are asked who they are.
func (c Config) authenticates() bool {
	return c.TokenFile != "" || c.OIDC.Issuer != "" || c.ClientCAFile != ""
}

// checkAccess finds what cannot work together in who is let in. It reads no
// file.
func (c Config) checkAccess() error {
	if err := errors.Join(c.OIDC.Check(), c.restTLS().Check(), c.grpcTLS().Check()); err != nil {
		return err
	}
	if c.PolicyFile != "" && c.OIDC.Issuer == "" && c.ClientCAFile == "" && c.GRPCClientCAFile == "" {
		return errors.New("--policy-file says what subjects of an issuer or of certificates may do; give --oidc-issuer, --client-ca or --grpc-client-ca, too")
	}
	if c.ClientCAFile != "" && c.PolicyFile == "" && c.TokenFile == "" && c.OIDC.Issuer == "" {
		return errors.New("--policy-file is required with --client-ca: certificates say who somebody is, and without it nobody would have a role")
	}
	if c.Console != "" && c.OIDC.Issuer == "" {
		return errors.New("--console-client-id is a client of an issuer; give --oidc-issuer, too")
	}
	return errors.Join(
		c.checkAddress("--listen", "--client-ca", c.Listen, c.authenticates()),
		c.checkAddress("--grpc-listen", "--grpc-client-ca", c.GRPCListen, c.TokenFile != "" || c.OIDC.Issuer != "" || c.GRPCClientCAFile != ""))
}

// checkAddress keeps a server without authentication on loopback.
func (a Access) checkAddress(flag, ca, address string, authenticates bool) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("%s: %q is not of the form host:port", flag, address)
	}
	if authenticates || a.Insecure || onLoopback(address) {
		return nil
	}
	return fmt.Errorf("%s %s: without authentication, Signpost listens on loopback only; give a --token-file, an --oidc-issuer or a %s, or serve everybody with --insecure", flag, address, ca)
}

// onLoopback tells whether an address host:port is for this machine alone.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && loopback(host)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
