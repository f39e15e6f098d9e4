package externaldns

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTakeSecretsPartsThemFromTheRest(t *testing.T) {
	given := Parameters{
		"rfc2136-tsig-secret": " c2VjcmV0\n", "rfc2136-kerberos-password": "", "txt-encrypt-aes-key": 42.0,
		"rfc2136-zone": "corp.example",
	}
	public, secrets := TakeSecrets(given)
	assert.Equal(t, Parameters{"rfc2136-zone": "corp.example"}, public)
	require.Len(t, secrets, 1)
	assert.Equal(t, "EXTERNAL_DNS_RFC2136_TSIG_SECRET", secrets[0].Environment)
	assert.Equal(t, "c2VjcmV0", secrets[0].Value)
	assert.Len(t, given, 4, "the argument is not changed")
	for _, format := range []string{"%v", "%s", "%+v", "%#v"} {
		assert.NotContains(t, fmt.Sprintf(format, secrets), "c2VjcmV0")
	}
}

func TestTakenSecretsAreKnownByTheirVariable(t *testing.T) {
	errors, warnings := Check(rfc2136(nil))
	assert.Empty(t, errors)
	assert.Empty(t, warnings, "the secret is in the environment")
}

// TestWhatNamesAreJudgedByIsAParameter: neither an argument nor a variable sets it
// past those who judge, also where no parameter does, or the flag could repeat.
func TestWhatNamesAreJudgedByIsAParameter(t *testing.T) {
	for _, name := range []string{
		"aws-zone-type", "azure-resource-group", "azure-subscription-id", "create-ptr", "domain-filter", "exclude-domains",
		"txt-prefix", "txt-suffix", "txt-wildcard-replacement",
		"exclude-record-types", "exclude-target-net", "interval", "managed-record-types", "policy",
		"regex-domain-exclusion", "regex-domain-filter", "registry", "target-net-filter", "txt-owner-id",
		"zone-id-filter", "zone-name-filter", "source", "namespace", "label-filter", "annotation-filter",
	} {
		flag, known := loadTable().find(name)
		require.True(t, known, name)
		provider := map[bool]string{true: "azure-private-dns", false: "aws"}[flag.Family == "azure"]
		record := Record{Provider: provider, Files: []string{"/etc/kubernetes/azure.json"}}
		arguments, findings := Compile(options(record))
		require.Empty(t, findings)
		wrong := options(record).CheckExtraArgs([]string{"--" + name + "=" + flag.Sample, "--x=y", "--log-level=debug"}, arguments.Args)
		require.Len(t, wrong, 1, name)
		if flag.Kind != Reserved {
			assert.Contains(t, wrong[0].Detail, "give the parameter "+name+" instead")
		}
		record.Environment = []string{flag.Environment(), "HTTPS_PROXY"}
		_, findings = Compile(options(record))
		assert.Len(t, findings, 1, name)
	}
}

// TestWhereKeysAreIsAParameter: it is a part of the names.
func TestWhereKeysAreIsAParameter(t *testing.T) {
	record := coredns(nil)
	arguments, findings := Compile(options(record))
	require.Empty(t, findings)
	wrong := options(record).CheckExtraArgs([]string{"--coredns-prefix=/skydns/example/"}, arguments.Args)
	require.Len(t, wrong, 1)
	assert.Contains(t, wrong[0].Detail, "give the parameter coredns-prefix instead")
	record.Environment = append(record.Environment, "EXTERNAL_DNS_COREDNS_PREFIX")
	_, findings = Compile(options(record))
	assert.Len(t, findings, 1)
}

func TestExtraArgs(t *testing.T) {
	arguments, findings := Compile(options(coredns(nil)))
	require.Empty(t, findings)
	for _, c := range []struct {
		reason string
		extra  []string
		want   []string
	}{
		{"a flag of an unlisted provider", []string{"--ovh-enable-cname-relative", "--gloo-namespace=a"}, nil},
		{"a flag of another provider", []string{"--cloudflare-proxied", "--no-aws-prefer-cname", "--rfc2136-zone=lab.example"}, []string{
			"/0 belongs to provider cloudflare, not coredns", "/1 belongs to provider aws, not coredns", "/2 belongs to provider rfc2136, not coredns"}},
		{"a value that does not parse", []string{"--txt-cache-interval=soon"}, []string{`/0 "soon" is not a duration; write a number with a unit, such as "30s" or "5m"`}},
		{"a value that parameters alone may have", []string{"--log-level=DEBUG"}, []string{`/0 must be written as "debug"`}},
		{"what would never end", []string{"--once"}, []string{"/0 does not belong in a Deployment, which would restart external-dns without end"}},
		{"a no- form of what is not a boolean", []string{"--no-interval"}, []string{"/0 does not exist: interval is not a boolean"}},
		{"a flag that is gone", []string{"--contour-load-balancer=a/b"}, []string{"/0 was removed from external-dns in v0.13.6"}},
		{"another domain", []string{"--domain-filter=other.example"}, []string{"/0 is judged as a parameter alone; give the parameter domain-filter instead"}},
		{"a boolean", []string{"--no-events"}, nil},
		{"no flag", []string{"-x", "y", "--", "--a b=c"}, []string{
			`/0 must be one argument such as "--flag=value" or "--flag"`, `/1 must be one argument such as "--flag=value" or "--flag"`,
			`/2 must be one argument such as "--flag=value" or "--flag"`, `/3 must be one argument such as "--flag=value" or "--flag"`}},
		{"another namespace", []string{"--namespace=kube-system"}, []string{"/0 is set by Signpost itself"}},
		{"a secret", []string{"--txt-encrypt-aes-key=x"}, []string{"/0 would expose the secret; give it as a credential for EXTERNAL_DNS_TXT_ENCRYPT_AES_KEY"}},
		{"a boolean with a value", []string{"--events=true"}, []string{"/0 is a boolean; write --events or --no-events"}},
		{"a value is missing", []string{"--log-level"}, []string{"/0 has no value; write --log-level=…"}},
		{"a flag that is rendered", []string{"--metrics-address=:8080"}, []string{"/0 is set already, and external-dns takes it once; set the parameter metrics-address"}},
		{"a flag twice", []string{"--events", "--no-events"}, []string{"/1 is set already, and external-dns takes it once; set the parameter events"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if c.want == nil {
				c.want = []string{}
			}
			assert.Equal(t, c.want, lines(options(coredns(nil)).CheckExtraArgs(c.extra, arguments.Args)))
		})
	}
}

// TestExtraArgsOfAFamily: providers that share parameters share their flags.
func TestExtraArgsOfAFamily(t *testing.T) {
	extra := []string{"--aws-sd-create-tag=team=dns", "--aws-sd-create-tag=team=web"}
	for _, provider := range []string{"aws", "aws-sd"} {
		assert.Empty(t, options(Record{Provider: provider}).CheckExtraArgs(extra, nil), provider)
	}
}
