package imports

import (
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/zone"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// recordSet is all values of a name and type.
type recordSet struct {
	ttl    int64
	longer int64 // another TTL that one of the values has; 0: none has
	values []string
}

// FromZone makes names of the records of a zone. Records that Signpost cannot publish as
// they are become findings.
func FromZone(source string, z zone.Zone) Result {
	result := Result{Source: source}
	sets := collect(z, &result)
	cuts := z.Cuts()
	owners := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		types := sets[name]
		if cut := cuts.Above(name); cut != "" {
			for _, kind := range slices.Sorted(maps.Keys(types)) {
				result.leave(name, kind, "lies in %s, which the zone delegates to other nameservers", cut)
			}
			continue
		}
		types = leaveOut(z, name, types, owners, &result)
		if cuts[name] {
			for _, kind := range slices.Sorted(maps.Keys(types)) {
				result.leave(name, kind, "belongs to the nameservers to which the zone delegates the name")
			}
			continue
		}
		if len(types) > 0 {
			take(name, types, &result)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(owners)) {
		result.Owners = append(result.Owners, Owner{ID: id, Marks: owners[id]})
	}
	result.finish()
	return result
}

// collect gathers the records by name and type.
func collect(z zone.Zone, result *Result) map[string]map[string]*recordSet {
	sets := map[string]map[string]*recordSet{}
	outside := map[string]bool{}
	for _, r := range z.Records {
		if z.Name != "" && r.Name != z.Name && !strings.HasSuffix(r.Name, "."+z.Name) {
			if !outside[r.Name] {
				outside[r.Name] = true
				result.leave(r.Name, "", "lies outside of the zone %s; import it from its own zone", z.Name)
			}
			continue
		}
		if sets[r.Name] == nil {
			sets[r.Name] = map[string]*recordSet{}
		}
		set := sets[r.Name][r.Type]
		if set == nil {
			set = &recordSet{ttl: r.TTL}
			sets[r.Name][r.Type] = set
		}
		if r.TTL != set.ttl {
			set.longer = max(set.ttl, r.TTL, set.longer)
		}
		set.ttl = min(set.ttl, r.TTL)
		set.values = append(set.values, r.Value)
	}
	for _, types := range sets {
		for _, set := range types {
			slices.Sort(set.values)
			set.values = slices.Compact(set.values)
		}
	}
	return sets
}

// leaveOut reports the records that stay with the zone, and returns the others.
func leaveOut(z zone.Zone, name string, types map[string]*recordSet, owners map[string]int, result *Result) map[string]*recordSet {
	kept := map[string]*recordSet{}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		set := types[kind]
		switch reason := z.Stays(name, kind); {
		case reason != "":
			result.leave(name, kind, "%s", reason)
		case kind == "TXT":
			if rest := withoutMarks(name, set, owners, result); rest != nil {
				kept[kind] = rest
			}
		default:
			kept[kind] = set
		}
	}
	return kept
}

// withoutMarks is a set of TXT records without those by which an external-dns marks a name
// as its own; nil if nothing remains.
func withoutMarks(name string, set *recordSet, owners map[string]int, result *Result) *recordSet {
	rest := &recordSet{ttl: set.ttl}
	for _, value := range set.values {
		id, mark := externaldns.OwnerOf(value)
		if !mark {
			rest.values = append(rest.values, value)
			continue
		}
		owners[id]++
		result.leave(name, "TXT", "is the mark of the external-dns with owner id %q; an adoption of that name replaces it", id)
	}
	if len(rest.values) == 0 {
		return nil
	}
	return rest
}

func take(name string, types map[string]*recordSet, result *Result) {
	host, err := hostname.CanonicalUnderscored(name)
	if err != nil {
		for _, kind := range slices.Sorted(maps.Keys(types)) {
			result.leave(name, kind, "%s", err)
		}
		return
	}
	taken := Name{Host: host}
	if alias := types["CNAME"]; alias != nil {
		takeAlias(&taken, alias, result)
		delete(types, "CNAME")
		for _, kind := range slices.Sorted(maps.Keys(types)) {
			result.leave(host, kind, "stands beside a CNAME, which DNS does not allow; correct the zone")
		}
	} else {
		takeAddresses(&taken, types, result)
	}
	if len(taken.Spec.Fixed())+len(taken.Spec.Records) > 0 {
		result.Names = append(result.Names, taken)
	}
}

func takeAlias(taken *Name, alias *recordSet, result *Result) {
	target, err := hostname.CanonicalUnderscored(alias.values[0])
	switch {
	case len(alias.values) > 1:
		result.leave(taken.Host, "CNAME", "has %d targets, and a CNAME has one; correct the zone", len(alias.values))
	case err != nil:
		result.leave(taken.Host, "CNAME", "leads to %s, which %s", alias.values[0], err)
	case target == taken.Host:
		result.leave(taken.Host, "CNAME", "leads to itself; correct the zone")
	default:
		taken.Spec.CNAME = target
		taken.takeTTL("CNAME", alias, result)
	}
}

// mostAddresses is how many fixed addresses a name may have.
const mostAddresses = 100

func takeAddresses(taken *Name, types map[string]*recordSet, result *Result) {
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		set := types[kind]
		if kind != "A" && kind != "AAAA" {
			takeRecords(taken, kind, set, result)
			continue
		}
		if len(taken.Spec.Addresses)+len(set.values) > mostAddresses {
			result.leave(taken.Host, kind, "has more than %d addresses, which is the most of a name", mostAddresses)
			continue
		}
		if old := taken.Spec.TTL; old != 0 && set.ttl != noTTL && old != set.ttl {
			result.change(taken.Host, kind, "the types have TTLs of %d and %d seconds; a name has one, the shorter", old, set.ttl)
		}
		taken.takeTTL(kind, set, result)
		for _, value := range set.values {
			if ip, err := netip.ParseAddr(value); err == nil {
				taken.Spec.Addresses = append(taken.Spec.Addresses, ip.Unmap().String())
			}
		}
	}
	slices.Sort(taken.Spec.Addresses)
	taken.Spec.Addresses = slices.Compact(taken.Spec.Addresses)
}

// takeRecords takes records of another type than those of addresses.
func takeRecords(taken *Name, kind string, set *recordSet, result *Result) {
	if !slices.Contains(externaldns.RecordTypes(), kind) {
		result.leave(taken.Host, kind, "records of type %s cannot be published by a name; they stay as they are", kind)
		return
	}
	if len(set.values) > mostAddresses {
		result.leave(taken.Host, kind, "has more than %d values, which is the most of a type", mostAddresses)
		return
	}
	records := intent.RecordSet{Type: kind, TTL: bounds(taken.Host, kind, set, result)}
	for _, value := range set.values {
		text, err := valueOf(kind, value)
		if err != nil {
			result.leave(taken.Host, kind, "has the value %s, which %s", value, err)
			return
		}
		records.Values = append(records.Values, text)
	}
	taken.Spec.Records = append(taken.Spec.Records, records)
}

// valueOf is a value of a zone as names have it.
func valueOf(kind, value string) (string, error) {
	if kind == "TXT" {
		text, err := zone.Unquote(value)
		if err == nil && strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
			err = errors.New("has characters other than printable ASCII; it stays as it is")
		}
		return text, err
	}
	return hostname.Value(kind, value)
}

// takeTTL sets the TTL of a name, the shorter of two.
func (n *Name) takeTTL(kind string, set *recordSet, result *Result) {
	ttl := bounds(n.Host, kind, set, result)
	if n.Spec.TTL == 0 || 0 < ttl && ttl < n.Spec.TTL {
		n.Spec.TTL = ttl
	}
}

const (
	longestTTL = 1<<31 - 1
	noTTL      = -1 // of a record whose source leaves the TTL to the DNS provider
)

// bounds is the TTL of a set, within those that names may have. It is 0 without a TTL.
func bounds(host, kind string, set *recordSet, result *Result) int64 {
	if set.longer > 0 {
		result.change(host, kind, "has records with TTLs of %d and %d seconds; all get the shorter one", set.ttl, set.longer)
	}
	switch {
	case set.ttl == noTTL:
		return 0
	case set.ttl == 0:
		result.change(host, kind, "has a TTL of 0 seconds, which a name cannot have; it gets 1 second")
		return 1
	case set.ttl > longestTTL:
		result.change(host, kind, "has a TTL of %d seconds, and gets %d", set.ttl, int64(longestTTL))
		return longestTTL
	}
	return set.ttl
}
