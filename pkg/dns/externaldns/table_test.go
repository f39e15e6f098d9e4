package externaldns

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryParameterOfTheSeedHasARow(t *testing.T) {
	for _, name := range []string{
		"aws-zone-type", "aws-zone-tags", "aws-assume-role", "aws-batch-change-size", "aws-batch-change-interval",
		"aws-evaluate-target-health", "aws-api-retries", "aws-prefer-cname",
		"azure-config-file", "azure-resource-group", "azure-subscription-id", "azure-user-assigned-identity-client-id",
		"coredns-prefix",
		"rfc2136-host", "rfc2136-zone", "rfc2136-insecure", "rfc2136-tsig-keyname", "rfc2136-tsig-secret",
		"rfc2136-tsig-secret-alg", "rfc2136-tsig-axfr", "request-timeout",
		"contour-load-balancer", "fqdn-template", "combine-fqdn-annotation", "ignore-hostname-annotation", "compatibility",
		"publish-internal-services", "publish-host-ip", "service-type-filter", "domain-filter", "exclude-domains",
		"zone-id-filter", "tls-ca", "tls-client-cert", "tls-client-cert-key", "policy", "registry", "txt-owner-id",
		"txt-prefix", "txt-cache-interval", "interval", "once", "dry-run", "log-format", "metrics-address", "log-level",
	} {
		_, _, known := loadTable().lookup(name)
		assert.True(t, known, name)
	}
}

func TestRowsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, flag := range Flags() {
		assert.False(t, names[flag.Name], "%s is there twice", flag.Name)
		names[flag.Name] = true
		assert.Equal(t, flag.Kind == Enum, len(flag.Values) > 0, "%s: values are for enumerations", flag.Name)
		assert.Equal(t, flag.Renamed != 0, flag.Successor != "", "%s: a new name has a version", flag.Name)
		for _, provider := range flag.Providers {
			known, _ := KnownProvider(provider)
			assert.True(t, known, "%s: provider %s", flag.Name, provider)
			if flag.Family != "" {
				assert.Equal(t, flag.Family, loadTable().provider(provider).family, flag.Name)
			}
		}
		if flag.Kind == Reserved {
			continue
		}
		assert.NotEmpty(t, flag.read(flag.Sample).text, "%s: the sample is right", flag.Name)
		if flag.Default != "" {
			assert.Equal(t, flag.Default, flag.read(flag.Default).text, "%s: the default is canonical", flag.Name)
		}
		if flag.Secret {
			assert.Equal(t, Text, flag.Kind, "%s: only text is never quoted in a finding", flag.Name)
		}
		if flag.Successor != "" {
			successor, ok := loadTable().find(flag.Successor)
			require.True(t, ok, flag.Name)
			assert.Equal(t, flag.Renamed, successor.Since, flag.Name)
		}
	}
}

func TestProviderRowsAreComplete(t *testing.T) {
	for _, row := range providerRows() {
		if row.family != "" {
			family := loadTable().providers[row.family]
			assert.NotNil(t, family.flags, "%s: the family has flags", row.name)
			assert.Nil(t, row.flags, "%s: the family's flags are its own", row.name)
		}
		if row.zones != "" {
			assert.NotEmpty(t, Values(Parameters{row.zones: "lab.example"}, row.zones), "%s: zones are a parameter", row.name)
		}
		for _, word := range row.words {
			known, _ := KnownProvider(word)
			assert.False(t, known, "%s: %s is no provider", row.name, word)
		}
	}
}

func TestFlagsAreACopy(t *testing.T) {
	Flags()[0].Name = "changed"
	assert.NotEqual(t, "changed", Flags()[0].Name)
}

func TestEnvironmentOfAFlag(t *testing.T) {
	flag, _ := loadTable().find("rfc2136-tsig-secret")
	assert.Equal(t, "EXTERNAL_DNS_RFC2136_TSIG_SECRET", flag.Environment())
}

func TestProviders(t *testing.T) {
	assert.True(t, slices.IsSorted(Providers()))
	for _, name := range []string{"aws", "aws-sd", "azure", "azure-dns", "azure-private-dns", "coredns", "rfc2136"} {
		known, _ := KnownProvider(name)
		assert.True(t, known, name)
	}
	known, meant := KnownProvider("corends")
	assert.False(t, known)
	assert.Equal(t, "coredns", meant)
	for name, provider := range map[string]string{"bind": "rfc2136", "BIND9": "rfc2136", "route53": "aws", "powerdns": "pdns", "cloud-map": "aws-sd"} {
		known, meant = KnownProvider(name)
		assert.False(t, known, name)
		assert.Equal(t, provider, meant, name)
	}
	known, meant = KnownProvider("nameserver")
	assert.False(t, known)
	assert.Empty(t, meant, "none is like it")
}

func TestVersions(t *testing.T) {
	for _, c := range []struct{ reason, text, want string }{
		{"as release tags are written", "v0.22.0", "v0.22.0"},
		{"as some people write them", "0.21.3", "v0.21.3"},
		{"a part is missing", "v0.22", ""},
		{"a pre-release has unknown flags", "v0.22.0-rc1", ""},
		{"no number", "latest", ""},
		{"nothing", "", ""},
		{"a sign is not a digit", "v0.-1.0", ""},
		{"does not fit", "v0.4096.0", ""},
	} {
		version, err := ParseVersion(c.text)
		if c.want == "" {
			require.ErrorContains(t, err, "v0.22.0", c.reason)
			continue
		}
		require.NoError(t, err, c.reason)
		assert.Equal(t, c.want, version.String(), c.reason)
	}
	old, err := ParseVersion("v0.9.10")
	require.NoError(t, err)
	assert.Less(t, old, V020)
	assert.Less(t, V021, V022)
	assert.Equal(t, "v0.22.0", DefaultVersion.String())
}

func TestNearestParameter(t *testing.T) {
	assert.Equal(t, "domain-filter", loadTable().nearest("domain-filters"))
	assert.Equal(t, "no-aws-prefer-cname", loadTable().nearest("no-aws-prefer-cnam"))
	assert.Empty(t, loadTable().nearest("gandi-sharing"), "none is like it")
}
