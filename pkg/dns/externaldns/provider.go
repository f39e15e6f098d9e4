package externaldns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// providerRow is a value of external-dns' --provider, with all that sets it apart. All that
// Signpost knows of a provider is in its row.
type providerRow struct {
	name    string
	family  string         // the provider whose flags it has; empty: its own
	flags   func() []Flag  // its own flags; nil: none
	general []string       // general flags that have an effect with the named providers only
	rule    func(*reading) // checks more than one of them, and what it needs beside them; nil: nothing
	words   []string       // other names by which people know it, in lower case
	removed Version        // first release without it; zero: still there

	speed    speed
	writer   string // the Writer of Signpost's own publisher; empty: it has none
	sidecar  bool   // a program beside external-dns may speak to the DNS server
	registry string // the default of the flag registry; empty: txt
	zones    string // the flag that lists its zones; empty: none does
	account  Account

	sets       bool    // see [Abilities].SetIdentifiers
	srv        Version // first release that has the ability SRV; zero: none has
	keeps      keeping
	remarks    bool // see [Abilities].Remarks
	noWildcard bool // see [Abilities].Wildcards
	keys       bool // names are keys of an etcd: see [NamesBelow]
	answers    answers
}

// speed says how often a provider may be read, and how fast external-dns changes it.
type speed struct {
	cheap     bool // a read of the zone costs nobody anything
	perMinute int  // requests that the provider allows an account; zero: not known
	perPage   int  // entries of a zone that one of them reads
	slow      bool // see [RemovesSlowly]
}

// keeping says how external-dns keeps the types of records that are no addresses.
type keeping struct {
	types  map[string]Version // the first release that reads, changes and deletes each type
	quoted bool               // texts of TXT records are compared in quotes, as in a zone file; else bare
	writes []string           // the types that Signpost's own Writer writes
}

// answers says where DNS answers something else than external-dns has published.
type answers struct {
	hidden   string // see [InDNS].Hidden
	hiddenBy string // the flag that hides; empty: what is hidden always is
	aliases  string // the flag without which addresses may be answered for a CNAME; empty: they never are
}

// Providers lists the names of all providers of the supported releases, sorted.
func Providers() []string {
	rows := providerRows()
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.name
	}
	return names
}

// KnownProvider tells whether external-dns has, or had in a supported release, a provider
// of that name. If not, meant is the most similar name, empty when none is similar.
func KnownProvider(name string) (known bool, meant string) {
	names := Providers()
	if slices.Contains(names, name) {
		return true, name
	}
	for _, row := range providerRows() {
		if slices.Contains(row.words, strings.ToLower(name)) {
			return false, row.name
		}
	}
	return false, nearest.Name(name, names)
}

// takes tells whether a flag is the provider's or a general one.
func (p *providerRow) takes(flag *Flag) bool { return flag.Family == "" || flag.Family == p.family }

// foreign says why a provider does not take a flag.
func (p *providerRow) foreign(flag *Flag) string {
	return fmt.Sprintf("belongs to provider %s, not %s", flag.Family, p.name)
}

// uses tells whether a flag has an effect with the provider.
func (p *providerRow) uses(flag *Flag) bool {
	return p.takes(flag) && (len(flag.Providers) == 0 || slices.Contains(flag.Providers, p.name))
}

// provider gives the row of a provider, with its family; an unknown one is a family
// alone.
func (t table) provider(name string) *providerRow {
	row := t.providers[name]
	row.name, row.family = name, cmp.Or(row.family, name)
	return &row
}

// WriterOf names the Writer with which Signpost's own publisher writes the names of a
// provider. It is empty if there is none.
func WriterOf(provider string) string { return loadTable().provider(provider).writer }

// BuiltIn lists the providers whose names Signpost's own publisher can write, sorted.
func BuiltIn() []string {
	return slices.DeleteFunc(Providers(), func(name string) bool { return WriterOf(name) == "" })
}

// RemovesSlowly tells whether external-dns removes one target of a name in each interval.
func RemovesSlowly(provider string) bool { return loadTable().provider(provider).speed.slow }

// Account tells apart the private zones of a provider, which have the same names.
type Account struct {
	Private    bool     // all of its zones are private
	Visibility string   // the parameter that says "public" or "private"; empty: there is none
	Place      []string // parameters that say where a zone with a given name is
	ZoneIDs    bool     // each zone has an id, whose end zone-id-filter gives
}

// AccountOf is that of a provider.
func AccountOf(provider string) Account { return loadTable().provider(provider).account }

// NotBuiltIn lists the parameters that ask for what Signpost's own publisher does not do.
func NotBuiltIn() []string {
	return []string{
		"create-ptr", "regex-domain-filter", "regex-domain-exclusion", "rfc2136-create-ptr", "rfc2136-gss-tsig",
		"txt-encrypt-enabled", "coredns-strictly-owned",
	}
}

// BuiltInWait is about how long after a DNSEndpoint has changed the built-in publisher
// tells the DNS provider, at most.
const BuiltInWait = clockTick
