// Package guard decides which servers of projects Signpost itself may connect to: DNS
// servers, and addresses that it probes. They are data of projects, and Signpost runs
// where its stores and the metadata of clouds are near. Addresses are judged after
// resolution, at each dial.
package guard

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// The flags that have rules.
const (
	Servers = "--publisher-servers" // for built-in publishers
	Probes  = "--probe-targets"     // for probes of addresses
)

// Rule allows connections to some servers.
type Rule struct {
	name   string       // a host name; empty: prefix decides
	prefix netip.Prefix // of addresses
	port   uint16       // 0: all
	scope  string       // a zone, or a prefix of keys if it begins with a slash; empty: all
}

// Rules are what an administrator allows. Without any Rule all public addresses are allowed,
// else those alone that a Rule names.
type Rules []Rule

// Parse reads rules of a flag, of the form HOST[:PORT][=PREFIX-OR-ZONE]. HOST is a name, an address or a
// CIDR; an IPv6 address before a port stands in brackets.
func Parse(flag string, texts []string) (Rules, error) {
	var rules Rules
	for _, text := range texts {
		rule, err := parse(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w; write HOST[:PORT][=PREFIX-OR-ZONE], as in 10.0.0.0/8:53=corp.example", flag, text, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func parse(text string) (Rule, error) {
	server, scope, scoped := strings.Cut(text, "=")
	host, port, err := splitPort(server)
	if err != nil {
		return Rule{}, err
	}
	rule := Rule{port: port, scope: canonicalScope(scope)}
	if scoped && rule.scope == "" {
		return Rule{}, fmt.Errorf("nothing follows the equals sign")
	}
	if strings.Contains(host, "/") {
		prefix, err := netip.ParsePrefix(host)
		if err != nil {
			return Rule{}, fmt.Errorf("%q is not a CIDR", host)
		}
		if prefix.Masked() != prefix {
			return Rule{}, fmt.Errorf("%s has bits beyond its length; the network is %s", prefix, prefix.Masked())
		}
		rule.prefix = unmapped(prefix)
		return rule, nil
	}
	if address, err := netip.ParseAddr(host); err == nil {
		if address.Zone() != "" {
			return Rule{}, fmt.Errorf("%s has a zone of its own", address)
		}
		address = address.Unmap()
		rule.prefix = netip.PrefixFrom(address, address.BitLen())
		return rule, nil
	}
	rule.name = canonicalHost(host)
	if !isHostName(rule.name) {
		return Rule{}, fmt.Errorf("%q is no host name, address or CIDR", host)
	}
	return rule, nil
}

// unmapped gives a CIDR of IPv4 that is written in IPv6 its own form.
func unmapped(prefix netip.Prefix) netip.Prefix {
	const before = 96 // the bits of an IPv6 address before the IPv4 address in it
	if prefix.Addr().Is4In6() && prefix.Bits() >= before {
		return netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-before)
	}
	return prefix
}

// splitPort parts HOST[:PORT], where HOST may have colons of its own.
func splitPort(server string) (host string, port uint16, err error) {
	if inner, ok := strings.CutPrefix(server, "["); ok {
		host, rest, closed := strings.Cut(inner, "]")
		if !closed {
			return "", 0, fmt.Errorf("a bracket is not closed")
		}
		if rest == "" {
			return host, 0, nil
		}
		text, colon := strings.CutPrefix(rest, ":")
		if !colon {
			return "", 0, fmt.Errorf("%q follows the bracket", rest)
		}
		port, err = parsePort(text)
		return host, port, err
	}
	if strings.Count(server, ":") != 1 {
		return server, 0, nil
	}
	host, text, _ := strings.Cut(server, ":")
	port, err = parsePort(text)
	return host, port, err
}

func parsePort(text string) (uint16, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("%q is not a port from 1 to 65535", text)
	}
	return uint16(port), nil
}

func canonicalHost(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// canonicalScope is a zone without a final dot, or a prefix of keys between slashes.
func canonicalScope(scope string) string {
	if strings.HasPrefix(scope, "/") {
		return "/" + strings.Trim(scope, "/") + "/"
	}
	return canonicalHost(scope)
}

func isHostName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	letters := false
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			isLetter := r >= 'a' && r <= 'z' || r == '_'
			if !isLetter && r != '-' && (r < '0' || r > '9') {
				return false
			}
			letters = letters || isLetter
		}
	}
	return letters
}

// target is a server as a connection names it, at one of its addresses.
type target struct {
	host    string // as the project wrote it, canonical
	address netip.Addr
	port    uint16
	scope   string
}

func (t target) String() string {
	at := net.JoinHostPort(t.address.String(), strconv.Itoa(int(t.port)))
	if t.host == t.address.String() {
		return at
	}
	return t.host + " (" + at + ")"
}

// judge tells why a target may not be dialled; nil: it may be.
func (r Rules) judge(t target, flag string) error {
	why := special(t.address)
	for _, rule := range r {
		if rule.allows(t) && (!neverByWideRule(t.address) || rule.names(t.address)) {
			return nil
		}
	}
	switch {
	case why == "" && len(r) == 0:
		return nil
	case why == "":
		return fault.Errorf(publisher.Forbidden, "%s is not listed; an administrator allows it by %s %s", t, flag, t.suggestion())
	default:
		return fault.Errorf(publisher.Forbidden, "%s is %s; an administrator allows it by %s %s", t, why, flag, t.suggestion())
	}
}

func (t target) suggestion() string {
	return net.JoinHostPort(t.address.String(), strconv.Itoa(int(t.port)))
}

// allows tells whether the rule is about the target.
func (r Rule) allows(t target) bool {
	if r.port != 0 && r.port != t.port || !r.covers(t.scope) {
		return false
	}
	if r.name != "" {
		return r.name == t.host
	}
	return r.prefix.Contains(t.address)
}

// names tells whether the rule is about addresses of clouds' metadata alone.
func (r Rule) names(address netip.Addr) bool {
	if r.name != "" {
		return false
	}
	return r.prefix.IsSingleIP() || address.IsLinkLocalUnicast() && r.prefix.Addr().IsLinkLocalUnicast() && r.prefix.Bits() >= 10
}

// covers tells whether a zone, or a prefix of keys, lies in the rule's.
func (r Rule) covers(scope string) bool {
	switch {
	case r.scope == "":
		return true
	case strings.HasPrefix(r.scope, "/"):
		return strings.HasPrefix(scope, r.scope)
	default:
		return scope == r.scope || strings.HasSuffix(scope, "."+r.scope)
	}
}
