// Package marks reads and writes the TXT records by which external-dns' registry txt knows
// whose a record is.
package marks

import (
	"cmp"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// Marks are the marks of one provider.
type Marks struct{ shown externaldns.InDNS }

// For gives the marks of a provider. It fails if the provider marks its names by something
// else than readable TXT records.
func For(s publisher.Settings) (Marks, error) {
	owner := cmp.Or(externaldns.Value(s.Parameters, "txt-owner-id"), s.Owner)
	shown := externaldns.Shown(externaldns.Record{Provider: s.Provider, Parameters: s.Parameters}, owner)
	if shown.Owner == "" {
		return Marks{}, fault.Errorf(publisher.Invalid, "the built-in publisher marks names by registry txt, with an owner id and without encryption; take registry and txt-encrypt-enabled out of the parameters, or deploy external-dns")
	}
	return Marks{shown: shown}, nil
}

// Owner is the owner id.
func (m Marks) Owner() string { return m.shown.Owner }

// Name is the name of the TXT record that marks a name and type.
func (m Marks) Name(name, kind string) string { return m.shown.Mark(name, kind) }

// Assign gives each of the sets of a zone its mark. found has the marks of the zone, by the names of their TXT
// records. The name is as the provider has it, or as external-dns has it by default.
func (m Marks) Assign(sets []publisher.Set, found map[string]publisher.Mark) {
	for n, set := range sets {
		mark, is := found[m.Name(set.Name, set.Type)]
		if !is {
			mark = found[externaldns.InDNS{}.Mark(set.Name, set.Type)]
		}
		sets[n].Mark = mark
	}
}

// Text is the content of a mark, as external-dns writes it: with quotes.
func Text(mark publisher.Mark) string {
	text := "heritage=external-dns,external-dns/owner=" + mark.Owner
	if mark.Resource != "" {
		text += ",external-dns/resource=" + mark.Resource
	}
	return `"` + text + `"`
}

// Parse reads the content of a TXT record; ok is false if it is no mark. The owner
// of a mark may be empty.
func Parse(text string) (mark publisher.Mark, ok bool) {
	for part := range strings.SplitSeq(strings.Trim(text, `"`), ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "heritage":
			ok = value == "external-dns"
			if !ok {
				return publisher.Mark{}, false
			}
		case "external-dns/owner":
			mark.Owner = value
		case "external-dns/resource":
			mark.Resource = value
		}
	}
	return mark, ok
}
