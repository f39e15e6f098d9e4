package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
)

// Domain is a cluster's domain and what its nodes search besides.
type Domain struct {
	Name     string   // as in cluster.local
	Suffixes []string // host suffixes, without those that the domain implies
}

// Split divides a name that ends with a dot into the name that was asked for, with its
// dot, and the search paths to append. For names outside the cluster's search domains, ok
// is false. For a search domain, base is empty.
func (d *Domain) Split(name string) (base string, paths []string, ok bool) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	base, namespace, ok := autopath.Split(name, d.Name)
	if !ok {
		return "", nil, false
	}
	// A dot within a label, written \., is none that Split may divide at.
	domain := autopath.SearchDomain(namespace, d.Name)
	if base != "" && dns.CountLabel(base+".")+dns.CountLabel(domain+".") != dns.CountLabel(name+".") {
		return "", nil, false
	}
	paths, ok = d.Paths(namespace)
	if base != "" {
		base += "."
	}
	return base, paths, ok
}

// Paths are the search paths of a namespace, each once; ok is false for what
// no namespace is called.
func (d *Domain) Paths(namespace string) (paths []string, ok bool) {
	paths = autopath.Paths(namespace, d.Name, d.Suffixes...)
	own, err := autopath.Decode(autopath.Encode(paths[:1]))
	if err != nil || len(own) != 1 {
		return nil, false
	}
	return paths, true
}

// Exists tells whether a name of the zone, which ends with a dot, is a search
// domain of the cluster or an ancestor of one.
func (d *Domain) Exists(name string) bool {
	return autopath.Exists(strings.ToLower(strings.TrimSuffix(name, ".")), d.Name)
}

// AddSuffix makes nodes search one more domain, unless they do already. The
// error is of what is no domain, or of one too many.
func (d *Domain) AddSuffix(text string) error {
	suffix, err := parseDomain(text)
	if err != nil {
		return err
	}
	longest, ok := d.Paths(strings.Repeat("n", maxLabel))
	if !ok || slices.Contains(longest, suffix) {
		return nil
	}
	if _, err := autopath.Decode(autopath.Encode(append(longest, suffix))); err != nil {
		return fmt.Errorf("suffixes: %q: %w", text, err)
	}
	d.Suffixes = append(d.Suffixes, suffix)
	return nil
}

// maxLabel is how long the name of a namespace may be.
const maxLabel = 63

// parseDomain reads one domain into canonical form.
func parseDomain(text string) (string, error) {
	domains, err := autopath.Decode([]byte(text))
	if err != nil {
		return "", fmt.Errorf("%q is not a domain: %w", text, err)
	}
	if len(domains) != 1 {
		return "", fmt.Errorf("%q is not a domain: write several with spaces between them", text)
	}
	return domains[0], nil
}
