package externaldns

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAbilities is the table that test/flagparse proves with external-dns' own
// code, as far as that runs without an account.
func TestAbilities(t *testing.T) {
	rooted := Abilities{SRV: true, RootedSRV: true, Wildcards: true, DualStack: true}
	plain := Abilities{Wildcards: true, DualStack: true}
	for _, c := range []struct {
		provider string
		version  Version
		want     Abilities
	}{
		{"aws", V022, Abilities{SetIdentifiers: true, SRV: true, RootedSRV: true, Wildcards: true, DualStack: true, Remarks: true}},
		{"aws", V021, Abilities{SetIdentifiers: true, Wildcards: true, DualStack: true, Remarks: true}},
		{"aws", V020, Abilities{SetIdentifiers: true, SRV: true, Wildcards: true, DualStack: true, Remarks: true}},
		{"aws-sd", V022, plain},
		{"google", V022, rooted},
		{"google", V021, plain},
		{"azure-private-dns", V022, Abilities{Wildcards: true, DualStack: true, Remarks: true}},
		{"pdns", V020, Abilities{SRV: true, Wildcards: true, DualStack: true, Remarks: true}},
		{"cloudflare", V022, rooted},
		{"cloudflare", V020, plain},
		{"coredns", V022, Abilities{Subtree: true}},
		{"skydns", V022, Abilities{Subtree: true}},
		{"rfc2136", V022, plain},
		{"pihole", V022, Abilities{DualStack: true}},
		{"webhook", V022, plain},
		{"nobodys", V022, plain},
	} {
		t.Run(c.provider+" "+c.version.String(), func(t *testing.T) {
			assert.Equal(t, c.want, AbilitiesOf(c.provider, c.version))
		})
	}
}

func TestWhichProvidersAreAble(t *testing.T) {
	weights := func(a Abilities) bool { return a.SetIdentifiers }
	services := func(a Abilities) bool { return a.SRV }
	assert.Equal(t, []string{"aws", "inmemory"}, Able(V022, weights))
	assert.Equal(t, []string{"aws", "cloudflare", "google", "inmemory", "pdns"}, Able(V022, services))
	assert.Equal(t, []string{"aws", "google", "inmemory", "pdns"}, Able(V020, services))
	assert.Empty(t, Able(V021, services))
}

func TestManagedTypes(t *testing.T) {
	assert.Equal(t, []string{"A", "AAAA", "CNAME"}, Managed(nil))
	assert.Equal(t, []string{"A", "SRV"}, Managed(Parameters{"managed-record-types": []any{"A", "SRV"}}))
}

func TestWhoseApexIsMarked(t *testing.T) {
	for _, c := range []struct {
		reason     string
		parameters Parameters
		want       bool
	}{
		{"the default puts a-lab.example beside lab.example", nil, false},
		{"so does a prefix of the first label", Parameters{"txt-prefix": "owner-"}, false},
		{"a prefix that is a label of its own", Parameters{"txt-prefix": "%{record_type}-owner."}, true},
		{"a registry without TXT records", Parameters{"registry": "dynamodb"}, true},
		{"nobody's names are marked", Parameters{"registry": "noop"}, true},
	} {
		assert.Equal(t, c.want, MarksApex(c.parameters), c.reason)
	}
}
