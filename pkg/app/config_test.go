package app

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// fits is a configuration that can be served.
func fits() Config {
	return Config{Listeners: Listeners{Listen: "127.0.0.1:0", GRPCListen: "127.0.0.1:0"}, Stores: Stores{DataDir: "data"}, Telemetry: Telemetry{LogLevel: "info", LogFormat: "text"}}
}

// external is a configuration with an external etcd.
func external(endpoints ...string) Config {
	c := fits()
	c.EtcdEndpoints, c.SecretKeyFile = endpoints, "key"
	return c
}

func TestConfigurationsAreChecked(t *testing.T) {
	for _, c := range []struct {
		reason string
		change func(c *Config)
		says   []string // none: it fits
	}{
		{"the defaults", func(*Config) {}, nil},
		{"localhost is loopback", func(c *Config) { c.Listen = "localhost:0" }, nil},
		{"LOCALHOST too", func(c *Config) { c.Listen = "LocalHost:0" }, nil},
		{"all of 127/8 is", func(c *Config) { c.Listen = "127.1.2.3:0" }, nil},
		{"so is ::1", func(c *Config) { c.Listen = "[::1]:0" }, nil},
		{"an IPv4 loopback written as IPv6", func(c *Config) { c.Listen = "[::ffff:127.0.0.1]:0" }, nil},
		{"all addresses are not", func(c *Config) { c.Listen = ":9018" }, []string{"--listen", "--token-file", "--insecure", "loopback"}},
		{"nor is 0.0.0.0", func(c *Config) { c.Listen = "0.0.0.0:9018" }, []string{"--listen", "--token-file", "--insecure"}},
		{"nor ::", func(c *Config) { c.Listen = "[::]:9018" }, []string{"--listen", "--token-file", "--insecure"}},
		{"nor is a name that may be anything", func(c *Config) { c.Listen = "signpost.example:9018" }, []string{"--token-file"}},
		{"nor one that begins like loopback", func(c *Config) { c.Listen = "127.0.0.1.evil.example:9018" }, []string{"--token-file"}},
		{"gRPC is held to the same", func(c *Config) { c.GRPCListen = "0.0.0.0:9048" }, []string{"--grpc-listen", "--token-file", "--insecure"}},
		{"with tokens any address will do", func(c *Config) { c.Listen, c.GRPCListen, c.TokenFile = ":9018", ":9048", "tokens" }, nil},
		{"so with the explicit consent", func(c *Config) { c.Listen, c.GRPCListen, c.Insecure = ":9018", ":9048", true }, nil},
		{"of two that are wrong, always the same is named", func(c *Config) { c.Listen, c.GRPCListen = ":9018", ":9048" }, []string{"--listen :9018"}},
		{"profiles on loopback", func(c *Config) { c.PprofListen = "127.0.0.1:6060" }, nil},
		{"they are for nobody else, whatever is consented to", func(c *Config) { c.PprofListen, c.Insecure, c.TokenFile = ":6060", true, "tokens" }, []string{"--pprof-listen :6060", "127.0.0.1:6060"}},
		{"they need a port, too", func(c *Config) { c.PprofListen = "127.0.0.1" }, []string{"--pprof-listen", "host:port"}},
		{"traces to somewhere", func(c *Config) { c.OTLPEndpoint, c.TraceRatio = "https://collector.example:4317", .25 }, nil},
		{"an endpoint that is not a URL", func(c *Config) { c.OTLPEndpoint = "collector:4317" }, []string{"--otlp-endpoint", "http://host:4317"}},
		{"more traces than all", func(c *Config) { c.TraceRatio = 1.5 }, []string{"--trace-ratio", "between 0 and 1"}},
		{"fewer than none", func(c *Config) { c.TraceRatio = -1 }, []string{"--trace-ratio"}},
		{"a rate below nothing", func(c *Config) { c.RateLimit = -1 }, []string{"--rate-limit", "0 for no limit"}},
		{"memory for a cluster", func(c *Config) { c.ClusterMemory = 256 }, nil},
		{"too little of it", func(c *Config) { c.ClusterMemory = 1 }, []string{"--cluster-memory", "between 16 and 65536"}},
		{"a quota below nothing", func(c *Config) { c.MaxNames = -1 }, []string{"--max-names", "0 for no limit"}},
		{"an address needs a port", func(c *Config) { c.Listen = "127.0.0.1" }, []string{"--listen", "host:port"}},
		{"an address is needed", func(c *Config) { c.GRPCListen = "" }, []string{"--grpc-listen", "host:port"}},
		{"certificates of gRPC callers are authentication", func(c *Config) {
			c.GRPCListen, c.GRPCCertFile, c.GRPCKeyFile, c.GRPCClientCAFile = "0.0.0.0:9048", "cert", "key", "ca"
		}, nil},
		{"of gRPC callers alone", func(c *Config) {
			c.Listen, c.GRPCListen, c.GRPCCertFile, c.GRPCKeyFile, c.GRPCClientCAFile = ":9018", ":9048", "cert", "key", "ca"
		}, []string{"--listen :9018", "--token-file"}},
		{"TLS alone is none", func(c *Config) { c.GRPCListen, c.GRPCCertFile, c.GRPCKeyFile = ":9048", "cert", "key" }, []string{"--grpc-listen", "--insecure"}},
		{"they come to an address, too", func(c *Config) {
			c.GRPCListen, c.GRPCCertFile, c.GRPCKeyFile, c.GRPCClientCAFile = "9048", "cert", "key", "ca"
		}, []string{"--grpc-listen", "host:port"}},
		{"an issuer's tokens are authentication", func(c *Config) {
			c.Listen, c.GRPCListen = ":9018", ":9048"
			c.OIDC = access.OIDC{Issuer: "https://issuer.example", Audiences: []string{"signpost"}}
		}, nil},
		{"an issuer's tokens are for somebody", func(c *Config) { c.OIDC.Issuer = "https://issuer.example" }, []string{"--oidc-audience is required with --oidc-issuer"}},
		{"certificates of REST's callers are authentication", func(c *Config) {
			c.Listen, c.TLSCertFile, c.TLSKeyFile, c.ClientCAFile, c.PolicyFile = ":9018", "cert", "key", "ca", "policy"
		}, nil},
		{"of REST's callers alone", func(c *Config) {
			c.Listen, c.GRPCListen, c.TLSCertFile, c.TLSKeyFile, c.ClientCAFile, c.PolicyFile = ":9018", ":9048", "cert", "key", "ca", "policy"
		}, []string{"--grpc-listen :9048", "--token-file", "--grpc-client-ca", "--insecure"}},
		{"certificates have no roles of their own", func(c *Config) { c.TLSCertFile, c.TLSKeyFile, c.ClientCAFile = "cert", "key", "ca" }, []string{"--policy-file is required with --client-ca"}},
		{"beside tokens they may come to nothing", func(c *Config) {
			c.TLSCertFile, c.TLSKeyFile, c.ClientCAFile, c.TokenFile = "cert", "key", "ca", "tokens"
		}, nil},
		{"REST's TLS alone is not an authentication", func(c *Config) { c.Listen, c.TLSCertFile, c.TLSKeyFile = ":9018", "cert", "key" }, []string{"--listen", "--token-file", "--oidc-issuer", "--client-ca", "--insecure"}},
		{"REST's certificate without its key", func(c *Config) { c.TLSCertFile = "cert" }, []string{"--tls-cert and --tls-key"}},
		{"certificates of REST's callers without TLS", func(c *Config) { c.ClientCAFile = "ca" }, []string{"--client-ca", "--tls-cert", "--tls-key"}},
		{"a policy for nobody", func(c *Config) { c.PolicyFile = "policy" }, []string{"--policy-file", "--oidc-issuer", "--client-ca", "--grpc-client-ca"}},
		{"tokens of the token file have roles already", func(c *Config) { c.PolicyFile, c.TokenFile = "policy", "tokens" }, []string{"--policy-file"}},
		{"rsync's address", func(c *Config) { c.RsyncEndpoint = "rsync.emco:9031" }, nil},
		{"rsync is not a URL", func(c *Config) { c.RsyncEndpoint = "http://rsync" }, []string{"--rsync-endpoint", "host:port", "rsync.emco:9031"}},
		{"rsync's address needs a port", func(c *Config) { c.RsyncEndpoint = "rsync.emco" }, []string{"--rsync-endpoint", "host:port"}},
		{"gRPC's certificate without its key", func(c *Config) { c.GRPCCertFile = "cert" }, []string{"--grpc-tls-cert", "--grpc-tls-key"}},
		{"gRPC's key without its certificate", func(c *Config) { c.GRPCKeyFile = "key" }, []string{"--grpc-tls-cert", "--grpc-tls-key"}},
		{"certificates of callers without TLS", func(c *Config) { c.GRPCClientCAFile = "ca" }, []string{"--grpc-client-ca", "--grpc-tls-cert", "--grpc-tls-key"}},
		{"a controller cluster", func(c *Config) { c.ControllerCluster = "edge+hub" }, nil},
		{"a controller cluster is two names", func(c *Config) { c.ControllerCluster = "hub" }, []string{"--controller-cluster", `"hub"`, "provider+cluster"}},
		{"its provider is named", func(c *Config) { c.ControllerCluster = "+hub" }, []string{"--controller-cluster", "provider+cluster"}},
		{"its cluster is named", func(c *Config) { c.ControllerCluster = "edge+" }, []string{"--controller-cluster", "provider+cluster"}},
		{"MongoDB needs a key that replicas share", func(c *Config) { c.MongoURI = "mongodb://a" }, []string{"--secret-key-file", "--mongo-uri"}},
		{"so does an external etcd", func(c *Config) { c.EtcdEndpoints = []string{"http://a:2379"} }, []string{"--secret-key-file", "--etcd-endpoints"}},
		{"a key of the environment will do", func(c *Config) { c.MongoURI, c.SecretKey = "mongodb://a", aKey(1) }, nil},
		{"not two of them", func(c *Config) { c.SecretKeyFile, c.SecretKey = "key", aKey(1) }, []string{"--secret-key-file", "SIGNPOST_SECRET_KEY", "--old-secret-key-file"}},
		{"no time or number below nothing", func(c *Config) { c.HistoryCount = -1 }, []string{"--history-age", "--history-count"}},
		{"with a key they fit", func(c *Config) { c.MongoURI, c.SecretKeyFile = "mongodb://a", "key" }, nil},
		{"the embedded etcd needs a place", func(c *Config) { c.DataDir = "" }, []string{"--data-dir"}},
		{"an external etcd alone does not do without", func(c *Config) {
			c.DataDir, c.EtcdEndpoints, c.SecretKeyFile = "", []string{"http://a:2379"}, "key"
		}, []string{"--data-dir"}},
		{"all of it elsewhere needs no place", func(c *Config) {
			c.DataDir, c.EtcdEndpoints, c.SecretKeyFile, c.DirectoryRoot = "", []string{"http://a:2379"}, "key", "clusters"
		}, nil},
		{"a worker over an external etcd", func(c *Config) { *c = external("http://a:2379"); c.Role = "worker" }, nil},
		{"everything in one process, said by name", func(c *Config) { c.Role = "all" }, nil},
		{"a worker needs an etcd that others reach", func(c *Config) { c.Role = "worker" }, []string{"--role worker", "--etcd-endpoints", "embedded"}},
		{"so does who accepts requests", func(c *Config) { c.Role = "api" }, []string{"--role api", "--etcd-endpoints", "--role all"}},
		{"there are three roles", func(c *Config) { *c = external("http://a:2379"); c.Role = "leader" }, []string{"--role", `"leader"`, "all, api or worker"}},
		{"a user of etcd and TLS", func(c *Config) {
			*c = external("https://a:2379", "https://b:2379")
			c.EtcdUser, c.EtcdPasswordFile, c.EtcdCAFile, c.EtcdCertFile, c.EtcdKeyFile = "signpost", "password", "ca", "cert", "key"
		}, nil},
		{"TLS by the system's authorities", func(c *Config) { *c = external("https://a:2379") }, nil},
		{"a user of the embedded etcd", func(c *Config) { c.EtcdUser = "signpost" }, []string{"--etcd-user", "--etcd-endpoints"}},
		{"an authority of the embedded etcd", func(c *Config) { c.EtcdCAFile = "ca" }, []string{"--etcd-ca-file", "--etcd-endpoints"}},
		{"TLS to some of its members", func(c *Config) { *c = external("https://a:2379", "http://b:2379") }, []string{"--etcd-endpoints", "https://"}},
		{"an authority without TLS", func(c *Config) { *c = external("http://a:2379"); c.EtcdCAFile = "ca" }, []string{"--etcd-ca-file", "https://"}},
		{"a user without a password", func(c *Config) { *c = external("http://a:2379"); c.EtcdUser = "signpost" }, []string{"--etcd-user", "--etcd-password-file"}},
		{"a password in plain text", func(c *Config) {
			*c = external("http://127.0.0.1:2379", "http://a:2379")
			c.EtcdUser, c.EtcdPasswordFile = "signpost", "p"
		}, []string{"--etcd-user", "--etcd-endpoints", "https://"}},
		{"a password in plain text, without a scheme", func(c *Config) {
			*c = external("a:2379")
			c.EtcdUser, c.EtcdPasswordFile = "signpost", "p"
		}, []string{"--etcd-user", "https://"}},
		{"a password that stays on the machine", func(c *Config) {
			*c = external("http://127.0.0.1:2379", "http://[::1]:2379", "http://localhost:2379", "localhost:2379")
			c.EtcdUser, c.EtcdPasswordFile = "signpost", "p"
		}, nil},
		{"a password of nobody", func(c *Config) { *c = external("http://a:2379"); c.EtcdPasswordFile = "p" }, []string{"--etcd-user", "--etcd-password-file"}},
		{"a certificate without its key", func(c *Config) { *c = external("https://a:2379"); c.EtcdCertFile = "cert" }, []string{"--etcd-cert-file", "--etcd-key-file"}},
		{"a key without its certificate", func(c *Config) { *c = external("https://a:2379"); c.EtcdKeyFile = "key" }, []string{"--etcd-cert-file", "--etcd-key-file"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			config := fits()
			c.change(&config)
			err := config.Check()
			if c.says == nil {
				require.NoError(t, err)
			}
			for _, text := range c.says {
				require.ErrorContains(t, err, text)
			}
		})
	}
}

// TestAPasswordInAnAddressIsRefusedAndNotQuoted: whatever else is wrong with it.
func TestAPasswordInAnAddressIsRefusedAndNotQuoted(t *testing.T) {
	t.Parallel()
	for flag, set := range map[string]func(c *Config, address string){
		"--listen":         func(c *Config, address string) { c.Listen = address },
		"--grpc-listen":    func(c *Config, address string) { c.GRPCListen = address },
		"--pprof-listen":   func(c *Config, address string) { c.PprofListen = address },
		"--etcd-endpoints": func(c *Config, address string) { *c = external("http://a:2379", address) },
		"--rsync-endpoint": func(c *Config, address string) { c.RsyncEndpoint = address },
		"--otlp-endpoint":  func(c *Config, address string) { c.OTLPEndpoint = address },
		"--image-registry": func(c *Config, address string) { c.ImageRegistry = address },
		"--oidc-issuer": func(c *Config, address string) {
			c.OIDC = access.OIDC{Issuer: address, Audiences: []string{"signpost"}}
		},
		"--emco-orchestrator": func(c *Config, address string) { c.EMCOOrchestrator = address + "?x" },
	} {
		for _, address := range []string{
			"http://me:s3cr3t@a:2379", "https://s3cr3t@a", "me:s3cr3t@a:2379", "me:s3cr3t@", "http://a:2379?key=s3cr3t", "a:1?s3cr3t",
			"http://me:s3cr3t%zz@a:2379", "http://me:s3cr3t/@a", "\x7f://s3cr3t@",
		} {
			config := fits()
			set(&config, address)
			err := config.Check()
			require.ErrorContains(t, err, flag+": ", address)
			require.NotContains(t, err.Error(), "s3cr3t", address)
		}
	}
}

func TestTheControllerClusterComesInParts(t *testing.T) {
	t.Parallel()
	require.Nil(t, Config{}.controllerCluster())
	require.Equal(t, &intent.ClusterRef{ClusterProvider: "edge", Cluster: "hub"}, Config{Clusters: Clusters{ControllerCluster: "edge+hub"}}.controllerCluster())
}

func TestFilesForEtcdAreReadBeforeItIsAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(content string) string {
		name := filepath.Join(dir, rand.Text())
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
		return name
	}
	for _, c := range []struct {
		reason string
		change func(c *Config)
		says   string
	}{
		{"no password", func(c *Config) { c.EtcdUser, c.EtcdPasswordFile = "signpost", dir+"/none" }, "--etcd-password-file: open"},
		{"an empty one", func(c *Config) { c.EtcdUser, c.EtcdPasswordFile = "signpost", file("\n") }, "is empty"},
		{"no authority", func(c *Config) { c.EtcdCAFile = dir + "/none" }, "--etcd-ca-file: open"},
		{"an authority in another format", func(c *Config) { c.EtcdCAFile = file("DER") }, "holds no PEM certificate"},
		{"no certificate", func(c *Config) { c.EtcdCertFile, c.EtcdKeyFile = dir+"/none", file("k") }, "--etcd-cert-file and --etcd-key-file: open"},
		{"a key that is none", func(c *Config) { c.EtcdCertFile, c.EtcdKeyFile = file("c"), file("k") }, "--etcd-cert-file and --etcd-key-file: tls: "},
	} {
		config := external("https://127.0.0.1:1")
		c.change(&config)
		_, err := config.dialOptions()
		require.ErrorContains(t, err, c.says, c.reason)
	}
	config := external("https://127.0.0.1:1")
	config.EtcdUser, config.EtcdPasswordFile = "signpost", file("secret word\r\n")
	options, err := config.dialOptions()
	require.NoError(t, err)
	require.Equal(t, "secret word", options.Password, "without the end of its line")
}
