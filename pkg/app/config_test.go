package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// fits is a configuration that can be served.
func fits() Config {
	return Config{Listen: "127.0.0.1:0", GRPCListen: "127.0.0.1:0", DataDir: "data", LogLevel: "info", LogFormat: "text"}
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
		{"an address needs a port", func(c *Config) { c.Listen = "127.0.0.1" }, []string{"--listen", "host:port"}},
		{"an address is needed", func(c *Config) { c.GRPCListen = "" }, []string{"--grpc-listen", "host:port"}},
		{"a controller cluster", func(c *Config) { c.ControllerCluster = "edge+hub" }, nil},
		{"a controller cluster is two names", func(c *Config) { c.ControllerCluster = "hub" }, []string{"--controller-cluster", `"hub"`, "provider+cluster"}},
		{"its provider is named", func(c *Config) { c.ControllerCluster = "+hub" }, []string{"--controller-cluster", "provider+cluster"}},
		{"its cluster is named", func(c *Config) { c.ControllerCluster = "edge+" }, []string{"--controller-cluster", "provider+cluster"}},
		{"MongoDB needs a key that replicas share", func(c *Config) { c.MongoURI = "mongodb://a" }, []string{"--secret-key-file", "--mongo-uri"}},
		{"so does an external etcd", func(c *Config) { c.EtcdEndpoints = []string{"http://a:2379"} }, []string{"--secret-key-file", "--etcd-endpoints"}},
		{"with a key they fit", func(c *Config) { c.MongoURI, c.SecretKeyFile = "mongodb://a", "key" }, nil},
		{"the embedded etcd needs a place", func(c *Config) { c.DataDir = "" }, []string{"--data-dir"}},
		{"an external etcd alone does not do without", func(c *Config) {
			c.DataDir, c.EtcdEndpoints, c.SecretKeyFile = "", []string{"http://a:2379"}, "key"
		}, []string{"--data-dir"}},
		{"all of it elsewhere needs no place", func(c *Config) {
			c.DataDir, c.EtcdEndpoints, c.SecretKeyFile, c.DirectoryRoot = "", []string{"http://a:2379"}, "key", "clusters"
		}, nil},
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

func TestTheControllerClusterComesInParts(t *testing.T) {
	require.Nil(t, Config{}.controllerCluster())
	require.Equal(t, &intent.ClusterRef{ClusterProvider: "edge", Cluster: "hub"}, Config{ControllerCluster: "edge+hub"}.controllerCluster())
}
