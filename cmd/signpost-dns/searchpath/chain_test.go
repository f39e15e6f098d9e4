package searchpath_test

import (
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchtest"
)

// upstream serves all that is outside of the cluster.
func upstream(t testing.TB) searchtest.Server {
	return searchtest.Start(t, `.:0 {
    bind 127.0.0.1
    file `+searchtest.Zone(t,
		"www.example.com. 300 IN A 192.0.2.80",
		"alias.example.com. 300 IN CNAME www.example.com.",
		"corp.foo.com. 300 IN A 192.0.2.1",
		"text.example.com. 300 IN TXT only",
	)+` .
}`)
}

// cluster is a cluster's DNS with the plugin searchexpand.
func cluster(t testing.TB, outside searchtest.Server) searchtest.Server {
	return searchtest.Start(t, `.:0 {
    bind 127.0.0.1
    searchexpand cluster.local {
        suffixes foo.com
    }
    cache 30
    file `+searchtest.Zone(t,
		"service123.default.svc 300 IN A 10.0.0.1",
		"service123.ns2.svc 300 IN A 10.0.0.2",
		"service123.ns2.svc 300 IN AAAA fd00::2",
	)+` cluster.local
    forward . `+outside.Address+`
}`)
}

// node is a node's cache, as a DNS CR intent makes it.
func node(t testing.TB, cluster searchtest.Server) searchtest.Server {
	return searchtest.Start(t, `.:0 {
    bind 127.0.0.1
    cache {
        success 9984 30
        denial 9984 5
    }
    searchpath cluster.local {
        suffixes foo.com
    }
    forward . `+cluster.Address+` {
        force_tcp
    }
}`)
}

const domain = ".search.default.cluster.local.ap.k8s.io."

// The seed's examples: each lookup is one query, and the answer follows a CNAME
// to the name found.
func TestOneQueryFindsWhatAnySearchPathHas(t *testing.T) {
	all := cluster(t, upstream(t))
	for place, server := range map[string]searchtest.Server{"through the node's cache": node(t, all), "asked directly": all} {
		for _, c := range []struct {
			name  string
			qtype uint16
			want  string
		}{
			{"service123", dns.TypeA, "NOERROR\n" +
				"service123" + domain + " 30 IN CNAME service123.default.svc.cluster.local.\n" +
				"service123.default.svc.cluster.local. 30 IN A 10.0.0.1"},
			{"service123.ns2", dns.TypeAAAA, "NOERROR\n" +
				"service123.ns2" + domain + " 30 IN CNAME service123.ns2.svc.cluster.local.\n" +
				"service123.ns2.svc.cluster.local. 30 IN AAAA fd00::2"},
			{"www.example.com", dns.TypeA, "NOERROR\n" +
				"www.example.com" + domain + " 30 IN CNAME www.example.com.\n" +
				"www.example.com. 30 IN A 192.0.2.80"},
			{"corp", dns.TypeA, "NOERROR\n" +
				"corp" + domain + " 30 IN CNAME corp.foo.com.\n" +
				"corp.foo.com. 30 IN A 192.0.2.1"},
			{"text.example.com", dns.TypeTXT, "NOERROR\n" +
				"text.example.com" + domain + " 30 IN CNAME text.example.com.\n" +
				"text.example.com. 30 IN TXT \"only\""},
		} {
			reply := server.Ask(t, c.name+domain, c.qtype)
			reply.Ns = nil
			require.Equal(t, c.want, searchtest.Text(reply), place)
		}
	}
}
