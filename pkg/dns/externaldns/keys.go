package externaldns

import (
	"slices"
	"strings"
)

// defaultKeyPrefix is external-dns' own, and the path of CoreDNS' etcd plugin where
// that is not configured. As a part of a name it is defaultPath.
const (
	defaultKeyPrefix = "/skydns/"
	defaultPath      = ".skydns"
)

// NamesBelow is the etcd path where a provider keeps its names, with a slash on both
// sides; empty if names are not keys. The arguments that a user adds by hand are extra.
func NamesBelow(provider string, parameters Parameters, extra []string) string {
	const flag = "coredns-prefix"
	if !loadTable().provider(provider).keys {
		return ""
	}
	for _, argument := range slices.Backward(extra) { // of a record from before this flag was judged
		if text, given := strings.CutPrefix(argument, "--"+flag+"="); given && text != "" {
			return readKeyPrefix(text).text
		}
	}
	if prefix := Value(parameters, flag); prefix != "" {
		return prefix
	}
	return defaultKeyPrefix
}

// Seen is a host name as resolvers see it.
//
// A key of etcd is a prefix and the labels of a name, from the last to the first.
// CoreDNS takes the first parts of a key for its own path, and the others for the name:
// the host x.www.bakery below /skydns/example/ is x.www.bakery.example at a CoreDNS with
// path /skydns, and x.www.bakery at one with /skydns/example.
type Seen struct {
	Host  string // as external-dns is given it
	Name  string // at a CoreDNS whose path is the first part of the prefix
	Whole string // of the whole key, without the default path: two hosts have one key of etcd if it is the same
}

// SeenAs is how resolvers see a host name, in canonical form, below a key prefix.
// Without a prefix they see it as it is.
func SeenAs(prefix, host string) Seen {
	seen := Seen{Host: host, Name: host, Whole: host}
	if parts := keyParts(prefix); len(parts) > 0 {
		seen.Name, seen.Whole = under(host, parts[1:]), under(host, parts)
	}
	if prefix != "" {
		seen.Whole = strings.TrimSuffix(seen.Whole, defaultPath)
	}
	return seen
}

// Claims are the names by which a host name is claimed, the host name first.
func (s Seen) Claims() []string {
	names := []string{s.Host}
	for _, name := range []string{s.Name, s.Whole} {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Names are all names by which some CoreDNS may answer for a host name below a key
// prefix, the host name first.
func Names(prefix, host string) []string {
	parts, names := keyParts(prefix), []string{host}
	for n := len(parts) - 1; n > 0; n-- {
		names = append(names, under(host, parts[n:]))
	}
	if whole := SeenAs(prefix, host).Whole; !slices.Contains(names, whole) {
		names = append(names, whole)
	}
	return names
}

func keyParts(prefix string) []string {
	return strings.FieldsFunc(strings.ToLower(prefix), func(r rune) bool { return r == '/' })
}

// under is a host name with the parts of a key prefix behind it.
func under(host string, parts []string) string {
	for _, part := range slices.Backward(parts) {
		host += "." + part
	}
	return host
}
