package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission/poddns"
)

func TestQueryNamesAreCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"www.a.foo.com":                  "www.a.foo.com",
		"WWW.A.foo.com.":                 "www.a.foo.com",
		"kubernetes":                     "kubernetes",
		".":                              ".",
		"_http._tcp.web.shop.svc.local":  "_http._tcp.web.shop.svc.local",
		"*.foo.com":                      "*.foo.com",
		"5.2.0.192.in-addr.arpa.":        "5.2.0.192.in-addr.arpa",
		"münchen.example":                "xn--mnchen-3ya.example",
		"xn--mnchen-3ya.Example":         "xn--mnchen-3ya.example",
		"10-1-2-3.ns.pod.cluster.local.": "10-1-2-3.ns.pod.cluster.local",
	} {
		got, err := poddns.QueryName(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
}

func TestWhatIsNoNameIsRefused(t *testing.T) {
	for text, says := range map[string]string{
		"":                              "has an empty label",
		"..":                            "has an empty label",
		"a..b":                          "has an empty label",
		".a":                            "has an empty label",
		"a b":                           "letters, digits and '-'",
		"a/b":                           "letters, digits and '-'",
		"-a.b":                          "letters, digits and '-'",
		"a*.b":                          `"*"`,
		"a\nb":                          "letters, digits and '-'",
		"::1":                           "letters, digits and '-'",
		strings.Repeat("a", 64):         "longer than 63",
		strings.Repeat("aaa.", 64):      "longer than 253",
		strings.Repeat("ü", 5000):       "longer than 253",
		"xn--zzzzzzzzzz9999999.example": "IDNA",
	} {
		_, err := poddns.QueryName(text)
		require.ErrorContains(t, err, says, text)
	}
}
