package externaldns

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// Kind is what a flag's value must look like.
type Kind string

// The kinds of values.
const (
	Text      Kind = "text"            // any text without control characters
	Bool      Kind = "boolean"         // rendered as --x or --no-x
	Integer   Kind = "integer"         // whole number within the row's bounds
	Duration  Kind = "duration"        // Go notation: 30s, 5m, 1h30m
	Enum      Kind = "enumeration"     // one of the row's values
	Host      Kind = "host"            // host name or IP address, without port
	Zone      Kind = "zone"            // DNS zone in its ASCII form
	Domain    Kind = "domain"          // domain suffix; with a leading dot subdomains alone
	Regexp    Kind = "regexp"          // Go regular expression
	Template  Kind = "template"        // Go text/template
	Network   Kind = "network"         // CIDR: 203.0.113.0/24
	Address   Kind = "listen address"  // [host]:port
	KeyPrefix Kind = "key prefix"      // prefix of etcd keys, normalised to /…/
	Affix     Kind = "name part"       // prefix or suffix of the first label of a TXT name
	Owner     Kind = "owner id"        // what an ownership record can carry
	Algorithm Kind = "TSIG algorithm"  // hmac-…; others are kept but cannot work
	Pair      Kind = "key=value pair"  // tag
	File      Kind = "file"            // path in the pod; a credential gives the file
	URL       Kind = "URL"             // http:// or https://, with a host
	Reserved  Kind = "set by Signpost" // never a parameter
)

// Flag is a row of the table: one flag of external-dns.
type Flag struct {
	Name string // as on the command line, without dashes
	Kind Kind
	List bool // repeats; one argument for each item

	Values   []string      // of an Enum: the seed's and external-dns' together
	Min, Max int64         // bounds of an Integer; Max zero: none
	Shortest time.Duration // bound of a Duration

	Family     string   // the provider in whose row it is; empty: general
	Providers  []string // those under which it has an effect; empty: all of its family. For general flags, the rows of providers say it
	Registries []string // those with which it has an effect; empty: all

	ListSince Version // first release that takes a List more than once; zero: before OldestVersion
	Since     Version // first release in which it works; zero: before OldestVersion
	Removed   Version // first release without it; zero: still there
	Renamed   Version // first release that has its replacement; zero: never
	Successor string
	Unused    string // why it has no effect in Signpost at all; empty: it has

	Secret  bool   // never an argument, always an environment variable
	Default string // what Signpost sets where the record says nothing; empty: external-dns' own
	Sample  string // a value that is right
}

// EnvironmentPrefix begins the names of variables that set flags.
const EnvironmentPrefix = "EXTERNAL_DNS_"

// Environment is the variable from which external-dns reads the flag:
// EXTERNAL_DNS_RFC2136_TSIG_SECRET for rfc2136-tsig-secret.
func (f Flag) Environment() string {
	return EnvironmentPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// Flags lists the table by name. The caller owns the slice, not the slices
// within the rows, which are shared and must not be changed.
func Flags() []Flag {
	return slices.Clone(loadTable().rows)
}

// table is the flags with their indexes. It is built once and never changed.
type table struct {
	rows         []Flag
	byName       map[string]*Flag
	predecessors map[string]*Flag // name of the replacement → row of the former name
	providers    map[string]providerRow
}

// loadTable is a constant that Go cannot write as one.
//
//nolint:gochecknoglobals // computed once, read-only
var loadTable = sync.OnceValue(func() table {
	t := table{byName: map[string]*Flag{}, predecessors: map[string]*Flag{}, providers: map[string]providerRow{}}
	t.rows = slices.Concat(reservedFlags(), generalFlags(), sourceFlags(), filterFlags(), registryFlags())
	for _, provider := range providerRows() {
		t.providers[provider.name] = provider
		if provider.flags == nil {
			continue
		}
		for _, flag := range provider.flags() {
			flag.Family = provider.name
			t.rows = append(t.rows, flag)
		}
	}
	slices.SortFunc(t.rows, func(a, b Flag) int { return strings.Compare(a.Name, b.Name) })
	for i := range t.rows {
		row := &t.rows[i]
		t.byName[row.Name] = row
		if row.Successor != "" {
			t.predecessors[row.Successor] = row
		}
	}
	for _, provider := range providerRows() {
		for _, name := range provider.general {
			t.byName[name].Providers = append(t.byName[name].Providers, provider.name)
		}
	}
	return t
})

// find gives the row of a flag by its name, nil when there is none.
func (t table) find(name string) (*Flag, bool) {
	flag, ok := t.byName[name]
	return flag, ok
}

// predecessor gives the row of a flag's former name.
func (t table) predecessor(name string) (*Flag, bool) {
	flag, ok := t.predecessors[name]
	return flag, ok
}

// byEnvironment gives the row of the flag that a variable sets.
func (t table) byEnvironment(variable string) (*Flag, bool) {
	name, ok := strings.CutPrefix(variable, EnvironmentPrefix)
	if !ok {
		return nil, false
	}
	return t.find(strings.ToLower(strings.ReplaceAll(name, "_", "-")))
}

// LeadsTo tells whether a parameter says whom external-dns talks to: a host or
// a URL.
func LeadsTo(parameter string) bool {
	flag, _, ok := loadTable().lookup(parameter)
	return ok && (flag.Kind == Host || flag.Kind == URL)
}

// lookup gives the row of a parameter, and whether it is the no- form of a boolean.
func (t table) lookup(parameter string) (flag *Flag, negated, ok bool) {
	if flag, ok = t.find(parameter); ok {
		return flag, false, true
	}
	if rest, isNo := strings.CutPrefix(parameter, "no-"); isNo {
		if flag, ok = t.find(rest); ok && flag.Kind == Bool {
			return flag, true, true
		}
	}
	return nil, false, false
}

// nearest gives the parameter that an unknown one may stand for; empty when
// none is like it.
func (t table) nearest(parameter string) string {
	var names []string
	for _, row := range t.rows {
		if row.Kind != Reserved {
			names = append(names, row.Name)
		}
	}
	if rest, isNo := strings.CutPrefix(parameter, "no-"); isNo {
		if near, ok := t.find(nearest.Name(rest, names)); ok && near.Kind == Bool {
			return "no-" + near.Name
		}
	}
	return nearest.Name(parameter, names)
}

// Mistyped finds parameters whose values are of a wrong JSON type, although their text
// can be read: a list for a boolean, or a number for a domain. A write refuses them.
// Values that are already stored are rendered as before.
func Mistyped(parameters Parameters) []Finding {
	var findings []Finding
	for _, parameter := range slices.Sorted(maps.Keys(parameters)) {
		flag, _, known := loadTable().lookup(parameter)
		if !known {
			continue
		}
		all, isList := items(parameters[parameter])
		if isList && flag.Kind == Bool {
			findings = append(findings, about(parameter, "must be true or false, not a list"))
			continue
		}
		for i, item := range all {
			wrongType := flag.wrongScalar(item)
			if wrongType == "" {
				continue
			}
			where := about(parameter, fmt.Sprintf("must be text, not %s; give a %s in quotes", wrongType, flag.Kind))
			if isList {
				where.Pointer += fmt.Sprintf("/%d", i)
			}
			findings = append(findings, where)
		}
	}
	return findings
}

// wrongScalar is the name of a type of scalar that is no name or address.
func (f Flag) wrongScalar(item any) string {
	if !slices.Contains([]Kind{Domain, Zone, Host, Network, KeyPrefix, URL, Pair}, f.Kind) {
		return ""
	}
	switch item.(type) {
	case bool:
		return "true or false"
	case json.Number, float64, int, int64:
		return "a number"
	}
	return ""
}
