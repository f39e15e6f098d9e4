package bundle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// TestStoredReadsWhatADNSEndpointPublishes has a DNSEndpoint as Signpost renders it. That
// rendering and reading agree is proven with the renderer, in pkg/plan/endpoints.
func TestStoredReadsWhatADNSEndpointPublishes(t *testing.T) {
	read := func(kind, labels, spec string) *bundle.Published {
		o, err := bundle.Stored("edge+hub", "web", []byte(
			`{"apiVersion":"externaldns.k8s.io/v1alpha1","kind":"`+kind+`","metadata":{"labels":`+labels+`,"name":"www","namespace":"shop"},"spec":`+spec+`}`))
		require.NoError(t, err)
		return o.Published
	}
	const ours = `{"signpost.dev/record":"lab","signpost.dev/scope":"public"}`
	const spec = `{"endpoints":[{"dnsName":"www.lab.example","recordTTL":60,"recordType":"A","targets":["192.0.2.1","192.0.2.2"],` +
		`"setIdentifier":"edge+hub","providerSpecific":[{"name":"other","value":"1"},{"name":"aws/weight","value":"7"}]},` +
		`{"dnsName":"_web._tcp.lab.example","recordType":"SRV","targets":["0 0 80 lab.example."]}]}`
	require.Equal(t, &bundle.Published{Record: "lab", Scope: "public", Names: []bundle.PublishedName{
		{Name: "www.lab.example", Host: "www.lab.example", Type: "A", Targets: []string{"192.0.2.1", "192.0.2.2"}, ID: "edge+hub", Weight: 7, TTL: 60},
		{Name: "_web._tcp.lab.example", Host: "lab.example", Type: "SRV", Targets: []string{"0 0 80 lab.example."}},
	}}, read("DNSEndpoint", ours, spec))
	require.Equal(t, "_sip._tcp.lab.example", read("DNSEndpoint", ours+`,"annotations":{"signpost.dev/records":"SRV"}`,
		`{"endpoints":[{"dnsName":"_sip._tcp.lab.example","recordType":"SRV","targets":["0 0 80 lab.example"]}]}`).Names[0].Host, "of a name's own records")
	require.Nil(t, read("DNSEndpoint", `{"signpost.dev/project":"shop"}`, spec), "a tenant's own DNSEndpoint")
	require.Nil(t, read("DNSRecord", ours, spec), "another kind")
	require.Nil(t, read("DNSEndpoint", ours, `"text"`), "nothing that Signpost rendered")
}

func TestDiffHasWhatIsPublishedBesideTheObjects(t *testing.T) {
	publishing := func(o bundle.Object, host string) bundle.Object {
		o.Published = &bundle.Published{Record: "lab", Names: []bundle.PublishedName{{Name: host, Host: host}}}
		return o
	}
	a, same, b, c := configMap(t, "a", "1"), configMap(t, "a", "1"), configMap(t, "b", "1"), configMap(t, "c", "1")
	a, same, b, c = publishing(a, "a"), publishing(same, "same"), publishing(b, "b"), publishing(c, "c")
	changes := bundle.Diff(bundle.Bundle{a, b}, bundle.Bundle{same, c})
	require.Len(t, changes, 3)
	require.Equal(t, []*bundle.Published{a.Published, same.Published}, []*bundle.Published{changes[0].Before, changes[0].After})
	require.Equal(t, []*bundle.Published{b.Published, nil}, []*bundle.Published{changes[1].Before, changes[1].After})
	require.Equal(t, []*bundle.Published{nil, c.Published}, []*bundle.Published{changes[2].Before, changes[2].After})
}
