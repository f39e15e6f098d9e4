package searchpath_test

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchtest"
)

// One dead search path hides no name behind it from the node, whose forward
// gives up after two seconds: neither one of a later path nor an outside name,
// neither with a cluster's DNS that knows the option nor with another.
func TestASilentSearchPathHidesNoName(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	names.Set([]string{"corp.foo.com. 300 IN A 192.0.2.1", "www.example.com. 300 IN A 192.0.2.80"})
	blocks := `.:0 {
    bind 127.0.0.1
    %[1]s
    forward . ` + names.Address + `
}
svc.cluster.local:0 {
    bind 127.0.0.1
    %[1]s
    forward . ` + searchtest.BlackHole(t) + `
}`
	all := searchtest.Start(t, fmt.Sprintf(blocks, "searchexpand cluster.local {\n suffixes foo.com\n }\n cache"))
	stock := searchtest.Start(t, fmt.Sprintf(blocks, "cache"))
	for place, server := range map[string]searchtest.Server{
		"through the node's cache": node(t, all.Address, "cache"), "asked directly": all, "stock cluster": node(t, stock.Address, "cache"),
	} {
		for name, want := range map[string]string{"corp": "192.0.2.1", "www.example.com": "192.0.2.80"} {
			reply, _, err := (&dns.Client{Timeout: patience}).Exchange(searchtest.Query(name+domain, dns.TypeA), server.UDP)
			require.NoError(t, err, place)
			require.Contains(t, searchtest.Text(reply), " IN A "+want, "%s, %s", name, place)
			require.LessOrEqual(t, reply.Answer[0].Header().Ttl, uint32(5), "%s, %s: a failure counts for five seconds", name, place)
		}
	}
	for _, asked := range names.Asked() {
		require.NotContains(t, asked.Question[0].Name, ".svc.cluster.local.")
	}
}
