package externaldns

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
)

func options(record Record) Options {
	return Options{Record: record, Namespace: "shop-dns", LabelFilter: "signpost.dev/record=lab", OwnerID: "sp-00000000-11111111"}
}

// compiled renders a record that has no fault, and gives what differs from the
// four arguments that every command line begins with.
func compiled(t *testing.T, o Options) []string {
	t.Helper()
	arguments, findings := Compile(o)
	require.Empty(t, findings)
	require.Equal(t, []string{"--source=crd", "--provider=" + o.Provider, "--namespace=shop-dns", "--label-filter=signpost.dev/record=lab"}, arguments.Args[:4])
	return arguments.Args[4:]
}

// TestGolden compares stories in testdata: a record, its version, and the
// command line. SIGNPOST_GOLDEN=write writes what is compiled.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var story struct {
				Provider    string
				Version     string
				Parameters  Parameters
				Environment []string
			}
			require.NoError(t, json.Unmarshal(text, &story))
			o := options(Record{Provider: story.Provider, Parameters: story.Parameters, Environment: story.Environment})
			o.Version, err = ParseVersion(story.Version)
			require.NoError(t, err)
			got := commandLine(t, o)
			golden.Equal(t, strings.TrimSuffix(filepath.Base(file), ".json")+".golden", got)
		})
	}
}

// commandLine writes what is compiled, a line for each argument and variable.
func commandLine(t *testing.T, o Options) string {
	t.Helper()
	arguments, findings := Compile(o)
	require.Empty(t, findings)
	text := strings.Join(arguments.Args, "\n") + "\n"
	for _, secret := range arguments.Secrets {
		text += secret.Environment + " from a Secret\n"
	}
	return text
}

func TestRendering(t *testing.T) {
	for _, c := range []struct {
		reason string
		record Record
		want   []string
		never  []string // flags that do not appear
	}{
		{"a list repeats, in its order", coredns(Parameters{"domain-filter": []any{"b.example", "a.example"}}),
			[]string{"--domain-filter=b.example", "--domain-filter=a.example"}, nil},
		{"a true boolean", rfc2136(Parameters{"rfc2136-use-tls": true}), []string{"--rfc2136-use-tls"}, nil},
		{"a false boolean", coredns(Parameters{"events": false}), []string{"--no-events"}, nil},
		{"a boolean in quotes", coredns(Parameters{"events": "true"}), []string{"--events"}, nil},
		{"the no- form wins", Record{Provider: "aws", Parameters: Parameters{"aws-evaluate-target-health": true, "no-aws-evaluate-target-health": true}},
			[]string{"--no-aws-evaluate-target-health"}, []string{"--aws-evaluate-target-health"}},
		{"no of no", coredns(Parameters{"no-events": false}), []string{"--events"}, nil},
		{"empty text is absent", coredns(Parameters{"log-level": "", "txt-prefix": " ", "registry": nil, "exclude-domains": []any{}}),
			[]string{"--registry=txt"}, []string{"--log-level", "--txt-prefix", "--exclude-domains"}},
		{"the user's owner id", coredns(Parameters{"txt-owner-id": "mine"}), []string{"--txt-owner-id=mine"}, nil},
		{"the generated owner id", coredns(nil), []string{"--txt-owner-id=sp-00000000-11111111"}, nil},
		{"policy and registry are always said", coredns(nil), []string{"--policy=sync", "--registry=txt"}, nil},
		{"Cloud Map keeps ownership itself", Record{Provider: "aws-sd"}, []string{"--registry=aws-sd"}, nil},
		{"the port of DNS", rfc2136(nil), []string{"--rfc2136-port=53"}, nil},
		{"the port of DNS over TLS", rfc2136(Parameters{"rfc2136-use-tls": true}), []string{"--rfc2136-port=853"}, nil},
		{"the user's port", rfc2136(Parameters{"rfc2136-use-tls": true, "rfc2136-port": 5353.0}), []string{"--rfc2136-port=5353"}, nil},
		{"the usual algorithm", rfc2136(nil), []string{"--rfc2136-tsig-secret-alg=hmac-sha256"}, nil},
		{"an algorithm in its DNS form", rfc2136(Parameters{"rfc2136-tsig-secret-alg": "HMAC-SHA512."}), []string{"--rfc2136-tsig-secret-alg=hmac-sha512"}, nil},
		{"no algorithm without a key", rfc2136(Parameters{"rfc2136-insecure": true}), []string{"--rfc2136-insecure"}, []string{"--rfc2136-tsig-secret-alg", "--rfc2136-tsig-keyname"}},
		{"a zone's final dot would match nothing", rfc2136(Parameters{"rfc2136-zone": "Corp.Example."}), []string{"--rfc2136-zone=corp.example"}, nil},
		{"an IPv6 host has no brackets", rfc2136(Parameters{"rfc2136-host": "[2001:db8::35]"}), []string{"--rfc2136-host=2001:db8::35"}, nil},
		{"a prefix has slashes", coredns(Parameters{"coredns-prefix": "a//b"}), []string{"--coredns-prefix=/a/b/"}, nil},
		{"once, a removed flag and flags of other sources are left out",
			coredns(Parameters{"once": true, "contour-load-balancer": "a/b", "fqdn-template": "x", "ignore-hostname-annotation": true, "service-type-filter": "all"}),
			nil, []string{"--once", "--contour-load-balancer", "--fqdn-template", "--ignore-hostname-annotation", "--service-type-filter"}},
		{"a zone for each domain", rfc2136(Parameters{"rfc2136-zone": nil, "domain-filter": []any{".a.example", "b.example"}}),
			[]string{"--rfc2136-zone=a.example", "--rfc2136-zone=b.example"}, nil},
		{"azure's file is always said", Record{Provider: "azure-dns"}, []string{"--azure-config-file=/etc/kubernetes/azure.json"}, nil},
		{"Cloudflare", Record{Provider: "cloudflare", Environment: []string{"CF_API_TOKEN"}, Parameters: Parameters{"cloudflare-proxied": false}},
			[]string{"--no-cloudflare-proxied"}, nil},
		{"Google", Record{Provider: "google", Parameters: Parameters{"google-project": "dns", "zone-id-filter": "123"}},
			[]string{"--google-project=dns", "--zone-id-filter=123"}, nil},
		{"PowerDNS over TLS", Record{Provider: "pdns", Parameters: Parameters{"pdns-api-key": "k", "pdns-server": "https://pdns:8081", "tls-ca": "/ca.crt"}},
			[]string{"--pdns-server=https://pdns:8081", "--tls-ca=/ca.crt"}, []string{"--pdns-api-key"}},
		{"a sidecar", Record{Provider: "webhook", WebhookPort: 9999}, []string{"--webhook-provider-url=http://localhost:9999"}, nil},
		{"a webhook elsewhere", Record{Provider: "webhook", Parameters: Parameters{"webhook-provider-url": "http://webhook.dns:8888"}},
			[]string{"--webhook-provider-url=http://webhook.dns:8888"}, nil},
		{"durations are said in one way", coredns(Parameters{"interval": "90s"}), []string{"--interval=1m30s"}, nil},
		{"metrics are served at all addresses", coredns(Parameters{"metrics-address": "127.0.0.1:8080"}), []string{"--metrics-address=:8080"}, nil},
		{"whole numbers in any notation", Record{Provider: "aws", Parameters: Parameters{"aws-batch-change-size": json.Number("1e3")}}, []string{"--aws-batch-change-size=1000"}, nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			args := compiled(t, options(c.record))
			for _, want := range c.want {
				assert.Contains(t, args, want)
			}
			for _, argument := range args {
				for _, flag := range c.never {
					assert.False(t, argument == flag || strings.HasPrefix(argument, flag+"="), "%s is rendered", argument)
				}
			}
		})
	}
}

func TestVersionsKnowFlagsUnderTheirNames(t *testing.T) {
	for _, c := range []struct {
		reason  string
		version Version
		record  Record
		want    string
	}{
		{"request-timeout before v0.21", V020, coredns(Parameters{"request-timeout": "9s"}), "--request-timeout=9s"},
		{"request-timeout from v0.21", V021, coredns(Parameters{"request-timeout": "9s"}), "--kube-api-request-timeout=9s"},
		{"the new name on an old version", V020, coredns(Parameters{"kube-api-request-timeout": "9s"}), "--request-timeout=9s"},
		{"axfr before v0.22", V021, rfc2136(nil), "--rfc2136-tsig-axfr"},
		{"axfr from v0.22", V022, rfc2136(nil), "--rfc2136-axfr"},
		{"axfr by its former name from v0.22", 0, rfc2136(Parameters{"rfc2136-axfr": nil, "rfc2136-tsig-axfr": true}), "--rfc2136-axfr"},
		{"create-ptr by its former name", V020, rfc2136(Parameters{"create-ptr": true, "managed-record-types": "PTR"}), "--rfc2136-create-ptr"},
		{"a later version is taken for the newest known", V022 + 1, rfc2136(nil), "--rfc2136-axfr"},
	} {
		o := options(c.record)
		o.Version = c.version
		assert.Contains(t, compiled(t, o), c.want, c.reason)
	}
}

func TestVersionsThatCannot(t *testing.T) {
	for _, c := range []struct {
		reason  string
		version Version
		record  Record
		want    string
	}{
		{"older than what is proven", V020 - minorUnit, coredns(nil), "v0.19.0 is too old; the oldest is v0.20.0"},
		{"a flag of a later version", V020, coredns(Parameters{"coredns-strictly-owned": true}), "/coredns-strictly-owned works from v0.21.0 on, not in v0.20.0"},
		{"the former name is another provider's", V020, coredns(Parameters{"create-ptr": true, "managed-record-types": "PTR"}), "/create-ptr works from v0.21.0 on, not in v0.20.0"},
		{"a registry of a later version", V021, coredns(Parameters{"registry": "crd"}), "/registry crd works from v0.22.0 on, not in v0.21.0"},
		{"an exclusion by itself", V020, coredns(Parameters{"domain-filter": nil, "policy": "create-only", "regex-domain-exclusion": "^in"}),
			"/regex-domain-exclusion works without regex-domain-filter from v0.21.0 on, not in v0.20.0"},
		{"a provider that is gone", V022, Record{Provider: "akamai"}, "akamai was removed in v0.22.0"},
	} {
		o := options(c.record)
		o.Version = c.version
		arguments, findings := Compile(o)
		assert.Equal(t, []string{c.want}, lines(findings), c.reason)
		assert.Empty(t, arguments, c.reason)
	}
}

func TestCompileNeedsThePlace(t *testing.T) {
	_, findings := Compile(Options{Record: coredns(nil)})
	var subjects []string
	for _, f := range findings {
		subjects = append(subjects, f.Parameter)
	}
	assert.Equal(t, []string{"namespace", "label-filter", "txt-owner-id"}, subjects)
}

func TestMetricsPortIsWhereProbesAsk(t *testing.T) {
	for address, want := range map[string]int{"": 7979, ":8080": 8080, "[::1]:9090": 9090} {
		arguments, findings := Compile(options(coredns(Parameters{"metrics-address": address})))
		require.Empty(t, findings)
		assert.Equal(t, want, arguments.MetricsPort, address)
	}
}

func TestSecretsBecomeEnvironment(t *testing.T) {
	record := rfc2136(Parameters{"rfc2136-tsig-secret": "aHVudGVyMg=="})
	record.Environment = nil
	arguments, findings := Compile(options(record))
	require.Empty(t, findings)
	assert.Equal(t, []SecretVariable{{"rfc2136-tsig-secret", "EXTERNAL_DNS_RFC2136_TSIG_SECRET"}}, arguments.Secrets)
	for _, argument := range arguments.Args {
		assert.NotContains(t, argument, "aHVudGVyMg")
		assert.NotContains(t, argument, "--rfc2136-tsig-secret=")
	}
}
