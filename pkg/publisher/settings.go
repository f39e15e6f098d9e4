package publisher

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
)

// Settings are what a Writer is opened with.
type Settings struct {
	Provider   string                 // one with a Writer
	Parameters externaldns.Parameters // the provider's, as external-dns names them
	Owner      string                 // the txt-owner-id, unless Parameters set one

	// Environment are the variables of the provider with their values: ETCD_URLS and the
	// like, and those of secret parameters, such as EXTERNAL_DNS_RFC2136_TSIG_SECRET.
	Environment map[string]string

	// Files are the contents of the provider's credentials by their paths, for parameters and
	// variables that name a file. Nothing is read from the disk.
	Files map[string][]byte

	// Now is the clock that requests are signed by. Without it, that is the machine's.
	Now func() time.Time

	// Dial connects to the provider's servers, and to nothing else: guard.Dialer.Dial.
	Dial Dial
}

// Dial connects to an address (HOST:PORT) of a zone; the zone is empty if the connection is
// for several.
type Dial func(ctx context.Context, network, address, zone string) (net.Conn, error)

// TLS gives a configuration the CA certificates, and the certificate with its key, of those of Files that are named. The names of
// the settings that name them are for errors.
func (s Settings) TLS(config *tls.Config, ca, certificate, key FileSetting) error {
	if ca.Path != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(s.Files[ca.Path]) {
			return fault.Errorf(Invalid, "%s names %s, and no credential of the provider has certificates under that path", ca.Name, ca.Path)
		}
	}
	if certificate.Path == "" && key.Path == "" {
		return nil
	}
	pair, err := tls.X509KeyPair(s.Files[certificate.Path], s.Files[key.Path])
	if err != nil {
		return fault.Errorf(Invalid, "%s and %s have to name credentials of the provider, a certificate and its key", certificate.Name, key.Name)
	}
	config.Certificates = []tls.Certificate{pair}
	return nil
}

// FileSetting is a parameter or a variable that names a file; its path may be empty.
type FileSetting struct{ Name, Path string }

// String hides the values of secrets, so that no log shows them.
func (s Settings) String() string { return "publisher of " + s.Provider + ", owner " + s.Owner }

// GoString hides the values of secrets, so that no %#v shows them.
func (s Settings) GoString() string { return s.String() }
