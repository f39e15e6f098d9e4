package bundle_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// TestPropertiesAreReadAsTheyAreWritten: each weight, region and location.
func TestPropertiesAreReadAsTheyAreWritten(t *testing.T) {
	for text, set := range map[string]bundle.PublishedName{
		`[{"name":"aws/weight","value":"7"}]`:                                                                             {Weight: 7},
		`[{"name":"aws/region","value":"eu-central-1"}]`:                                                                  {Region: "eu-central-1"},
		`[{"name":"aws/geolocation-continent-code","value":"EU"}]`:                                                        {Location: "continent/EU"},
		`[{"name":"aws/geolocation-country-code","value":"DE"}]`:                                                          {Location: "country/DE"},
		`[{"name":"aws/geolocation-country-code","value":"US"},{"name":"aws/geolocation-subdivision-code","value":"CA"}]`: {Location: "country/US/CA"},
		`[{"name":"aws/geolocation-country-code","value":"*"}]`:                                                           {Location: "default"},
	} {
		set.Name, set.Host, set.Type, set.Targets, set.ID = "www.lab.example", "www.lab.example", "A", []string{"192.0.2.1"}, "one"
		written, err := json.Marshal(set.Properties())
		require.NoError(t, err)
		require.Equal(t, text, string(written))
		o, err := bundle.Stored("edge+hub", "web", []byte(`{"apiVersion":"externaldns.k8s.io/v1alpha1","kind":"DNSEndpoint","metadata":{"labels":{"signpost.dev/record":"lab"},"name":"www","namespace":"shop"},`+
			`"spec":{"endpoints":[{"dnsName":"www.lab.example","recordType":"A","targets":["192.0.2.1"],"setIdentifier":"one","providerSpecific":`+text+`}]}}`))
		require.NoError(t, err)
		require.Equal(t, []bundle.PublishedName{set}, o.Published.Names)
	}
	require.Empty(t, bundle.PublishedName{Name: "www.lab.example"}.Properties(), "a name with one set")
}
