package externaldns

import "fmt"

// behaviour is something that a release does otherwise than those before it.
type behaviour struct {
	since Version
	words string
}

func behaviours() []behaviour {
	return []behaviour{
		{V021, "targets that several DNSEndpoints give one name are merged; before, those of one were published"},
		{V022, "annotations begin with external-dns.kubernetes.io/, no longer with external-dns.alpha.kubernetes.io/"},
		{V022, "a policy has to be given; Signpost always gives one"},
	}
}

// Upgrade tells in words what a change of version alters for a record: flags
// that have another name, then behaviour that came, or went. Empty when the
// versions are the same.
func Upgrade(record Record, from, to Version) []string {
	var words []string
	r, before, after := understand(record), Options{Version: from}, Options{Version: to}
	for _, name := range r.names() {
		if v := r.values[name]; !v.idle {
			former, had := before.nameOf(r, v.flag)
			current, has := after.nameOf(r, v.flag)
			if had && has && former != current {
				words = append(words, fmt.Sprintf("external-dns %s has --%s in place of --%s of %s", to, current, former, from))
			}
		}
	}
	for _, b := range behaviours() {
		switch {
		case from < b.since && b.since <= to:
			words = append(words, fmt.Sprintf("from external-dns %s on, %s", b.since, b.words))
		case to < b.since && b.since <= from:
			words = append(words, fmt.Sprintf("external-dns %s goes back behind %s, from which on %s", to, b.since, b.words))
		}
	}
	return words
}
