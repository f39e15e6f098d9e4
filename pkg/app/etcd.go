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

	"github.com/signpost-dns/signpost/pkg/storage/documents/mongo"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// checkEtcd finds what cannot work together in how an external etcd is
// reached. It reads no file.
func (s Stores) checkEtcd() error {
	secure := 0
	for _, endpoint := range s.EtcdEndpoints {
		if strings.HasPrefix(endpoint, "https://") {
			secure++
		}
	}
	flag, file := s.etcdFile()
	switch {
	case len(s.EtcdEndpoints) == 0 && s.EtcdUser+s.EtcdPasswordFile+file != "":
		return errors.New("--etcd-user, --etcd-password-file, --etcd-ca-file, --etcd-cert-file and --etcd-key-file are for an external etcd: give --etcd-endpoints, too")
	case secure > 0 && secure < len(s.EtcdEndpoints):
		return errors.New("--etcd-endpoints: give all as https:// or none")
	case secure == 0 && file != "":
		return fmt.Errorf("%s needs TLS: give --etcd-endpoints as https://", flag)
	case (s.EtcdUser == "") != (s.EtcdPasswordFile == ""):
		return errors.New("--etcd-user and --etcd-password-file belong together: give both or none")
	case s.EtcdUser != "" && slices.ContainsFunc(s.EtcdEndpoints, inPlain):
		return errors.New("--etcd-user: the password would cross the network in plain text; give --etcd-endpoints as https:// (http:// is for loopback alone)")
	case (s.EtcdCertFile == "") != (s.EtcdKeyFile == ""):
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
func (s Stores) etcdFile() (flag, file string) {
	switch {
	case s.EtcdCAFile != "":
		return "--etcd-ca-file", s.EtcdCAFile
	case s.EtcdCertFile != "":
		return "--etcd-cert-file", s.EtcdCertFile
	}
	return "--etcd-key-file", s.EtcdKeyFile
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
func (s Stores) unreachable(err error) error {
	help := ""
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &unknown):
		help = "; --etcd-ca-file is for the authority that has signed etcd's certificate"
	case errors.Is(err, etcd.ErrTLSRefused) && s.EtcdCertFile == "":
		help = "; if it asks for a certificate, give one with --etcd-cert-file and --etcd-key-file"
	case errors.Is(err, etcd.ErrTLSRefused):
		help = "; etcd may not accept the certificate of --etcd-cert-file"
	}
	return fmt.Errorf("--etcd-endpoints: %w%s", err, help)
}

// dialOptions say how to reach the external etcd. It fails on files that
// cannot be read or hold something else.
func (s Stores) dialOptions() (etcd.DialOptions, error) {
	options := etcd.DialOptions{Endpoints: s.EtcdEndpoints, Username: s.EtcdUser}
	if s.EtcdUser != "" {
		content, err := os.ReadFile(s.EtcdPasswordFile)
		if err != nil {
			return options, fmt.Errorf("--etcd-password-file: %w", err)
		}
		if options.Password = strings.TrimRight(string(content), "\r\n"); options.Password == "" {
			return options, fmt.Errorf("--etcd-password-file: %s is empty", s.EtcdPasswordFile)
		}
	}
	if _, file := s.etcdFile(); file == "" {
		return options, nil
	}
	options.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if s.EtcdCAFile != "" {
		authorities, err := readAuthorities("--etcd-ca-file", s.EtcdCAFile)
		if err != nil {
			return options, err
		}
		options.TLS.RootCAs = authorities
	}
	if s.EtcdCertFile == "" {
		return options, nil
	}
	// Read again for each connection: certificates are renewed.
	options.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return s.etcdCertificate()
	}
	_, err := s.etcdCertificate()
	return options, err
}

// etcdCertificate is what Signpost shows to etcd.
func (s Stores) etcdCertificate() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(s.EtcdCertFile, s.EtcdKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--etcd-cert-file and --etcd-key-file: %w", err)
	}
	return &pair, nil
}

// storeAddresses are the addresses (HOST:PORT) of Signpost's own stores. The embedded etcd
// has none.
func (c Config) storeAddresses() []string {
	var out []string
	for _, endpoint := range c.EtcdEndpoints {
		if at, err := url.Parse(endpoint); err == nil && at.Host != "" {
			out = append(out, at.Host)
		}
	}
	if c.MongoURI != "" {
		out = append(out, mongo.Addresses(c.MongoURI)...)
	}
	return out
}
