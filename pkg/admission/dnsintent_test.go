package admission_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// names is a right intent with these host names and more fields.
func names(hostnames, more string) string {
	return `{"app":"web","serviceName":"web","hostnames":` + hostnames + more + `}`
}

func TestDNSIntentsAreRefused(t *testing.T) {
	const one = `["www.lab.example"]`
	refused(t, []refusal{
		{reason: "no such app", path: www, spec: `{"app":"db","serviceName":"db","hostnames":["db.lab.example"]}`,
			errors: map[string]string{"/spec/app": "whose apps are: web, api"}},
		{reason: "no Service's name", path: www, spec: `{"app":"web","serviceName":"Web.example","hostnames":["www.lab.example"]}`,
			errors: map[string]string{"/spec/serviceName": "not a name of a Service"}},
		{reason: "no host name", path: www, spec: names(`[]`, ``), errors: map[string]string{"/spec/hostnames": "at least one"}},
		{reason: "one host name twice, written differently", path: www, spec: names(`["www.lab.example","WWW.Lab.Example."]`, ``),
			errors: map[string]string{"/spec/hostnames/1": "/spec/hostnames/0"}},
		{reason: "Kubernetes' namespace", path: www, spec: names(one, `,"namespace":"kube-system"`), errors: map[string]string{"/spec/namespace": "Kubernetes"}},
		{reason: "Signpost's namespace", path: www, spec: names(one, `,"namespace":"signpost"`), errors: map[string]string{"/spec/namespace": "is the namespace of Signpost with its ServiceAccounts"}},
		{reason: "another project's namespace", path: www, code: intent.Conflict, spec: names(one, `,"namespace":"other-dns"`),
			errors: map[string]string{"/spec/namespace": "the namespace of another project"}},
		{reason: "scope, TTL and types", path: www, spec: names(one, `,"scope":"all","ttl":2147483648,"recordTypes":["A","MX","A"]`),
			errors: map[string]string{"/spec/scope": "public or cluster", "/spec/ttl": "2147483647", "/spec/recordTypes/1": "CNAME", "/spec/recordTypes/2": "twice"}},
		{reason: "a negative TTL", path: www, spec: names(one, `,"ttl":-1`), errors: map[string]string{"/spec/ttl": "not a TTL"}},
		{reason: "a record that does not exist", path: www, code: intent.Conflict, spec: names(one, `,"records":["none"]`),
			errors: map[string]string{"/spec/records/0": "projects/shop/dns-update-records/none, which does not exist"}},
		{reason: "records of no and of one name", path: www, spec: names(one, `,"records":["a/b","lab","lab"]`),
			errors: map[string]string{"/spec/records/0": "not a name", "/spec/records/2": "twice"}},
		{reason: "a name that a record does not cover", path: www, spec: names(`["www.lab.example","www.else.example","lab.example.com"]`, `,"records":["lab"]`),
			errors: map[string]string{"/spec/hostnames/1": "provider lab does not cover", "/spec/hostnames/2": "not cover \"lab.example.com\""}},
	})
}

func TestDNSIntentsAreCanonical(t *testing.T) {
	accepted(t, []acceptance{
		{reason: "host names", path: www, refs: []intent.Path{lab},
			spec:   names(`["WWW.Lab.Example.","*.lab.example"]`, `,"ttl":30,"records":["lab"],"routing":{"policy":"multivalue"},"health":{"readyEndpoints":true,"unreachableAfter":"5m","whenAllUnhealthy":"keep"}`),
			stored: names(`["www.lab.example","*.lab.example"]`, `,"ttl":30,"records":["lab"],"routing":{"policy":"multivalue"},"health":{"readyEndpoints":true,"unreachableAfter":"5m","whenAllUnhealthy":"keep"}`)},
		{reason: "all fields that work", path: www,
			spec:   names(`["münchen.example"]`, `,"namespace":"shop","scope":"cluster","ttl":2147483647,"recordTypes":["A","AAAA","CNAME","SRV"]`),
			stored: names(`["xn--mnchen-3ya.example"]`, `,"namespace":"shop","scope":"cluster","ttl":2147483647,"recordTypes":["A","AAAA","CNAME","SRV"]`)},
	})
}

func TestHostNamesAreCanonical(t *testing.T) {
	w := newShop(t)
	for _, c := range []struct{ reason, given, want string }{
		{"lower case", "WWW.Example", "www.example"},
		{"no trailing dot", "www.example.", "www.example"},
		{"IDNA", "Bücher.example", "xn--bcher-kva.example"},
		{"IDNA 2008 keeps ß", "straße.example", "xn--strae-oqa.example"},
		{"encoded already", "XN--BCHER-KVA.example", "xn--bcher-kva.example"},
		{"encoded already, however odd it looks: this is 箥", "xn--zzz.example", "xn--zzz.example"},
		{"another script's dot", "www。example", "www.example"},
		{"a wildcard", "*.Bücher.example", "*.xn--bcher-kva.example"},
		{"two dashes in ASCII", "r3---sn-4g5e.example", "r3---sn-4g5e.example"},
		{"63 characters", strings.Repeat("a", 63) + ".example", strings.Repeat("a", 63) + ".example"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			w.must(www, names(`["`+c.given+`"]`, ``))
			assert.Equal(t, []any{c.want}, w.spec(www)["hostnames"])
		})
	}
}

func TestHostNamesAreRefused(t *testing.T) {
	w := newShop(t)
	for given, why := range map[string]string{
		"": "not a full host name", ".": "not a full host name", "www": "with its domain", "*": "with its domain", "a..example": "empty label", ".example.com": "empty label",
		"www.example..": "empty label", "a b.example": "label with other characters than letters", "_x.example": "label with other characters than letters", "-a.example": "label with other characters than letters",
		"a-.example": "label with other characters than letters", "a*.example": "whole first label", "www.*.example": "whole first label", "**.example": "whole first label",
		"192.0.2.1": "is an address", "www.123": "ends in a number", "[2001:db8::1]": "not a full host name", "http://www.example": "label with other characters than letters",
		"{{.Name}}.lab.example": "has .Name; write one such as {{.Cluster}}.lab.example", "www.example:80": "label with other characters than letters", "xn--0.example": "IDNA", "xn--a.example": "IDNA", "xn--zzzz.example": "IDNA", "www.xn--.example": "empty label",
		strings.Repeat("a", 64) + ".example": "longer than 63", strings.Repeat("abcdefg.", 32) + "example": "longer than 253", "a\u200d.example": "IDNA",
		strings.Repeat("ü", 2000) + ".example": "longer than 253", "www.example\u0000.com": "label with other characters than letters",
	} {
		t.Run(given[:min(len(given), 20)], func(t *testing.T) {
			_, err := w.admit(www, names(mustJSON(t, []string{given}), ``))
			assertFields(t, err, intent.Invalid, map[string]string{"/spec/hostnames/0": why})
		})
	}
}

func FuzzHostNames(f *testing.F) {
	for _, seed := range []string{"www.lab.example", "*.Bücher.Example.", "xn--bcher-kva.example", "。.a", "a\u00ad.example", "ß.ß", "{{.}}"} {
		f.Add(seed)
	}
	w := newShop(&testing.T{})
	f.Fuzz(func(t *testing.T, name string) {
		write, err := w.admit(www, names(mustJSON(t, []string{name}), ``))
		if err != nil {
			assert.Equal(t, intent.Invalid, intent.CodeOf(err))
			return
		}
		canonical := hostnameOf(t, write)
		assert.Regexp(t, `^(\*\.)?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)*[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`, canonical)
		assert.LessOrEqual(t, len(canonical), 253)
		again, err := w.admit(www, names(mustJSON(t, []string{canonical}), ``))
		require.NoError(t, err, "the canonical form is a host name")
		assert.Equal(t, canonical, hostnameOf(t, again), "the canonical form is its own")
	})
}

// leaving is a store whose caller is gone once a record was read; it answers all the
// same.
type leaving struct {
	intent.Store
	leave func()
}

// Get implements intent.Store.
func (l leaving) Get(ctx context.Context, path intent.Path) (intent.Document, error) {
	if path == lab {
		l.leave()
	}
	return l.Store.Get(context.WithoutCancel(ctx), path)
}

// TestNamesAreMatchedForAsLongAsSomebodyWaits: each is matched with each record's
// regular expression, and both may be many.
func TestNamesAreMatchedForAsLongAsSomebodyWaits(t *testing.T) {
	w := newShop(t)
	ctx, leave := context.WithCancel(t.Context())
	admitter := admission.New(leaving{w.store, leave}, review.Rules{})
	_, err := admitter.Admit(ctx, www, []byte(`{"metadata":{"name":"www"},"spec":`+names(`["www.lab.example"]`, `,"records":["lab"]`)+`}`), nil)
	require.ErrorIs(t, err, context.Canceled)
}
