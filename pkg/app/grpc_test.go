package app

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/accesstest"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// probe asks a listener how it does.
func probe(t *testing.T, address string, c credentials.TransportCredentials) error {
	client, err := grpc.NewClient(address, grpc.WithTransportCredentials(c))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answer, err := grpc_health_v1.NewHealthClient(client).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	require.Equal(t, err == nil, answer.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING)
	return err
}

// TestGRPCCallersShowCertificates: whoever does not, or shows a wrong one, is
// not even heard.
func TestGRPCCallersShowCertificates(t *testing.T) {
	t.Parallel()
	ours, theirs := accesstest.NewAuthority(t, "ours"), accesstest.NewAuthority(t, "theirs")
	certificate, key := ours.Sign(accesstest.Leaf{Name: "signpost", Server: true})
	s := serve(t, t.TempDir(), func(c *Config) {
		c.GRPCCertFile, c.GRPCKeyFile, c.GRPCClientCAFile = certificate, key, ours.File()
	})
	client := func(trust *accesstest.Authority, show ...tls.Certificate) credentials.TransportCredentials {
		config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trust.Pool(), Certificates: show}
		return credentials.NewTLS(config)
	}
	speaking := func(version uint16, show tls.Certificate) credentials.TransportCredentials {
		return credentials.NewTLS(&tls.Config{MinVersion: version, MaxVersion: version, RootCAs: ours.Pool(), Certificates: []tls.Certificate{show}})
	}
	good := ours.Pair(accesstest.Leaf{Name: "emco"})
	require.NoError(t, probe(t, s.grpc, client(ours, good)))
	require.NoError(t, probe(t, s.grpc, speaking(tls.VersionTLS12, good)), "as EMCO's older clients have it")
	for reason, wrong := range map[string]credentials.TransportCredentials{
		"plain text":                        insecure.NewCredentials(),
		"no certificate":                    client(ours),
		"a certificate of somebody else":    client(ours, theirs.Pair(accesstest.Leaf{Name: "emco"})),
		"an expired one":                    client(ours, ours.Pair(accesstest.Leaf{Name: "emco", Until: time.Now().Add(-time.Minute)})),
		"one for servers":                   client(ours, ours.Pair(accesstest.Leaf{Name: "emco", Server: true})),
		"a client that does not trust us":   client(theirs, good),
		"a version of TLS that is outdated": speaking(tls.VersionTLS11, good),
	} {
		require.Error(t, probe(t, s.grpc, wrong), reason)
	}
	require.NoError(t, probe(t, s.grpc, client(ours, good)), "others are served all the same")
	require.Eventually(t, func() bool {
		_, metrics := s.get("/metrics")
		return regexp.MustCompile(`(?m)^signpost_tls_handshakes_failed_total{listener="grpc"} [1-9]`).MatchString(metrics)
	}, patience, tick, "they are counted")
	s.stop()
}

// TestGRPCOverTLSNeedsNoCertificateOfTheCaller unless it is asked for: EMCO
// shows none.
func TestGRPCOverTLSNeedsNoCertificateOfTheCaller(t *testing.T) {
	t.Parallel()
	ours := accesstest.NewAuthority(t, "ours")
	certificate, key := ours.Sign(accesstest.Leaf{Name: "signpost", Server: true})
	s := serve(t, t.TempDir(), func(c *Config) { c.GRPCCertFile, c.GRPCKeyFile = certificate, key })
	require.NoError(t, probe(t, s.grpc, credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: ours.Pool()})))
	require.Error(t, probe(t, s.grpc, insecure.NewCredentials()))
}

func TestFilesForGRPCAreReadBeforeTheStart(t *testing.T) {
	t.Parallel()
	ours := accesstest.NewAuthority(t, "ours")
	certificate, key := ours.Sign(accesstest.Leaf{Name: "signpost", Server: true})
	for says, change := range map[string]func(c *Config){
		"--grpc-tls-cert and --grpc-tls-key: open":               func(c *Config) { c.GRPCCertFile = "none" },
		"--grpc-tls-cert and --grpc-tls-key: tls":                func(c *Config) { c.GRPCKeyFile = certificate },
		"--grpc-client-ca: CA file: open":                        func(c *Config) { c.GRPCClientCAFile = "none" },
		"--grpc-client-ca: CA file " + key + ", line 1: belongs": func(c *Config) { c.GRPCClientCAFile = key },
	} {
		config := fits()
		config.DataDir, config.GRPCCertFile, config.GRPCKeyFile = t.TempDir(), certificate, key
		change(&config)
		require.ErrorContains(t, Run(t.Context(), config), says)
	}
}

// TestWhoMayChangeAppContexts: callers of a listener that others reach show a
// token, unless everybody is to be served.
func TestWhoMayChangeAppContexts(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(file, []byte("op,emco,operator\nview,grafana,viewer\nshop,ci,operator,shop\n"), 0o600))
	authenticator, err := access.Open(access.Options{TokenFile: file, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.Nil(t, Config{Listeners: Listeners{GRPCListen: "0.0.0.0:9048"}, Access: Access{Insecure: true}}.grpcAuthorizer(nil), "there are no tokens")
	require.Nil(t, Config{Listeners: Listeners{GRPCListen: "0.0.0.0:9048"}, Access: Access{Insecure: true}}.grpcAuthorizer(authenticator), "with consent, everybody may")
	for _, address := range []string{"127.0.0.1:9048", "localhost:0", "[::1]:9048"} {
		require.Nil(t, Config{Listeners: Listeners{GRPCListen: address}}.grpcAuthorizer(authenticator), "on loopback EMCO calls without a token")
	}
	authorize := Config{Listeners: Listeners{GRPCListen: ":9048"}}.grpcAuthorizer(authenticator)
	actor, err := authorize(t.Context(), access.Caller{Authorization: "Bearer op"})
	require.NoError(t, err)
	require.Equal(t, "emco", actor.Subject)
	for header, code := range map[string]intent.Code{
		"": intent.Unauthenticated, "op": intent.Unauthenticated, "Bearer other": intent.Unauthenticated,
		"Bearer view": intent.Forbidden, "Bearer shop": intent.Forbidden,
	} {
		_, err := authorize(t.Context(), access.Caller{Authorization: header})
		require.Equal(t, code, intent.CodeOf(err), header)
	}
	_, err = authorize(t.Context(), access.Caller{})
	require.ErrorContains(t, err, "--grpc-client-ca")
}

// TestWhoMayChangeAppContextsByCertificate: without a policy file the CA decides
// alone, and with one the subject has to be an operator of all projects, on
// loopback, too.
func TestWhoMayChangeAppContextsByCertificate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`grants:
- {role: operator, groups: ["cert:orchestrators"]}
- {role: operator, projects: [shop], subjects: ["cert:shop"]}
`), 0o600))
	authenticator, err := access.Open(access.Options{PolicyFile: file, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	ours := accesstest.NewAuthority(t, "ours")
	shows := func(leaf accesstest.Leaf) access.Caller { return access.Caller{TLS: ours.State(leaf)} }
	config := Config{Listeners: Listeners{GRPCListen: "127.0.0.1:9048", GRPCClientCAFile: "ca"}}
	actor, err := config.grpcAuthorizer(authenticator)(t.Context(), shows(accesstest.Leaf{Name: "anybody"}))
	require.NoError(t, err)
	require.Equal(t, "cert:anybody", actor.Subject)
	require.True(t, actor.Sees("shop"))

	config.PolicyFile = file
	authorize := config.grpcAuthorizer(authenticator)
	actor, err = authorize(t.Context(), shows(accesstest.Leaf{Name: "emco", Groups: []string{"orchestrators"}}))
	require.NoError(t, err)
	require.Equal(t, "cert:emco", actor.Subject)
	for _, leaf := range []accesstest.Leaf{{Name: "anybody"}, {Name: "shop"}, {Name: "cert:orchestrators"}} {
		_, err = authorize(t.Context(), shows(leaf))
		require.Equal(t, intent.Forbidden, intent.CodeOf(err), leaf.Name)
	}
}

// TestEveryGRPCMethodForEveryRole: what api/testdata/rights.txt says of a method is
// so for each role in all projects, and in one, of those who show a certificate.
func TestEveryGRPCMethodForEveryRole(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../api/testdata/rights.txt")
	require.NoError(t, err)
	listed := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if kind, rest, _ := strings.Cut(strings.TrimSpace(line), " "); kind == "gRPC" {
			method, right, _ := strings.Cut(rest, " ")
			listed[method] = right
		}
	}
	policy := "grants:\n"
	for _, role := range access.RoleNames() {
		policy += "- {role: " + role + ", subjects: ['cert:" + role + "-of-']}\n- {role: " + role + ", projects: [shop], subjects: ['cert:" + role + "-of-shop']}\n"
	}
	file := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(file, []byte(policy), 0o600))
	ours := accesstest.NewAuthority(t, "ours")
	config := Config{Listeners: Listeners{GRPCListen: "127.0.0.1:0", GRPCClientCAFile: ours.File()}, Access: Access{PolicyFile: file}}
	config.GRPCCertFile, config.GRPCKeyFile = ours.Sign(accesstest.Leaf{Name: "signpost", Server: true})
	quiet := slog.New(slog.DiscardHandler)
	rest, authenticator, err := openAuthenticators(t.Context(), config, prometheus.NewRegistry(), quiet)
	require.NoError(t, err)
	require.Nil(t, rest, "REST is for everybody on loopback")
	server, err := newGRPC(config, api.Options{Log: quiet, Metrics: prometheus.NewRegistry()}, authenticator, nobodysContexts{}, health.NewServer())
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	for service, info := range server.GetServiceInfo() {
		for _, m := range info.Methods {
			method := "/" + service + "/" + m.Name
			right, ok := listed[method]
			require.True(t, ok, "api/testdata/rights.txt does not say who may call %s", method)
			delete(listed, method)
			for rank, role := range access.RoleNames() {
				for _, project := range []string{"", "shop"} {
					pair := ours.Pair(accesstest.Leaf{Name: role + "-of-" + project})
					code := calls(t, listener.Addr().String(), method, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: ours.Pool(), Certificates: []tls.Certificate{pair}})
					least, known := access.ParseRole(strings.TrimSuffix(right, " all"))
					require.True(t, known || right == "public", method)
					allowed := right == "public" || access.Role(rank) >= least && project == ""
					require.Equal(t, allowed, code != codes.PermissionDenied, "%s for %s of %s: %s", method, role, project, code)
					require.NotEqual(t, codes.Unauthenticated, code)
				}
			}
		}
	}
	require.Empty(t, listed, "api/testdata/rights.txt lists methods that do not exist")
}

// nobodysContexts does nothing.
type nobodysContexts struct{}

func (nobodysContexts) UpdateContext(context.Context, string, string, string) ([]string, error) {
	return nil, nil
}

func (nobodysContexts) TerminateContext(context.Context, string) error { return nil }

func (nobodysContexts) PostEvent(context.Context, string, intent.Action) error { return nil }

// calls answers what a call without fields comes to, whatever kind of call it is.
func calls(t *testing.T, address, method string, config *tls.Config) codes.Code {
	client, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(config)))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stream, err := client.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	require.NoError(t, err)
	require.NoError(t, stream.SendMsg(&emptypb.Empty{}))
	require.NoError(t, stream.CloseSend())
	return status.Code(stream.RecvMsg(&emptypb.Empty{}))
}
