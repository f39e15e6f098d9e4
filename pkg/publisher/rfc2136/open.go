// Package rfc2136 writes names by dynamic updates (RFC 2136), as BIND and others take
// them. Records and marks are those of external-dns' provider rfc2136.
package rfc2136

import (
	"cmp"
	"crypto/tls"
	"encoding/base64"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

// Writer writes names to the servers of one provider.
type Writer struct {
	servers []string // HOST:PORT, in the provider's order
	zones   []string // with a final dot, the longest first
	marks   marks.Marks
	minimum int64 // the least TTL in seconds, which marks have
	key     key
	tls     *tls.Config // nil: without TLS
	dial    publisher.Dial
	now     func() time.Time
	current atomic.Int32 // the server that answered last
}

// key signs messages; without a name they are not signed.
type key struct {
	name, algorithm string
	secrets         map[string]string
}

// Open makes a Writer of a provider's settings. It connects for each message.
func Open(s publisher.Settings) (*Writer, error) {
	m, err := marks.For(s)
	if err != nil {
		return nil, err
	}
	if on(s, "rfc2136-gss-tsig") {
		return nil, fault.Errorf(publisher.Invalid, "rfc2136-gss-tsig needs a Deployment of external-dns; the built-in publisher signs by TSIG keys")
	}
	w := &Writer{marks: m, dial: s.Dial, now: s.Now, servers: servers(s)}
	if w.now == nil {
		w.now = time.Now
	}
	if len(w.servers) == 0 {
		return nil, fault.Errorf(publisher.Invalid, "rfc2136-host is missing: provider rfc2136 needs at least one")
	}
	if w.zones = zones(s); len(w.zones) == 0 {
		return nil, fault.Errorf(publisher.Invalid, "rfc2136-zone is missing: provider rfc2136 needs at least one")
	}
	minimum, err := time.ParseDuration(cmp.Or(externaldns.Value(s.Parameters, "rfc2136-min-ttl"), "0s"))
	if err != nil {
		return nil, fault.Errorf(publisher.Invalid, "rfc2136-min-ttl: %v", err)
	}
	w.minimum = int64(minimum.Seconds())
	if w.key, err = keyOf(s); err != nil {
		return nil, err
	}
	if w.tls, err = tlsOf(s); err != nil {
		return nil, err
	}
	return w, nil
}

// Close does nothing: no connection stays open between two messages.
func (w *Writer) Close() {}

// on tells whether a parameter is true.
func on(s publisher.Settings, parameter string) bool {
	return externaldns.Value(s.Parameters, parameter) == "true"
}

// Servers are those that the settings name, each for each of the zones.
func Servers(s publisher.Settings) []publisher.Server {
	var all []publisher.Server
	for _, server := range servers(s) {
		for _, zone := range zones(s) {
			all = append(all, publisher.Server{Address: server, Scope: zone, Field: "external-dns-parameters/rfc2136-host"})
		}
	}
	return all
}

// servers are the addresses of the hosts.
func servers(s publisher.Settings) []string {
	var all []string
	for _, host := range externaldns.Values(s.Parameters, "rfc2136-host") {
		all = append(all, net.JoinHostPort(host, cmp.Or(externaldns.Value(s.Parameters, "rfc2136-port"), "53")))
	}
	return all
}

// zones are those given, or else the domains that the provider manages.
func zones(s publisher.Settings) []string {
	given := externaldns.Values(s.Parameters, "rfc2136-zone")
	if len(given) == 0 {
		given = externaldns.Values(s.Parameters, "domain-filter")
	}
	var all []string
	for _, zone := range given {
		all = append(all, dns.Fqdn(strings.ToLower(strings.TrimPrefix(zone, "."))))
	}
	slices.SortStableFunc(all, func(a, b string) int { return dns.CountLabel(b) - dns.CountLabel(a) })
	return all
}

// zoneOf is the zone that a name lies in.
func (w *Writer) zoneOf(name string) (string, error) {
	for _, zone := range w.zones {
		if dns.IsSubDomain(zone, dns.Fqdn(name)) {
			return zone, nil
		}
	}
	return "", fault.Errorf(publisher.Invalid, "%s is in none of the zones %s; add its zone to rfc2136-zone", name, strings.Join(w.zones, ", "))
}

// keyOf is the key by which messages are signed.
func keyOf(s publisher.Settings) (key, error) {
	if on(s, "rfc2136-insecure") {
		return key{}, nil
	}
	name, secret := externaldns.Value(s.Parameters, "rfc2136-tsig-keyname"), s.Environment["EXTERNAL_DNS_RFC2136_TSIG_SECRET"]
	if name == "" || secret == "" {
		return key{}, fault.Errorf(publisher.Invalid, "rfc2136-tsig-keyname and rfc2136-tsig-secret are missing: signed updates need both; give them, or set rfc2136-insecure")
	}
	if _, err := base64.StdEncoding.DecodeString(secret); err != nil {
		return key{}, fault.Errorf(publisher.Invalid, "rfc2136-tsig-secret is not in base64, as TSIG keys are")
	}
	name = dns.CanonicalName(name)
	algorithm := dns.Fqdn(cmp.Or(externaldns.Value(s.Parameters, "rfc2136-tsig-secret-alg"), "hmac-sha256"))
	return key{name: name, algorithm: algorithm, secrets: map[string]string{name: secret}}, nil
}

// tlsOf is how connections are encrypted, nil if they are not. Certificates are of the
// provider's credentials, and never from the disk.
func tlsOf(s publisher.Settings) (*tls.Config, error) {
	if !on(s, "rfc2136-use-tls") {
		return nil, nil
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"dot"},
		InsecureSkipVerify: on(s, "rfc2136-skip-tls-verify"), //nolint:gosec // the provider says so, as for external-dns
	}
	file := func(parameter string) publisher.FileSetting {
		return publisher.FileSetting{Name: parameter, Path: externaldns.Value(s.Parameters, parameter)}
	}
	return config, s.TLS(config, file("tls-ca"), file("tls-client-cert"), file("tls-client-cert-key"))
}
