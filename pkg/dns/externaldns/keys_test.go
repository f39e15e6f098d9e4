package externaldns

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamesBelow(t *testing.T) {
	for reason, c := range map[string]struct {
		provider   string
		parameters Parameters
		extra      []string
		want       string
	}{
		"external-dns' own":                {"coredns", nil, nil, "/skydns/"},
		"another word for coredns":         {"skydns", nil, nil, "/skydns/"},
		"as it was given, and cleaned":     {"coredns", Parameters{"coredns-prefix": []any{" skydns//example"}}, nil, "/skydns/example/"},
		"no text is not a prefix":          {"coredns", Parameters{"coredns-prefix": ""}, nil, "/skydns/"},
		"by hand, from before":             {"coredns", nil, []string{"--coredns-prefix=/skydns/a/", "--coredns-prefix=/skydns/b"}, "/skydns/b/"},
		"names of others are no keys":      {"aws", Parameters{"coredns-prefix": "/skydns/example/"}, nil, ""},
		"nobody's":                         {"", nil, nil, ""},
		"a server that is not a key store": {"rfc2136", nil, nil, ""},
	} {
		assert.Equal(t, c.want, NamesBelow(c.provider, c.parameters, c.extra), reason)
	}
}

func TestNamesAreSeenWithTheirPrefix(t *testing.T) {
	const host = "x.www.bakery"
	for reason, c := range map[string]struct {
		prefix string
		want   Seen
		claims []string
		names  []string
	}{
		"no key":      {"", Seen{host, host, host}, []string{host}, []string{host}},
		"the default": {"/skydns/", Seen{host, host, host}, []string{host}, []string{host}},
		"a part of the name": {
			"/skydns/example/", Seen{host, host + ".example", host + ".example"},
			[]string{host, host + ".example"}, []string{host, host + ".example"},
		},
		"several, in whatever case": {
			"/skydns/EXAMPLE/lab/", Seen{host, host + ".lab.example", host + ".lab.example"},
			[]string{host, host + ".lab.example"}, []string{host, host + ".lab", host + ".lab.example"},
		},
		"a path of its own, which may be a part of the name as well": {
			"/example/", Seen{host, host, host + ".example"},
			[]string{host, host + ".example"}, []string{host, host + ".example"},
		},
		"a path and a part": {
			"/dns/example/", Seen{host, host + ".example", host + ".example.dns"},
			[]string{host, host + ".example", host + ".example.dns"}, []string{host, host + ".example", host + ".example.dns"},
		},
		"a deeper part of another path": {
			"/dns/a/b/", Seen{host, host + ".b.a", host + ".b.a.dns"},
			[]string{host, host + ".b.a", host + ".b.a.dns"}, []string{host, host + ".b", host + ".b.a", host + ".b.a.dns"},
		},
		"nothing but the root": {"/", Seen{host, host, host}, []string{host}, []string{host}},
	} {
		seen := SeenAs(c.prefix, host)
		assert.Equal(t, c.want, seen, reason)
		assert.Equal(t, c.claims, seen.Claims(), reason)
		assert.Equal(t, c.names, Names(c.prefix, host), reason)
	}
}

// TestTheDefaultPathMayBeAPartOfTheHost: below the root it is the last label.
func TestTheDefaultPathMayBeAPartOfTheHost(t *testing.T) {
	assert.Equal(t, SeenAs("/skydns/", "www.bakery.example").Whole, SeenAs("/", "www.bakery.example.skydns").Whole)
	assert.Contains(t, Names("/", "www.bakery.example.skydns"), "www.bakery.example")
	assert.Equal(t, "www.skydns", SeenAs("", "www.skydns").Whole, "of another provider it is a name like others")
}
