package externaldns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// providerRow is a value of external-dns' --provider, with all that sets it apart.
type providerRow struct {
	name    string
	family  string         // the provider whose flags it has; empty: its own
	flags   func() []Flag  // its own flags; nil: none
	rule    func(*reading) // checks more than one of them, and what it needs beside them; nil: nothing
	words   []string       // other names by which people know it, in lower case
	removed Version        // first release without it; zero: still there

	cheap     bool // a read of the zone costs nobody anything
	builtIn   bool // see [BuiltIn]
	perMinute int  // requests that the provider allows an account; zero: not known
	perPage   int  // entries of a zone that one of them reads

	sets       bool    // see [Abilities].SetIdentifiers
	srv        Version // first release that has the ability SRV; zero: none has
	remarks    bool    // see [Abilities].Remarks
	noWildcard bool    // see [Abilities].Wildcards
	keys       bool    // names are keys of an etcd: see [NamesBelow]

	registry string // the default of the flag registry; empty: txt
	zones    string // the flag that lists its zones; empty: none does
	hidden   string // see [InDNS].Hidden
	private  bool   // all of its zones are private
	aliases  bool   // see [InDNS].Aliases
}

// providerRows lists every provider of the supported releases, by name.
func providerRows() []providerRow {
	return []providerRow{
		{name: "akamai", removed: V022},
		{name: "alibabacloud"},
		{name: "aws", flags: awsFlags, perMinute: 300, perPage: 300, sets: true, srv: V020, remarks: true, aliases: true,
			words: []string{"route53", "route-53"}},
		{name: "aws-sd", family: "aws", registry: "aws-sd", words: []string{"cloudmap", "cloud-map"}}, // Cloud Map has no place for TXT records
		{name: "azure", flags: azureFlags, perMinute: 100, perPage: 100, remarks: true},
		{name: "azure-dns", family: "azure", perMinute: 100, perPage: 100, remarks: true}, // another word for azure
		{name: "azure-private-dns", family: "azure", perMinute: 100, perPage: 100, remarks: true, private: true},
		{name: "civo"},
		{name: "cloudflare", flags: cloudflareFlags, rule: ruleCloudflare, perMinute: 240, perPage: 100, srv: V022},
		{name: "coredns", flags: corednsFlags, rule: ruleCoreDNS, cheap: true, builtIn: true, keys: true, noWildcard: true, words: []string{"etcd"}},
		{name: "digitalocean", removed: V021},
		{name: "dnsimple"},
		{name: "exoscale"},
		{name: "gandi"},
		{name: "godaddy"},
		{name: "google", flags: googleFlags, perMinute: 600, perPage: 100, srv: V020, words: []string{"clouddns", "gcp"}},
		{name: "inmemory", sets: true, srv: V020, hidden: "provider inmemory keeps names in its own memory"},
		{name: "linode"},
		{name: "ns1"},
		{name: "oci"},
		{name: "ovh"},
		{name: "pdns", flags: pdnsFlags, rule: rulePDNS, cheap: true, srv: V020, remarks: true, words: []string{"powerdns"}},
		{name: "pihole", noWildcard: true},
		{name: "plural", removed: V022},
		{name: "rfc2136", flags: rfc2136Flags, rule: ruleRFC2136, cheap: true, builtIn: true, zones: "rfc2136-zone",
			words: []string{"bind", "bind9", "named", "nsupdate", "knot"}},
		{name: "scaleway"},
		{name: "skydns", family: "coredns", rule: ruleCoreDNS, cheap: true, keys: true, noWildcard: true}, // another word for coredns
		{name: "transip", removed: V022},
		{name: "webhook", flags: webhookFlags, rule: ruleWebhook, cheap: true, builtIn: true},
	}
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

// BuiltIn tells whether Signpost's own publisher can write the names of a provider.
func BuiltIn(provider string) bool { return loadTable().provider(provider).builtIn }

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
