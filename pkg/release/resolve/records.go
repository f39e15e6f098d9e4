package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// written are the records of a name as the provider's external-dns takes them, in a fixed
// order.
func (p Publishing) written(sets []intent.RecordSet) []intent.RecordSet {
	var out []intent.RecordSet
	for _, set := range sets {
		set.Values = slices.Clone(set.Values)
		for n, value := range set.Values {
			set.Values[n] = p.writtenValue(set.Type, value)
		}
		slices.Sort(set.Values)
		out = append(out, set)
	}
	slices.SortFunc(out, func(a, b intent.RecordSet) int { return strings.Compare(a.Type, b.Type) })
	return out
}

// writtenValue is a value as the publisher of the names takes it. If external-dns could not
// keep a text for the provider, the built-in publisher gets the text in quotes.
func (p Publishing) writtenValue(kind, value string) string {
	switch {
	case kind == "TXT" && p.builtIn && externaldns.UnwritableText(p.provider, value) != "":
		return externaldns.QuoteText(value)
	case kind == "TXT":
		return externaldns.WriteText(p.provider, value)
	case kind == "SRV" && p.Abilities.RootedSRV:
		return value + "."
	}
	return value
}

// lackingTypes are the types of a host's records that its provider cannot publish.
func (p Publishing) lackingTypes(host plan.Host) []lack {
	var out []lack
	for _, set := range host.Records {
		switch {
		case !slices.Contains(p.keeps, set.Type) && p.builtIn:
			out = append(out, lack{"/spec/records", "/spec/deployOn", fmt.Sprintf("the built-in publisher of provider %q (%s) writes no %s records; %s", p.path.Name(), p.provider, set.Type, externaldns.TypeAdvice(set.Type))})
		case !slices.Contains(p.keeps, set.Type):
			out = append(out, lack{"/spec/records", "/spec/provider", fmt.Sprintf("external-dns %s does not keep %s records for %s of provider %q; %s",
				p.version, set.Type, p.provider, p.path.Name(), externaldns.TypeAdvice(set.Type))})
		case p.builtIn:
		case !slices.Contains(p.Managed, set.Type):
			out = append(out, lack{"", "/spec/external-dns-parameters/managed-record-types", fmt.Sprintf("external-dns of provider %q ignores %s records; set managed-record-types to [%s, %[2]s], and update the provider if it is in use",
				p.path.Name(), set.Type, strings.Join(p.Managed, ", "))})
		case set.Type == "TXT":
			for _, value := range set.Values {
				if why := externaldns.UnwritableText(p.provider, externaldns.ReadText(value)); why != "" {
					out = append(out, lack{"/spec/records", "/spec/provider", fmt.Sprintf("%s of provider %q %s", p.provider, p.path.Name(), why)})
				}
			}
		}
	}
	return out
}
