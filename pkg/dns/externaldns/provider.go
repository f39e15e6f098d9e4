package externaldns

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// providerRow is a value of external-dns' --provider.
type providerRow struct {
	name    string
	family  string  // whose parameters it takes; several providers share one
	removed Version // first release without it; zero: still there

	cheap     bool // a read of the zone costs nobody anything
	perMinute int  // requests that the provider allows an account; zero: not known
	perPage   int  // entries of a zone that one of them reads
}

const (
	familyAWS        = "aws"
	familyAzure      = "azure"
	familyCloudflare = "cloudflare"
	familyCoreDNS    = "coredns"
	familyGoogle     = "google"
	familyPDNS       = "pdns"
	familyRFC2136    = "rfc2136"
	familyWebhook    = "webhook"
)

// providerRows lists every provider of the supported releases, by name.
func providerRows() []providerRow {
	return []providerRow{
		{name: "akamai", family: "akamai", removed: V022},
		{name: "alibabacloud", family: "alibabacloud"},
		{name: "aws", family: familyAWS, perMinute: 300, perPage: 300},
		{name: "aws-sd", family: familyAWS},
		{name: "azure", family: familyAzure, perMinute: 100, perPage: 100},
		{name: "azure-dns", family: familyAzure, perMinute: 100, perPage: 100}, // another word for azure
		{name: "azure-private-dns", family: familyAzure, perMinute: 100, perPage: 100},
		{name: "civo", family: "civo"},
		{name: "cloudflare", family: familyCloudflare, perMinute: 240, perPage: 100},
		{name: "coredns", family: familyCoreDNS, cheap: true},
		{name: "digitalocean", family: "digitalocean", removed: V021},
		{name: "dnsimple", family: "dnsimple"},
		{name: "exoscale", family: "exoscale"},
		{name: "gandi", family: "gandi"},
		{name: "godaddy", family: "godaddy"},
		{name: "google", family: familyGoogle, perMinute: 600, perPage: 100},
		{name: "inmemory", family: "inmemory"},
		{name: "linode", family: "linode"},
		{name: "ns1", family: "ns1"},
		{name: "oci", family: "oci"},
		{name: "ovh", family: "ovh"},
		{name: "pdns", family: familyPDNS, cheap: true},
		{name: "pihole", family: "pihole"},
		{name: "plural", family: "plural", removed: V022},
		{name: "rfc2136", family: familyRFC2136, cheap: true},
		{name: "scaleway", family: "scaleway"},
		{name: "skydns", family: familyCoreDNS, cheap: true}, // another word for coredns
		{name: "transip", family: "transip", removed: V022},
		{name: "webhook", family: familyWebhook, cheap: true},
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
	if meant, ok := otherWords(strings.ToLower(name)); ok {
		return false, meant
	}
	return false, nearest.Name(name, names)
}

// otherWords are names by which people know what a provider is for, and that are
// not like its own.
func otherWords(name string) (provider string, known bool) {
	provider, known = map[string]string{
		"bind": "rfc2136", "bind9": "rfc2136", "named": "rfc2136", "nsupdate": "rfc2136", "knot": "rfc2136",
		"route53": "aws", "route-53": "aws", "cloudmap": "aws-sd", "cloud-map": "aws-sd",
		"powerdns": "pdns", "clouddns": "google", "gcp": "google", "etcd": "coredns",
	}[name]
	return provider, known
}

// findProvider gives the row of a provider; an unknown one is a family alone.
func findProvider(name string) providerRow {
	if row, ok := loadTable().providers[name]; ok {
		return row
	}
	return providerRow{name: name, family: name}
}
