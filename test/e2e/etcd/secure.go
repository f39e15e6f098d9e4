package etcd

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/signpost-dns/signpost/test/e2e/process"
)

// Secure is an etcd server that speaks TLS alone, and only to those who show a
// certificate of its authority. Tokens of users last a second.
type Secure struct {
	*Server

	// CA, Cert and Key are files: the authority's certificate, and one for
	// clients, which names nobody, with its key.
	CA, Cert, Key string

	authority authority
}

// NewSecure prepares such a server, whose files are in dir.
func NewSecure(ctx context.Context, dir string, ports *process.Ports) (*Secure, error) {
	server, err := NewServer(ctx, dir, ports)
	if err != nil {
		return nil, err
	}
	s := &Secure{Server: server, CA: filepath.Join(dir, "ca.pem")}
	if s.authority, err = newAuthority(s.CA); err != nil {
		return nil, err
	}
	cert, key, err := s.authority.issue(filepath.Join(dir, "server"), "etcd")
	if err != nil {
		return nil, err
	}
	if s.Cert, s.Key, err = s.authority.issue(filepath.Join(dir, "client"), ""); err != nil {
		return nil, err
	}
	plain := s.URL
	s.URL = strings.Replace(plain, "http:", "https:", 1)
	for i, arg := range s.Args {
		if strings.Contains(arg, "client-urls=") {
			s.Args[i] = strings.Replace(arg, plain, s.URL, 1)
		}
	}
	s.Args = append(s.Args, "--client-cert-auth", "--trusted-ca-file="+s.CA, "--cert-file="+cert, "--key-file="+key, "--auth-token-ttl=1")
	s.Ready = func(ctx context.Context) error {
		return s.as(ctx, "", func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Get(ctx, "/ready")
			if errors.Is(err, rpctypes.ErrUserEmpty) || errors.Is(err, rpctypes.ErrPermissionDenied) {
				return nil // it has a leader, and asks who we are
			}
			return err
		})
	}
	return s, nil
}

// Certificate issues one that names a user, and answers its files.
func (s *Secure) Certificate(user string) (cert, key string, err error) {
	return s.authority.issue(filepath.Join(filepath.Dir(s.CA), user), user)
}

// RequireUser has the server serve nobody but root and this user, who may read
// and write what is below the prefixes.
func (s *Secure) RequireUser(ctx context.Context, user, password string, prefixes ...string) error {
	return s.as(ctx, "", func(ctx context.Context, c *clientv3.Client) error {
		_, rootErr := c.UserAdd(ctx, "root", "root")
		_, grantErr := c.UserGrantRole(ctx, "root", "root")
		_, roleErr := c.RoleAdd(ctx, user)
		errs := []error{rootErr, grantErr, roleErr}
		for _, prefix := range prefixes {
			_, err := c.RoleGrantPermission(ctx, user, prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite))
			errs = append(errs, err)
		}
		_, userErr := c.UserAdd(ctx, user, password)
		_, ownErr := c.UserGrantRole(ctx, user, user)
		_, enableErr := c.AuthEnable(ctx)
		return errors.Join(append(errs, userErr, ownErr, enableErr)...)
	})
}

// AsRoot does something over a connection of root.
func (s *Secure) AsRoot(ctx context.Context, do func(context.Context, *clientv3.Client) error) error {
	return s.as(ctx, "root", do)
}

// patience is how long something may take, users' passwords to be hashed too.
const patience = time.Minute

// as does something over a connection of a user whose password is the name,
// of nobody when it is empty.
func (s *Secure) as(ctx context.Context, user string, do func(context.Context, *clientv3.Client) error) error {
	config, err := s.TLS()
	if err != nil {
		return err
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{s.URL}, Username: user, Password: user, Logger: zap.NewNop(), DialTimeout: patience, TLS: config,
	})
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return errors.Join(do(limited, client), client.Close())
}

// TLS is what a client needs that names no user by its certificate.
func (s *Secure) TLS() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
	roots := x509.NewCertPool()
	roots.AddCert(s.authority.certificate)
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{pair}}, err
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(file string) (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return authority{}, err
	}
	certificate, err := x509.ParseCertificate(raw)
	return authority{certificate, key}, errors.Join(err, writePEM(file, "CERTIFICATE", raw))
}

// issue writes a certificate for loopback, of servers and of clients, and its
// key.
func (a authority) issue(base, name string) (cert, key string, err error) {
	cert, key = base+".pem", base+".key"
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.key)
	if err != nil {
		return "", "", err
	}
	rawKey, err := x509.MarshalECPrivateKey(private)
	return cert, key, errors.Join(err, writePEM(cert, "CERTIFICATE", raw), writePEM(key, "EC PRIVATE KEY", rawKey))
}

func writePEM(file, kind string, raw []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600)
}
