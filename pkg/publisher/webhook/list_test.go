package webhook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/external-dns/endpoint"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

func endpointOf(name, kind string, ttl int, targets ...string) *endpoint.Endpoint {
	return &endpoint.Endpoint{DNSName: name, RecordType: kind, RecordTTL: endpoint.TTL(ttl), Targets: targets}
}

// TestAllRecordsOfAProgramAreListed as zone files have them, with their marks, and without what is the zone's own.
func TestAllRecordsOfAProgramAreListed(t *testing.T) {
	w := begin(t, &program{records: []*endpoint.Endpoint{
		nil, endpointOf("lab.example", "NS", 60, "ns.lab.example"), endpointOf("lab.example", "SOA", 60, "ns.lab.example x 1 2 3 4 5"),
		endpointOf("WWW.lab.example.", "A", 60, "192.0.2.1", "192.0.2.2"), endpointOf("www.lab.example", "A", 30, "192.0.2.1"),
		endpointOf("a-www.lab.example", "TXT", 0, `"heritage=external-dns,external-dns/owner=legacy,external-dns/resource=ingress/web/www"`),
		endpointOf("cname-api.lab.example", "TXT", 0, `heritage=external-dns,external-dns/owner=one`), endpointOf("api.lab.example", "CNAME", 60, "lb.cloud.example"),
		endpointOf("lab.example", "MX", 60, "10 mail.lab.example"), endpointOf("lab.example", "TXT", 60, `v=spf1 "x"`, `"of "  "two"`),
	}})
	sets, err := w.List(t.Context(), 12)
	require.NoError(t, err)
	require.ElementsMatch(t, []publisher.Set{
		{Name: "www.lab.example", Type: "A", TTL: 30, Targets: []string{"192.0.2.1", "192.0.2.2"}, Mark: publisher.Mark{Owner: "legacy", Resource: "ingress/web/www"}},
		{Name: "api.lab.example", Type: "CNAME", TTL: 60, Targets: []string{"lb.cloud.example."}, Mark: publisher.Mark{Owner: "one"}},
		{Name: "lab.example", Type: "MX", TTL: 60, Targets: []string{"10 mail.lab.example."}},
		{Name: "lab.example", Type: "TXT", TTL: 60, Targets: []string{`"v=spf1 \"x\""`, `"of two"`}},
	}, sets)
}

// TestListsOfAProgramAreLimited in records and in bytes.
func TestListsOfAProgramAreLimited(t *testing.T) {
	w := begin(t, &program{records: []*endpoint.Endpoint{endpointOf("www.lab.example", "A", 60, "192.0.2.1", "192.0.2.2", "192.0.2.3")}})
	_, err := w.List(t.Context(), 3)
	require.NoError(t, err)
	_, err = w.List(t.Context(), 2)
	require.Equal(t, publisher.Invalid, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "more than 2 records, or more than 64 MiB")
	w = begin(t, &program{records: []*endpoint.Endpoint{endpointOf("www.lab.example", "TXT", 60, strings.Repeat("x", publisher.MostListedBytes+1))}})
	_, err = w.List(t.Context(), 2)
	require.Error(t, err)
}
