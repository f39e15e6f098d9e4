package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli/serve"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

// configured is the configuration that signpost serve starts with.
func configured(t *testing.T, args ...string) (app.Config, result) {
	t.Helper()
	var got app.Config
	var err strings.Builder
	p := terminal.Program{In: strings.NewReader(""), Out: io.Discard, Err: &err}
	service := func(_ context.Context, c app.Config) error { got = c; return nil }
	code := Run(t.Context(), p, service, append([]string{"serve"}, args...))
	return got, result{code: code, err: err.String()}
}

func TestAFlagBeatsTheEnvironmentBeatsTheFile(t *testing.T) {
	file := write(t, "signpost.yaml", "log-level: warn\nlog-format: json\nimage-registry: registry.example\n")
	for _, test := range []struct {
		reason   string
		variable string
		args     []string
		want     string
	}{
		{"the default", "", nil, "info"},
		{"the file", "", []string{"--config", file}, "warn"},
		{"the environment over the file", "error", []string{"--config", file}, "error"},
		{"a flag over both", "error", []string{"--config", file, "--log-level", "debug"}, "debug"},
		{"a flag that repeats the default", "error", []string{"--config", file, "--log-level", "info"}, "info"},
		{"an empty variable is none", "", []string{"--config", file}, "warn"},
	} {
		t.Setenv("SIGNPOST_LOG_LEVEL", test.variable)
		c, ended := configured(t, test.args...)
		require.Equal(t, exitDone, ended.code, "%s: %s", test.reason, ended.err)
		require.Equal(t, test.want, c.LogLevel, test.reason)
	}
	t.Setenv("SIGNPOST_CONFIG", file)
	c, ended := configured(t)
	require.Equal(t, exitDone, ended.code, ended.err)
	require.Equal(t, "registry.example", c.ImageRegistry, "the file's name can come from the environment")
}

// settings are all flags but --config, each with a value of its own.
func settings(t *testing.T) map[string]string {
	binary, _ := dnsBinary(t, "")
	return map[string]string{
		"allow-local-verify": "true", "dns-binary": binary, "listen": "127.0.0.1:1", "grpc-listen": "[::1]:2", "data-dir": "data", "mongo-uri": "mongodb://m",
		"etcd-endpoints": "https://a:2379,https://b:2379", "directory-root": "root", "role": "api", "shared-directory-root": "true", "controller-cluster": "edge+hub",
		"emco-orchestrator": "http://o:9015", "emco-dcm": "http://d:9077", "emco-clm": "https://c/clm", "rsync-endpoint": "rsync:9031", "emco-namespaces": "shop,team-*",
		"token-file": write(t, "tokens", "t,anna,admin\n"), "secret-key-file": write(t, "key", "k"), "insecure": "true",
		"policy-file": write(t, "policy.yaml", "claims: true\n"), "oidc-issuer": "https://issuer.example", "oidc-audience": "signpost,other", "oidc-algorithms": "RS256,ES256",
		"oidc-ca-file": write(t, "issuer.pem", "c"), "oidc-subject-claim": "email", "oidc-groups-claim": "teams", "oidc-roles-claim": "powers", "console-client-id": "console",
		"tls-cert": write(t, "tls-cert.pem", "c"), "tls-key": write(t, "tls-key.pem", "k"), "client-ca": write(t, "client-ca.pem", "c"),
		"otlp-endpoint": "http://127.0.0.1:4317", "trace-ratio": "0.5", "pprof-listen": "127.0.0.1:6060",
		"etcd-user": "signpost", "etcd-password-file": write(t, "password", "p"),
		"etcd-ca-file": write(t, "ca.pem", "c"), "etcd-cert-file": write(t, "cert.pem", "c"), "etcd-key-file": write(t, "key.pem", "k"),
		"grpc-tls-cert": write(t, "grpc-cert.pem", "c"), "grpc-tls-key": write(t, "grpc-key.pem", "k"), "grpc-client-ca": write(t, "grpc-ca.pem", "c"),
		"allowed-images": "a/,b/", "image-registry": "registry.example", "rate-limit": "7", "max-connections": "9", "max-documents": "10", "max-bytes": "11", "cluster-memory": "32", "publisher-servers": "127.0.0.1,10.0.0.0/8:53=corp.example", "probe-targets": "10.0.0.0/8:443", "require-domains": "true", "max-records": "5", "max-names": "6", "max-external-dns": "8", "max-objects": "12", "log-level": "debug", "log-format": "json", "ready-file": "ready",
		"old-secret-key-file": write(t, "old", "k"), "lost-secret-key": "01234567,89abcdef",
		"history-age": "1h0m0s", "history-count": "5", "name-history-bytes": "13", "name-history-log": "true",
	}
}

func TestEveryFlagHasAVariableAndAKey(t *testing.T) {
	values := settings(t)
	var args, lines []string
	for name, value := range values {
		args = append(args, "--"+name+"="+value)
		lines = append(lines, fmt.Sprintf("%s: %q", name, value))
	}
	byFlags, ended := configured(t, args...)
	require.Equal(t, exitDone, ended.code, ended.err)
	byFile, ended := configured(t, "--config", write(t, "all.yaml", strings.Join(lines, "\n")))
	require.Equal(t, exitDone, ended.code, ended.err)
	require.Equal(t, byFlags, byFile)
	for name, value := range values {
		t.Setenv("SIGNPOST_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")), value)
	}
	byEnvironment, ended := configured(t)
	require.Equal(t, exitDone, ended.code, ended.err)
	require.Equal(t, byFlags, byEnvironment)
	require.Equal(t, []string{"https://a:2379", "https://b:2379"}, byFlags.EtcdEndpoints)
	require.Len(t, strings.Split(strings.TrimSpace(flagNames()), "\n"), len(values)+1, "this test knows every flag")
}

func flagNames() string {
	command := serve.Command(terminal.Program{}, app.Run)
	return command.Flags().FlagUsagesWrapped(0)
}

func TestTheFileMayHoldListsAndBooleans(t *testing.T) {
	t.Parallel()
	key := write(t, "key", "k")
	file := write(t, "typed.yaml", "insecure: true\nlisten: 0.0.0.0:80\netcd-endpoints:\n- http://a:2379\n- http://b:2379\nready-file:\nsecret-key-file: "+key)
	c, ended := configured(t, "--config", file)
	require.Equal(t, exitDone, ended.code, ended.err)
	require.True(t, c.Insecure)
	require.Equal(t, []string{"http://a:2379", "http://b:2379"}, c.EtcdEndpoints)
	require.Empty(t, c.ReadyFile, "a key without a value is absent")
}

func TestBadConfigurationNamesTheFlag(t *testing.T) {
	t.Parallel()
	key := write(t, "key", "k")
	for _, test := range []struct {
		reason string
		args   []string
		says   []string
	}{
		{"a flag's value", []string{"--insecure=maybe"}, []string{"--insecure takes true or false"}},
		{"a number", []string{"--rate-limit=fast"}, []string{"--rate-limit takes a whole number"}},
		{"a list with one quote", []string{"--etcd-endpoints=\"s3cr3t"}, []string{"--etcd-endpoints takes a list with commas"}},
		{"an anchor", []string{"--config", write(t, "c.yaml", "mongo-uri: *s3cr3t\n")}, []string{"--config", "unknown anchor"}},
		{"no address", []string{"--listen", "9018"}, []string{"--listen"}},
		{"every address without consent", []string{"--listen", ":9018"}, []string{"--listen", "--token-file", "--insecure"}},
		{"another machine's without consent", []string{"--grpc-listen", "192.0.2.1:9048"}, []string{"--grpc-listen", "--token-file", "--insecure"}},
		{"no MongoDB", []string{"--mongo-uri", "http://m", "--secret-key-file", key}, []string{"--mongo-uri", "mongodb://"}},
		{"no etcd", []string{"--etcd-endpoints", "a:2379", "--secret-key-file", key}, []string{"--etcd-endpoints: item 1 is not a URL such as"}},
		{"external stores without a key", []string{"--mongo-uri", "mongodb://m"}, []string{"--secret-key-file"}},
		{"no cluster", []string{"--controller-cluster", "hub"}, []string{"--controller-cluster", "provider+cluster"}},
		{"a URL as registry", []string{"--image-registry", "https://r"}, []string{"--image-registry"}},
		{"several at once", []string{"--log-level", "loud", "--log-format", "xml"}, []string{"--log-level", "--log-format"}},
		{"files that are not there", []string{"--token-file", "missing", "--secret-key-file", "gone"}, []string{"--token-file", "missing", "--secret-key-file", "gone"}},
		{"etcd's files that are not there", []string{"--etcd-password-file", "a", "--etcd-ca-file", "b", "--etcd-cert-file", "c", "--etcd-key-file", "d"},
			[]string{"--etcd-password-file: open a", "--etcd-ca-file: open b", "--etcd-cert-file: open c", "--etcd-key-file: open d"}},
		{"gRPC's files that are not there", []string{"--grpc-tls-cert", "a", "--grpc-tls-key", "b", "--grpc-client-ca", "c"},
			[]string{"--grpc-tls-cert: open a", "--grpc-tls-key: open b", "--grpc-client-ca: open c"}},
		{"REST's files that are not there", []string{"--token-file", key, "--policy-file", "a", "--tls-cert", "b", "--tls-key", "c", "--client-ca", "d"},
			[]string{"--policy-file: open a", "--tls-cert: open b", "--tls-key: open c", "--client-ca: open d"}},
		{"an issuer without an audience", []string{"--oidc-issuer", "https://issuer.example"}, []string{"--oidc-audience is required with --oidc-issuer", "tokens for other services"}},
		{"an audience without an issuer", []string{"--oidc-audience", "signpost"}, []string{"--oidc-issuer is required with --oidc-audience"}},
		{"no signature", []string{"--oidc-issuer", "https://issuer.example", "--oidc-audience", "a", "--oidc-algorithms", "none"}, []string{"--oidc-algorithms: none"}},
		{"a certificate without its key", []string{"--grpc-tls-cert", key}, []string{"--grpc-tls-cert", "--grpc-tls-key"}},
		{"no file", []string{"--config", "missing.yaml"}, []string{"--config", "missing.yaml"}},
		{"an unknown key", []string{"--config", write(t, "c.yaml", "grpc-lissten: x\nnothing-like-it: 1\n")}, []string{`"grpc-lissten"; did you mean "grpc-listen"?`, `"nothing-like-it"`}},
		{"the file in the file", []string{"--config", write(t, "c.yaml", "config: x\n")}, []string{`"config"`}},
		{"a key twice", []string{"--config", write(t, "c.yaml", "listen: x\nlisten: y\n")}, []string{"--config", "listen"}},
		{"a list for one value", []string{"--config", write(t, "c.yaml", "listen: [a, b]\n")}, []string{"--listen accepts one value", "c.yaml"}},
		{"an object", []string{"--config", write(t, "c.yaml", "listen: {a: b}\n")}, []string{"--listen"}},
	} {
		_, ended := configured(t, test.args...)
		require.Equal(t, exitUsage, ended.code, test.reason)
		for _, words := range test.says {
			require.Contains(t, ended.err, words, test.reason)
		}
		require.NotContains(t, ended.err, "s3cr3t", "what may be a password is not quoted: %s", test.reason)
	}
}

func TestABadVariableIsNamed(t *testing.T) {
	t.Setenv("SIGNPOST_INSECURE", "maybe")
	_, ended := configured(t)
	require.Equal(t, exitUsage, ended.code)
	require.Contains(t, ended.err, "SIGNPOST_INSECURE")
	require.Contains(t, ended.err, "--insecure")
}

func TestTheServicesEndIsTheExitCode(t *testing.T) {
	t.Parallel()
	for want, err := range map[int]error{exitDone: nil, exitFailed: errors.New("the disk is full")} {
		var text strings.Builder
		p := terminal.Program{In: strings.NewReader(""), Out: io.Discard, Err: &text}
		require.Equal(t, want, Run(t.Context(), p, func(context.Context, app.Config) error { return err }, []string{"serve"}))
	}
}

func TestATakenAddressIsExplained(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	_, err = net.Listen("tcp", taken.Addr().String())
	explained := serve.ExplainListen(fmt.Errorf("--listen: %w", err))
	require.ErrorIs(t, explained, err)
	require.ErrorContains(t, explained, "choose other addresses with --listen and --grpc-listen")
}

// FuzzConfigurationFiles: a file is taken, or refused by its name; and nothing
// of it starts a server that the flags would not.
func FuzzConfigurationFiles(f *testing.F) {
	for _, text := range []string{"log-level: warn\n", "etcd-endpoints: [http://a:1, http://b:2]", "rate-limit: -1", "rate-limit: 1e3", "insecure: maybe", "nothing: 1", "- 1", "log-level: {a: b}", "\x00", "", "a: &a [*a]"} {
		f.Add(text)
	}
	file := filepath.Join(f.TempDir(), "signpost.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		var c app.Config
		flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		serve.ServeFlags(flags, &c)
		require.NoError(t, flags.Parse([]string{"--" + serve.ConfigFlag + "=" + file}))
		if err := serve.FillFlags(flags); err != nil {
			require.Contains(t, err.Error(), "signpost.yaml")
		}
	})
}
