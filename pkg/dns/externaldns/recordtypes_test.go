package externaldns

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhichTypesAreKept(t *testing.T) {
	for _, c := range []struct {
		provider, kind string
		version        Version
		want           bool
	}{
		{"aws", "MX", V020, true}, {"aws", "PTR", V022, false}, {"aws", "CAA", V022, false},
		{"pdns", "NS", V020, false}, {"pdns", "NS", V021, true}, {"rfc2136", "TXT", V020, true}, {"rfc2136", "MX", V022, false},
		{"aws", "SRV", V020, true}, {"aws", "SRV", V021, false}, {"rfc2136", "SRV", V022, false},
		{"coredns", "TXT", V022, false}, {"webhook", "TXT", V022, false}, {"nobodys", "MX", V022, false},
	} {
		assert.Equal(t, c.want, Publishes(c.provider, c.kind, c.version), "%v", c)
	}
	assert.Contains(t, TypeAdvice("PTR"), "publishes them for inmemory, pdns, rfc2136, and the built-in publisher writes them for rfc2136; give such a provider")
	assert.Contains(t, TypeAdvice("CAA"), "for no provider, and the built-in publisher writes them for rfc2136; give such a provider")
}

func TestTextsAreWrittenAsProvidersCompareThem(t *testing.T) {
	for _, text := range []string{"", "a", `v=spf1 "x" \ ;`, strings.Repeat("x", 256), strings.Repeat(`"\`, 300)} {
		for _, provider := range []string{"aws", "rfc2136"} {
			if UnwritableText(provider, text) == "" {
				assert.Equal(t, text, ReadText(WriteText(provider, text)), provider)
			}
		}
	}
	assert.Equal(t, `"a \"b\""`, WriteText("aws", `a "b"`))
	assert.Equal(t, `"`+strings.Repeat("x", 255)+`" "x"`, WriteText("pdns", strings.Repeat("x", 256)))
	assert.Equal(t, "a=b", WriteText("rfc2136", "a=b"))
	for _, text := range []string{"a b", "a;b", `a"b`, strings.Repeat("x", 256)} {
		assert.NotEmpty(t, UnwritableText("rfc2136", text), text)
		assert.Empty(t, UnwritableText("aws", text), text)
	}
}
