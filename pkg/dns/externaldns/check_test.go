package externaldns

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// coredns and rfc2136 are records without errors or warnings, to change one thing of.
func coredns(changes Parameters) Record {
	return Record{Provider: "coredns", Environment: []string{"ETCD_URLS"},
		Parameters: with(Parameters{"domain-filter": "lab.example"}, changes)}
}

func rfc2136(changes Parameters) Record {
	return Record{Provider: "rfc2136", Environment: []string{"EXTERNAL_DNS_RFC2136_TSIG_SECRET"},
		Parameters: with(Parameters{
			"domain-filter": "corp.example", "rfc2136-host": "192.0.2.53", "rfc2136-zone": "corp.example",
			"rfc2136-tsig-keyname": "key1", "rfc2136-axfr": true,
		}, changes)}
}

func with(base, changes Parameters) Parameters {
	for name, value := range changes {
		base[name] = value
	}
	return base
}

// parameters decodes JSON as a request's body is decoded.
func parameters(t testing.TB, text string) Parameters {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var p Parameters
	require.NoError(t, decoder.Decode(&p))
	return p
}

// lines writes findings as "pointer detail".
func lines(findings []Finding) []string {
	texts := make([]string, len(findings))
	for i, f := range findings {
		texts[i] = strings.TrimSpace(f.Pointer + " " + f.Detail)
	}
	return texts
}

func TestRecordsWithoutFault(t *testing.T) {
	for _, record := range []Record{coredns(nil), rfc2136(nil)} {
		errors, warnings := Check(record)
		assert.Empty(t, errors)
		assert.Empty(t, warnings)
	}
}

func TestErrorsSayWhatWouldBeRight(t *testing.T) {
	for _, c := range []struct {
		reason  string
		name    string
		value   any
		pointer string
		detail  string // a part of it
	}{
		{"unknown, with the nearest", "domain-filters", "x", "", "the nearest known one is domain-filter"},
		{"unknown, with nothing alike", "gandi-sharing", "x", "", "belongs into extraArgs"},
		{"unknown no- form", "no-aws-prefer-cnam", true, "", "the nearest known one is no-aws-prefer-cname"},
		{"only booleans have a no- form", "no-interval", "5s", "", "unknown parameter"},
		{"another provider's", "aws-zone-type", "public", "", "belongs to provider aws, not coredns"},
		{"another provider's no- form", "no-aws-prefer-cname", true, "", "belongs to provider aws, not coredns"},
		{"another provider's, even when empty", "azure-config-file", "", "", "belongs to provider azure, not coredns"},
		{"set by Signpost", "namespace", "kube-system", "", "is set by Signpost itself"},
		{"pointer characters are escaped", "a/b~c", 1, "/a~1b~0c", "unknown parameter"},
		{"duration", "interval", "soon", "", `such as "30s"`},
		{"duration without unit", "interval", json.Number("30"), "", `such as "30s"`},
		{"interval below 5s", "interval", "4s", "", "the shortest is 5s"},
		{"negative duration", "txt-cache-interval", "-1s", "", "the shortest is 0s"},
		{"boolean", "dry-run", json.Number("2"), "", "neither true nor false"},
		{"boolean that sounds like no", "dry-run", "off", "", "write false"},
		{"boolean of several words", "dry-run", "if you like", "", "neither true nor false"},
		{"object", "policy", map[string]any{}, "", "not an object"},
		{"list in a list", "domain-filter", []any{[]any{"a.example"}}, "/domain-filter/0", "not a list"},
		{"two values for one", "policy", []any{"sync", "create-only"}, "", "takes one value, not 2"},
		{"enumeration", "policy", "delete", "", "is not one of sync, upsert-only, create-only"},
		{"enumeration in a list", "managed-record-types", []any{"A", "B"}, "/managed-record-types/1", "is not one of A, AAAA"},
		{"integer", "kube-api-qps", "many", "", "not a whole number"},
		{"integer with a fraction", "kube-api-qps", json.Number("1.5"), "", "not a whole number"},
		{"integer below its bound", "kube-api-qps", json.Number("0"), "", "from 1 to"},
		{"template", "fqdn-template", "{{.Name", "", "is not a template"},
		{"template with an unknown function", "fqdn-template", "{{evil .Name}}", "", "is not a template"},
		{"domain", "domain-filter", []any{"ok.example", "not a domain"}, "/domain-filter/1", `such as "lab.example"`},
		{"domain with a long label", "domain-filter", strings.Repeat("a", 64) + ".example", "", "has a label longer than 63 characters"},
		{"domain with a wildcard", "domain-filter", "*.lab.example", "", `write ".lab.example"`},
		{"domains in one text", "domain-filter", "a.example,b.example", "", "write a list"},
		{"regular expression", "regex-domain-filter", "(", "", "not a regular expression"},
		{"regular expression, too long", "regex-domain-exclusion", strings.Repeat("a", 1001), "", "more than 1000 characters"},
		{"regular expression, short text of many steps", "regex-domain-filter", ".{0,600}", "", "repeats too much"},
		{"network", "target-net-filter", "203.0.113", "", `"203.0.113.0/24"`},
		{"listen address", "metrics-address", "7979", "", `":7979"`},
		{"listen port", "metrics-address", ":0", "", `":7979"`},
		{"owner id that an ownership record cannot carry", "txt-owner-id", "a,b", "", "is not an owner id"},
		{"control characters", "txt-owner-id", "a\nb", "", "without control characters"},
		{"a number for text", "dynamodb-table", json.Number("5"), "", "put it in quotes"},
		{"a number for a file", "tls-ca", json.Number("5"), "", "put it in quotes"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			errors, _ := Check(coredns(Parameters{c.name: c.value}))
			require.Len(t, errors, 1)
			if c.pointer == "" {
				c.pointer = "/" + c.name
			}
			assert.Equal(t, c.name, errors[0].Parameter)
			assert.Equal(t, c.pointer, errors[0].Pointer)
			assert.Contains(t, errors[0].Detail, c.detail)
		})
	}
}

// TestRegularExpressionsThatAreInUseAreTaken: the bounds are well above them.
func TestRegularExpressionsThatAreInUseAreTaken(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("é", 1000), `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.){1,4}lab\.example$`, `^(a|b|c)-\d{1,3}\.(dev|test)\.corp\.example\.?$`, "",
	} {
		errors, _ := Check(coredns(Parameters{"regex-domain-filter": text}))
		require.Empty(t, errors, text)
	}
}

func TestErrorsOfRFC2136(t *testing.T) {
	for _, c := range []struct {
		reason, name string
		value        any
		detail       string
	}{
		{"host", "rfc2136-host", "no host", "neither a host name nor an IP address"},
		{"host that is a broken address", "rfc2136-host", "192.0.2.300", "neither a host name nor an IP address"},
		{"host with a port", "rfc2136-host", "192.0.2.53:53", "the port into rfc2136-port"},
		{"zone", "rfc2136-zone", "corp example", "is not a zone"},
		{"zone that is not in ASCII", "rfc2136-zone", "münchen.example", `"xn--"`},
		{"port", "rfc2136-port", json.Number("65536"), "from 1 to 65535"},
		{"strategy", "rfc2136-load-balancing-strategy", "best", "is not one of disabled, random, round-robin"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			errors, _ := Check(rfc2136(Parameters{c.name: c.value}))
			require.Len(t, errors, 1)
			assert.Contains(t, errors[0].Detail, c.detail)
		})
	}
}

func TestErrorsOfOtherProviders(t *testing.T) {
	for _, c := range []struct {
		reason, provider, name string
		value                  any
		detail                 string
	}{
		{"no URL", "pdns", "pdns-server", "pdns:8081", `"https://pdns.corp.example:8081"`},
		{"a URL without a host", "pdns", "pdns-server", "http://:8081", "is not a URL of a server"},
		{"a password that everybody could read", "webhook", "webhook-provider-url", "http://a:hunter2@webhook:8888", "holds a user or a password"},
		{"an unknown authority", "cloudflare", "cloudflare-custom-hostnames-certificate-authority", "me", "is not one of google, ssl_com, lets_encrypt, none"},
		{"a page that is too long", "cloudflare", "cloudflare-dns-records-per-page", json.Number("5001"), "from 1 to 5000"},
		{"visibility", "google", "google-zone-visibility", "hidden", "is not one of public, private"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			errors, _ := Check(Record{Provider: c.provider, Parameters: Parameters{c.name: c.value}})
			require.Len(t, errors, 1)
			assert.Equal(t, "/"+c.name, errors[0].Pointer)
			assert.Contains(t, errors[0].Detail, c.detail)
			assert.NotContains(t, errors[0].Detail, "hunter2")
		})
	}
}

func TestPowerDNSCannotPretend(t *testing.T) {
	_, stuck := Compile(options(Record{Provider: "pdns", Environment: []string{"EXTERNAL_DNS_PDNS_API_KEY"}, Parameters: Parameters{"dry-run": true}}))
	assert.Equal(t, []string{"/dry-run provider pdns cannot: external-dns would not start"}, lines(stuck))
}

func TestASidecarIsTheWebhooksAlone(t *testing.T) {
	errors, _ := Check(Record{Provider: "aws", WebhookPort: 8888})
	assert.Equal(t, []string{"belongs to provider webhook, not aws"}, lines(errors))
	errors, _ = Check(Record{Provider: "webhook", WebhookPort: 8888, Parameters: Parameters{"webhook-provider-url": "http://elsewhere:8888"}})
	assert.Equal(t, []string{"/webhook-provider-url excludes the sidecar; give one of them"}, lines(errors))
}

func TestAllErrorsOfABodyAtOnceInStableOrder(t *testing.T) {
	for range 20 {
		errors, _ := Check(coredns(parameters(t, `{"zzz":1,"interval":"x","aws-zone-type":"public","domain-filter":["*","b b"]}`)))
		pointers := make([]string, len(errors))
		for i, f := range errors {
			pointers[i] = f.Pointer
		}
		assert.Equal(t, []string{"/aws-zone-type", "/domain-filter/0", "/domain-filter/1", "/interval", "/zzz"}, pointers)
	}
}

// story is a record and all of its findings, in full.
type story struct {
	reason string
	record Record
	want   []string
}

// onlyWarns proves that the findings are warnings, and no obstacle to a plan.
func (s story) onlyWarns(t *testing.T) {
	errors, warnings := Check(s.record)
	assert.Empty(t, errors)
	assert.Equal(t, s.want, lines(warnings))
	_, stuck := Compile(options(s.record))
	assert.Empty(t, stuck)
}

func TestWarningsOnOneParameter(t *testing.T) {
	for _, c := range []story{
		{"both forms of a boolean: the no- form wins",
			Record{Provider: "aws", Parameters: parameters(t, `{"domain-filter":"a.example","aws-evaluate-target-health":true,"no-aws-evaluate-target-health":true}`)},
			[]string{"/aws-evaluate-target-health is given as no-aws-evaluate-target-health, too, which wins"}},
		{"a word for a boolean means true",
			rfc2136(Parameters{"rfc2136-axfr": "axfr"}),
			[]string{`/rfc2136-axfr is a boolean; the word "axfr" is treated as true`}},
		{"a former name",
			coredns(Parameters{"request-timeout": "30s"}),
			[]string{"/request-timeout is called kube-api-request-timeout from v0.21.0 on; with any version either name works"}},
		{"a former name beside the new one",
			coredns(Parameters{"request-timeout": "30s", "kube-api-request-timeout": "20s"}),
			[]string{"/request-timeout is called kube-api-request-timeout from v0.21.0 on; with any version either name works",
				"/request-timeout is given as kube-api-request-timeout, too, which wins"}},
		{"once does not belong in a Deployment",
			coredns(Parameters{"once": true}),
			[]string{"/once does not belong in a Deployment, which would restart external-dns without end; it is left out"}},
		{"contour-load-balancer is removed",
			coredns(Parameters{"contour-load-balancer": "heptio-contour/contour"}),
			[]string{"/contour-load-balancer was removed from external-dns in v0.13.6; it is left out"}},
		{"service-type-filter all, and no effect on DNSEndpoints",
			coredns(Parameters{"service-type-filter": "all"}),
			[]string{"/service-type-filter has no effect: DNSEndpoints already say every name and target; it is left out",
				"/service-type-filter all is not a type that external-dns knows; nothing stands for every type"}},
		{"a flag for other sources",
			coredns(Parameters{"publish-host-ip": "true"}),
			[]string{"/publish-host-ip has no effect: DNSEndpoints already say every name and target; it is left out"}},
		{"a general parameter of other providers",
			coredns(Parameters{"zone-id-filter": "Z1"}),
			[]string{"/zone-id-filter has no effect with provider coredns; it is left out"}},
		{"a parameter of the family",
			Record{Provider: "aws-sd", Parameters: Parameters{"domain-filter": "a.example", "aws-prefer-cname": true}},
			[]string{"/aws-prefer-cname has no effect with provider aws-sd; it is left out"}},
	} {
		t.Run(c.reason, c.onlyWarns)
	}
}

func TestWarningsOnParametersTogether(t *testing.T) {
	for _, c := range []story{
		{"policy sync without a domain filter",
			Record{Provider: "aws"},
			[]string{"/domain-filter is missing: policy sync manages every name that the provider's account reaches"}},
		{"coredns without ETCD_URLS",
			Record{Provider: "coredns", Parameters: Parameters{"policy": "upsert-only"}},
			[]string{"is not in the environment: external-dns would look for etcd at http://localhost:2379"}},
		{"a prefix that would make broken keys",
			coredns(Parameters{"coredns-prefix": "skydns"}),
			[]string{`/coredns-prefix becomes "/skydns/": the keys need a slash on both sides`}},
		{"filters that cancel each other",
			coredns(Parameters{"exclude-domains": "lab.example"}),
			[]string{"/exclude-domains excludes all that domain-filter includes: the provider covers no name"}},
		{"a regular expression replaces domains",
			coredns(Parameters{"regex-domain-filter": "a"}),
			[]string{"/domain-filter is replaced by regex-domain-filter; it is left out"}},
		{"a prefix that no name can have",
			coredns(Parameters{"txt-prefix": "custom string"}),
			[]string{`/txt-prefix "custom string" cannot be part of a DNS name (letters, digits, - _ . and %{record_type} can); it is left out`}},
		{"a registry without TXT records",
			coredns(Parameters{"registry": "noop", "policy": "create-only", "txt-prefix": "a-"}),
			[]string{"/txt-prefix has no effect with registry noop; it is left out"}},
		{"nothing is published",
			coredns(Parameters{"dry-run": true}),
			[]string{"/dry-run external-dns prints changes and makes none: no name is published"}},
		{"probes cannot reach a loopback address",
			coredns(Parameters{"metrics-address": "127.0.0.1:7979"}),
			[]string{"/metrics-address probes reach the pod's address alone: the host is left out, and external-dns listens at :7979"}},
		{"without zone transfers nothing is updated or deleted",
			rfc2136(Parameters{"rfc2136-axfr": false}),
			[]string{"/rfc2136-axfr is not true: external-dns cannot read the zone, and nothing is ever updated or deleted; set it, with any version"}},
		{"a signature beside no signature",
			rfc2136(Parameters{"rfc2136-insecure": true, "rfc2136-tsig-secret-alg": "hmac-md5"}),
			[]string{"/rfc2136-tsig-keyname has no effect with rfc2136-insecure; it is left out",
				"/rfc2136-tsig-secret-alg has no effect with rfc2136-insecure; it is left out"}},
		{"the zones that the domains stand for",
			rfc2136(Parameters{"rfc2136-zone": "", "domain-filter": []any{".corp.example", "münchen.example"}}),
			[]string{"/rfc2136-zone is missing: each domain of domain-filter is treated as a zone"}},
		{"a file that no credential gives",
			Record{Provider: "azure", Parameters: Parameters{"domain-filter": "a.example"}, Files: []string{"/etc/azure.json"}},
			[]string{`/azure-config-file no credential gives the file "/etc/kubernetes/azure.json", and external-dns does not start without it`}},
		{"PowerDNS in the pod itself",
			Record{Provider: "pdns", Parameters: Parameters{"domain-filter": "a.example"}, Environment: []string{"EXTERNAL_DNS_PDNS_API_KEY"}},
			[]string{"/pdns-server is missing: external-dns would look for PowerDNS at http://localhost:8081"}},
		{"TLS files without TLS",
			rfc2136(Parameters{"tls-ca": "/ca.crt"}),
			[]string{"/tls-ca has no effect without rfc2136-use-tls; it is left out"}},
		{"Cloud Map keeps no TXT records",
			Record{Provider: "aws-sd", Parameters: Parameters{"domain-filter": "a.example", "registry": "txt"}},
			[]string{"/registry Cloud Map has no TXT records; use aws-sd"}},
		{"a flag that is set past the checks",
			Record{Provider: "aws", Parameters: Parameters{"policy": "create-only"}, Environment: []string{"EXTERNAL_DNS_ONCE"}},
			[]string{"sets a flag unseen; its place is the parameter once"}},
	} {
		t.Run(c.reason, c.onlyWarns)
	}
}

func TestWhatCannotWorkIsAWarningAtWriteAndAnErrorOfCompile(t *testing.T) {
	for _, c := range []story{
		{"a TSIG algorithm that external-dns lacks",
			rfc2136(Parameters{"rfc2136-tsig-secret-alg": "tsig secret alg"}),
			[]string{`/rfc2136-tsig-secret-alg external-dns has no TSIG algorithm "tsig secret alg"; it has hmac-sha1, hmac-sha224, hmac-sha256, hmac-sha384, hmac-sha512`}},
		{"no host",
			rfc2136(Parameters{"rfc2136-host": ""}),
			[]string{"/rfc2136-host is missing: provider rfc2136 needs at least one"}},
		{"no zone",
			rfc2136(Parameters{"rfc2136-zone": []any{""}, "domain-filter": nil, "policy": "create-only"}),
			[]string{"/rfc2136-zone is missing: provider rfc2136 needs at least one"}},
		{"neither key name nor insecure",
			rfc2136(Parameters{"rfc2136-tsig-keyname": nil}),
			[]string{"/rfc2136-tsig-keyname is missing: signed updates need it; give it, or set rfc2136-insecure"}},
		{"Kerberos without its user",
			rfc2136(Parameters{"rfc2136-tsig-keyname": nil, "rfc2136-gss-tsig": true, "rfc2136-kerberos-realm": "CORP", "rfc2136-kerberos-password": "p"}),
			[]string{"/rfc2136-kerberos-username is missing: rfc2136-gss-tsig needs it"}},
		{"signed and not signed",
			rfc2136(Parameters{"rfc2136-gss-tsig": true, "rfc2136-insecure": true}),
			[]string{"/rfc2136-insecure excludes rfc2136-gss-tsig; give one of them"}},
		{"txt-prefix excludes txt-suffix",
			coredns(Parameters{"txt-prefix": "a-", "txt-suffix": "-b"}),
			[]string{"/txt-suffix excludes txt-prefix; give one of them"}},
		{"Cloudflare without an account",
			Record{Provider: "cloudflare", Parameters: Parameters{"domain-filter": "a.example"}, Environment: []string{"CF_API_KEY"}},
			[]string{"is not in the environment; give it as a credential, or CF_API_KEY with CF_API_EMAIL"}},
		{"PowerDNS without a key",
			Record{Provider: "pdns", Parameters: Parameters{"domain-filter": "a.example", "pdns-server": "http://pdns:8081"}},
			[]string{"/pdns-api-key is missing: provider pdns needs it"}},
		{"a webhook that is nowhere",
			Record{Provider: "webhook", Parameters: Parameters{"domain-filter": "a.example"}},
			[]string{"is missing: provider webhook needs the image of a sidecar, or webhook-provider-url"}},
		{"two servers at one port of a pod",
			Record{Provider: "webhook", Parameters: Parameters{"domain-filter": "a.example", "metrics-address": ":8888"}, WebhookPort: 8888},
			[]string{"/metrics-address is the sidecar's port, too; both are in one pod"}},
		{"ownership in a place that the provider does not have",
			coredns(Parameters{"registry": "aws-sd"}),
			[]string{"/registry aws-sd keeps ownership in Cloud Map, which provider coredns does not have; use txt"}},
		{"reverse records that are not managed",
			coredns(Parameters{"create-ptr": true, "managed-record-types": []any{"A", "AAAA"}}),
			[]string{"/create-ptr needs PTR in managed-record-types"}},
		{"encryption without a key",
			coredns(Parameters{"txt-encrypt-enabled": true}),
			[]string{"/txt-encrypt-enabled needs txt-encrypt-aes-key"}},
		{"a key of the wrong length",
			coredns(Parameters{"txt-encrypt-enabled": true, "txt-encrypt-aes-key": "short"}),
			[]string{"/txt-encrypt-aes-key must be 32 bytes, plain or in base64"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			errors, warnings := Check(c.record)
			assert.Empty(t, errors)
			assert.Equal(t, c.want, lines(warnings))
			arguments, stuck := Compile(options(c.record))
			assert.Equal(t, c.want, lines(stuck))
			assert.Empty(t, arguments)
		})
	}
}

func TestRegistryNoopWithPolicySyncNeedsConsent(t *testing.T) {
	record := coredns(Parameters{"registry": "noop"})
	errors, _ := Check(record)
	require.Len(t, errors, 1, "sync is the default policy")
	assert.Equal(t, "/registry", errors[0].Pointer)
	assert.Contains(t, errors[0].Detail, "allowUnownedDeletion")

	record.AllowUnownedDeletion = true
	errors, _ = Check(record)
	assert.Empty(t, errors)

	errors, _ = Check(coredns(Parameters{"registry": "noop", "policy": "upsert-only"}))
	assert.Empty(t, errors, "nothing is deleted")
}

func TestFindingsNeverQuoteASecret(t *testing.T) {
	for _, value := range []any{"hunter2 hunter2", "hunter2\n\x00", []any{"hunter2", "hunter2"}, json.Number("42")} {
		errors, warnings := Check(rfc2136(Parameters{"rfc2136-tsig-secret": value, "txt-encrypt-aes-key": value}))
		for _, line := range append(lines(errors), lines(warnings)...) {
			assert.NotContains(t, line, "hunter2")
			assert.NotContains(t, line, "42")
		}
	}
}
