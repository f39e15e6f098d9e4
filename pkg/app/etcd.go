package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// checkEtcd finds what cannot work together in how an external etcd is
// reached. It reads no file.
func (c Config) checkEtcd() error {
	secure := 0
	for _, endpoint := range c.EtcdEndpoints {
		if strings.HasPrefix(endpoint, "https://") {
			secure++
		}
	}
	flag, file := c.etcdFile()
	switch {
	case len(c.EtcdEndpoints) == 0 && c.EtcdUser+c.EtcdPasswordFile+file != "":
		return errors.New("--etcd-user, --etcd-password-file, --etcd-ca-file, --etcd-cert-file and --etcd-key-file are for an external etcd: give --etcd-endpoints, too")
	case secure > 0 && secure < len(c.EtcdEndpoints):
		return errors.New("--etcd-endpoints: give all as https:// or none")
	case secure == 0 && file != "":
		return fmt.Errorf("%s is for TLS: give --etcd-endpoints as https://", flag)
	case (c.EtcdUser == "") != (c.EtcdPasswordFile == ""):
		return errors.New("--etcd-user and --etcd-password-file belong together: give both or none")
	case c.EtcdUser != "" && slices.ContainsFunc(c.EtcdEndpoints, inPlain):
		return errors.New("--etcd-user: the password would cross the network in plain text; give --etcd-endpoints as https:// (http:// is for loopback alone)")
	case (c.EtcdCertFile == "") != (c.EtcdKeyFile == ""):
		return errors.New("--etcd-cert-file and --etcd-key-file belong together: give both or none")
	}
	return nil
}

// inPlain says whether others can read what goes to an endpoint.
func inPlain(endpoint string) bool {
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" { // host:port, which is without TLS
		at = &url.URL{Host: endpoint}
	}
	return at.Scheme != "https" && !loopback(at.Hostname())
}

// etcdFile is a flag for TLS that is given, and its file; empty for none.
func (c Config) etcdFile() (flag, file string) {
	switch {
	case c.EtcdCAFile != "":
		return "--etcd-ca-file", c.EtcdCAFile
	case c.EtcdCertFile != "":
		return "--etcd-cert-file", c.EtcdCertFile
	}
	return "--etcd-key-file", c.EtcdKeyFile
}

// dialEtcd connects to the external etcd, and fails when that does not answer.
func dialEtcd(ctx context.Context, c Config) (*etcd.KV, error) {
	options, err := c.dialOptions()
	if err != nil {
		return nil, err
	}
	external, err := etcd.Dial(options)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if err := external.Ping(ctx); err != nil {
		return nil, errors.Join(c.unreachable(err), external.Close())
	}
	return external, nil
}

// unreachable names the flags that may help when etcd cannot be reached.
func (c Config) unreachable(err error) error {
	help := ""
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &unknown):
		help = "; --etcd-ca-file is for the authority that has signed etcd's certificate"
	case errors.Is(err, etcd.ErrTLSRefused) && c.EtcdCertFile == "":
		help = "; if it asks for a certificate, give one with --etcd-cert-file and --etcd-key-file"
	case errors.Is(err, etcd.ErrTLSRefused):
		help = "; etcd may not accept the certificate of --etcd-cert-file"
	}
	return fmt.Errorf("--etcd-endpoints: %w%s", err, help)
}

// dialOptions say how to reach the external etcd. It fails on files that
// cannot be read or hold something else.
func (c Config) dialOptions() (etcd.DialOptions, error) {
	options := etcd.DialOptions{Endpoints: c.EtcdEndpoints, Username: c.EtcdUser}
	if c.EtcdUser != "" {
		content, err := os.ReadFile(c.EtcdPasswordFile)
		if err != nil {
			return options, fmt.Errorf("--etcd-password-file: %w", err)
		}
		if options.Password = strings.TrimRight(string(content), "\r\n"); options.Password == "" {
			return options, fmt.Errorf("--etcd-password-file: %s is empty", c.EtcdPasswordFile)
		}
	}
	if _, file := c.etcdFile(); file == "" {
		return options, nil
	}
	options.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if c.EtcdCAFile != "" {
		authorities, err := readAuthorities("--etcd-ca-file", c.EtcdCAFile)
		if err != nil {
			return options, err
		}
		options.TLS.RootCAs = authorities
	}
	if c.EtcdCertFile == "" {
		return options, nil
	}
	// Read again for each connection: certificates are renewed.
	options.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return c.etcdCertificate()
	}
	_, err := c.etcdCertificate()
	return options, err
}

// etcdCertificate is what Signpost shows to etcd.
func (c Config) etcdCertificate() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.EtcdCertFile, c.EtcdKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--etcd-cert-file and --etcd-key-file: %w", err)
	}
	return &pair, nil
}
