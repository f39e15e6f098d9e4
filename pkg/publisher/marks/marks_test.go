package marks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/external-dns/endpoint"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// TestTextIsThatOfExternalDNS compares with external-dns' own labels.
func TestTextIsThatOfExternalDNS(t *testing.T) {
	for _, mark := range []publisher.Mark{{Owner: "one"}, {Owner: "sp-1", Resource: "crd/shop/www"}} {
		labels := endpoint.Labels{endpoint.OwnerLabelKey: mark.Owner}
		if mark.Resource != "" {
			labels[endpoint.ResourceLabelKey] = mark.Resource
		}
		assert.Equal(t, labels.SerializePlain(true), Text(mark))
		read, ok := Parse(Text(mark))
		assert.True(t, ok)
		assert.Equal(t, mark, read)
	}
}

func TestTextsOfOthersAreNoMarks(t *testing.T) {
	for _, text := range []string{"", "v=spf1 -all", "heritage=other,external-dns/owner=one", "external-dns/owner=one"} {
		_, ok := Parse(text)
		assert.False(t, ok, text)
		_, err := endpoint.NewLabelsFromStringPlain(text)
		assert.Error(t, err, "external-dns agrees")
	}
}

// FuzzParseAgreesWithExternalDNS takes any text.
func FuzzParseAgreesWithExternalDNS(f *testing.F) {
	f.Add(`"heritage=external-dns,external-dns/owner=one,external-dns/resource=crd/a/b"`)
	f.Add("heritage=external-dns,heritage=other")
	f.Fuzz(func(t *testing.T, text string) {
		labels, err := endpoint.NewLabelsFromStringPlain(text)
		mark, ok := Parse(text)
		require.Equal(t, err == nil, ok, text)
		if ok && !strings.Contains(text, "external-dns/external-dns") {
			require.Equal(t, labels[endpoint.OwnerLabelKey], mark.Owner)
			require.Equal(t, labels[endpoint.ResourceLabelKey], mark.Resource)
		}
	})
}

func TestOtherRegistriesAreRefused(t *testing.T) {
	for _, parameters := range []externaldns.Parameters{{"registry": "noop"}, {"txt-encrypt-enabled": true, "txt-encrypt-aes-key": strings.Repeat("x", 32)}} {
		_, err := For(publisher.Settings{Provider: "coredns", Owner: "one", Parameters: parameters})
		require.Equal(t, publisher.Invalid, fault.Of(err))
	}
	m, err := For(publisher.Settings{Provider: "coredns", Owner: "one", Parameters: externaldns.Parameters{"txt-owner-id": "two", "txt-prefix": "own."}})
	require.NoError(t, err)
	assert.Equal(t, "two", m.Owner())
	assert.Equal(t, "own.a-www.lab.example", m.Name("www.lab.example", "A"))
}
