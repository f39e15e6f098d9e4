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
