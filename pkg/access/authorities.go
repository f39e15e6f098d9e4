package access

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// authorities are those whose signature on certificates counts.
type authorities struct {
	pool  *x509.CertPool
	known map[string]bool // their certificates, as they are encoded
}

// trust tells whether a certificate that TLS has verified still counts, on a
// connection that may have begun when there were other authorities.
func (a authorities) trust(state *tls.ConnectionState) bool {
	for _, chain := range state.VerifiedChains {
		if a.known[string(chain[len(chain)-1].Raw)] {
			return true
		}
	}
	chain := state.VerifiedChains[0] // an authority may have renewed its certificate
	between := x509.NewCertPool()
	for _, certificate := range chain[1:] {
		between.AddCert(certificate)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots: a.pool, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err == nil
}

// readAuthorities reads a file of certificates in PEM.
func readAuthorities(file string) (*x509.CertPool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	read, err := parseAuthorities(content)
	if err != nil {
		return nil, fmt.Errorf("%s%w", file, err)
	}
	return read.pool, nil
}

const (
	beginCertificate = "-----BEGIN CERTIFICATE-----"
	endCertificate   = "-----END CERTIFICATE-----"
)

// ofDamaged is what a line of a certificate looks like that has lost its first or
// its last one.
var ofDamaged = regexp.MustCompile(`-{5}|^[A-Za-z0-9+/]{40,}={0,2}$`)

// parseAuthorities reads certificates in PEM. Text may stand between certificates, as RFC
// 7468 has it. A damaged certificate would be missed, so anything that may be one is an
// error that names the line.
func parseAuthorities(content []byte) (authorities, error) {
	all := authorities{pool: x509.NewCertPool(), known: map[string]bool{}}
	var block strings.Builder
	number, began := 0, 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case began == 0 && line == beginCertificate:
			began = number
		case began == 0 && ofDamaged.MatchString(line):
			return all, fmt.Errorf(", line %d: belongs to no PEM certificate; remove it", number)
		case began == 0:
			continue
		case strings.HasPrefix(line, "-----") && line != endCertificate:
			return all, endless(began)
		}
		block.WriteString(line + "\n")
		if line != endCertificate {
			continue
		}
		if err := all.add(block.String()); err != nil {
			return all, fmt.Errorf(", line %d: the certificate is damaged: %w", began, err)
		}
		block.Reset()
		began = 0
	}
	switch {
	case began > 0:
		return all, endless(began)
	case len(all.known) == 0:
		return all, errors.New(" holds no PEM certificate")
	}
	return all, nil
}

func endless(line int) error {
	return fmt.Errorf(", line %d: the certificate has no end line, which is %s", line, endCertificate)
}

// add takes a certificate in PEM.
func (a authorities) add(text string) error {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return errors.New("it is not PEM")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err
	}
	a.pool.AddCert(certificate)
	a.known[string(certificate.Raw)] = true
	return nil
}

// identity is what somebody has proven to be, before it is known what that is
// good for.
type identity struct {
	name   string
	groups []string
	claims []Grant // the roles that its token claims
}

// certified returns the subject of a certificate that TLS has verified, and whether there
// is one: the common name, with the organizations as groups. A certificate that names its
// purpose only by a URI, as in a service mesh, has the URI as its subject. Others without
// a common name have a DNS name or their number.
func certified(state *tls.ConnectionState) (leaf *x509.Certificate, who identity) {
	if state == nil || len(state.VerifiedChains) == 0 {
		return nil, identity{}
	}
	leaf = state.VerifiedChains[0][0]
	name := leaf.Subject.CommonName
	if name == "" && len(leaf.URIs) > 0 {
		name = leaf.URIs[0].String()
	}
	if name == "" && len(leaf.DNSNames) > 0 {
		name = leaf.DNSNames[0]
	}
	who.name = ofCertificate + cmp.Or(name, "number "+leaf.SerialNumber.String())
	for _, organization := range leaf.Subject.Organization {
		who.groups = append(who.groups, ofCertificate+organization)
	}
	return leaf, who
}

// expired tells whether a certificate has come to its end since the connection
// began.
func expired(leaf *x509.Certificate, now time.Time) bool { return now.After(leaf.NotAfter) }
