package resolvconf

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Queries are the queries of glibc's getaddrinfo for a name with these settings, in
// order, as in "www.example.com. A", if none of them finds anything. It sends none for an
// address, nor for an invalid name; /etc/hosts is ignored.
func Queries(c intent.PodDNSConfig, name string) []string {
	r := resolver{ndots: 1, types: []string{"A", "AAAA"}, attempts: 2}
	r.set(c.Options)
	if isAddress(name) || r.attempts <= 0 {
		return nil
	}
	var out []string
	for _, full := range r.names(c.Searches, name) {
		for _, t := range r.types {
			out = append(out, full+" "+t)
		}
	}
	return out
}

// resolver is what options tell glibc, as far as it changes what is asked.
type resolver struct {
	ndots      int
	types      []string
	attempts   int
	noTLDQuery bool // a name without dots is not asked for as it is
}

// maxNdots is the highest that glibc knows; it keeps four bits.
const maxNdots = 15

// set reads options; glibc looks at how flags begin.
func (r *resolver) set(options []intent.PodDNSOption) {
	for _, text := range optionTexts(options) {
		if value, ok := strings.CutPrefix(text, "ndots:"); ok {
			r.ndots = min(number(value), maxNdots) & maxNdots
		}
		if value, ok := strings.CutPrefix(text, "attempts:"); ok {
			r.attempts = number(value)
		}
		if strings.HasPrefix(text, "no-aaaa") {
			r.types = []string{"A"}
		}
		if strings.HasPrefix(text, "no-tld-query") || strings.HasPrefix(text, "no_tld_query") {
			r.noTLDQuery = true
		}
	}
}

// number reads digits as C does: as far as they go.
func number(text string) int {
	var n int
	_, _ = fmt.Sscanf(text, "%d", &n) // none: 0
	return n
}

// names are the full names that a name may stand for, in the order in which they
// are asked for.
func (r *resolver) names(searches []string, name string) []string {
	if strings.HasSuffix(name, ".") {
		return full(nil, name)
	}
	dots := strings.Count(name, ".")
	asIs := dots >= r.ndots
	var out []string
	if asIs {
		out = full(out, name)
	}
	for _, search := range searches {
		search = strings.TrimPrefix(search, ".")
		asIs = asIs || search == ""
		before := len(out)
		if out = full(out, name+"."+search); len(out) == before {
			break // a name that cannot be ends the search
		}
	}
	if !asIs && (dots > 0 || len(searches) == 0 || !r.noTLDQuery) {
		out = full(out, name)
	}
	return out
}

// Of a name, in characters.
const (
	maxName  = 253
	maxLabel = 63
)

// full appends a name with its dot at the end, if there can be such a name.
func full(names []string, name string) []string {
	if name == "." {
		return append(names, name) // the root
	}
	name = strings.TrimSuffix(name, ".")
	labels := strings.Split(name, ".")
	if len(name) > maxName || slices.ContainsFunc(labels, func(l string) bool { return l == "" || len(l) > maxLabel }) {
		return names
	}
	return append(names, name+".")
}

// Of an IPv4 address.
const (
	mostParts = 4
	partBits  = 8 // the last part has those of the parts that are missing, too
)

// isAddress says whether glibc reads a name as an address: of IPv6, or of IPv4 in one to
// four parts, each decimal, octal or hexadecimal.
func isAddress(name string) bool {
	if strings.Contains(name, ":") {
		_, err := netip.ParseAddr(name)
		return err == nil
	}
	parts := strings.Split(name, ".")
	if len(parts) > mostParts {
		return false
	}
	for i, part := range parts {
		bits := partBits
		if i == len(parts)-1 {
			bits = partBits * (mostParts + 1 - len(parts))
		}
		if !isNumber(part, bits) {
			return false
		}
	}
	return true
}

// isNumber says whether C reads all of a text as a number of so many bits.
func isNumber(text string, bits int) bool {
	digits, base := text, 10
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		digits, base = hex, 16
	} else if len(text) > 1 && text[0] == '0' {
		base = 8
	}
	_, err := strconv.ParseUint(digits, base, bits)
	return err == nil
}
