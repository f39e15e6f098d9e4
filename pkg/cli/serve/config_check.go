package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/dns/linter"
)

// checkConfig finds what is wrong with a configuration before anything is
// started. Its errors, which come all at once, name the flags.
func checkConfig(c app.Config) error {
	wrong := []error{c.Check()}
	if c.MongoURI != "" && !strings.HasPrefix(c.MongoURI, "mongodb://") && !strings.HasPrefix(c.MongoURI, "mongodb+srv://") {
		wrong = append(wrong, errors.New("--mongo-uri: must begin with mongodb:// or mongodb+srv://"))
	}
	for number, endpoint := range c.EtcdEndpoints {
		parsed, err := url.Parse(endpoint)
		if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
			wrong = append(wrong, fmt.Errorf("--etcd-endpoints: item %d is not a URL such as http://10.0.0.5:2379", number+1))
		}
	}
	if strings.Contains(c.ImageRegistry, "://") {
		wrong = append(wrong, errors.New("--image-registry: must be a host, as in registry.example, without a scheme"))
	}
	if c.DNSBinary != "" {
		_, err := linter.New(c.DNSBinary).Program()
		wrong = append(wrong, err)
	}
	var level slog.Level
	if level.UnmarshalText([]byte(c.LogLevel)) != nil {
		wrong = append(wrong, fmt.Errorf("--log-level: %q is unknown; give debug, info, warn or error", c.LogLevel))
	}
	if c.LogFormat != "text" && c.LogFormat != "json" {
		wrong = append(wrong, fmt.Errorf("--log-format: %q is unknown; give text or json", c.LogFormat))
	}
	return errors.Join(append(wrong,
		readable("--token-file", c.TokenFile), readable("--secret-key-file", c.SecretKeyFile), readable("--old-secret-key-file", c.OldSecretKeyFile), readable("--etcd-password-file", c.EtcdPasswordFile),
		readable("--etcd-ca-file", c.EtcdCAFile), readable("--etcd-cert-file", c.EtcdCertFile), readable("--etcd-key-file", c.EtcdKeyFile),
		readable("--policy-file", c.PolicyFile), readable("--oidc-ca-file", c.OIDC.CAFile),
		readable("--tls-cert", c.TLSCertFile), readable("--tls-key", c.TLSKeyFile), readable("--client-ca", c.ClientCAFile),
		readable("--grpc-tls-cert", c.GRPCCertFile), readable("--grpc-tls-key", c.GRPCKeyFile), readable("--grpc-client-ca", c.GRPCClientCAFile))...)
}

// readable refuses a file that is given but cannot be read.
func readable(flag, file string) error {
	if file == "" {
		return nil
	}
	opened, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return opened.Close()
}
