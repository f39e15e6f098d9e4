package access

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"time"
)

// identity is what somebody has proven to be, before it is known what that is
// good for.
type identity struct {
	name   string
	groups []string
	claims []Grant // the roles that its token claims
}

// certified is who has shown a certificate that TLS has verified, and whether
// there is one: the certificate's common name, with its organizations as groups.
// Those that name what they are for by a URI alone, as in a service mesh, go by
// that; others without a common name by a DNS name or their number.
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
