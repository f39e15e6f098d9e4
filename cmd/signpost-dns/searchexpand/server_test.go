package searchexpand_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchtest"
)

const (
	domain   = ".search.shop.cluster.local.ap.k8s.io."
	patience = 30 * time.Second
	tick     = 20 * time.Millisecond
)

// Each name is looked up by the server block with the longest zone, whichever
// block the query came to, with that block's own plugins.
func TestEachNameIsLookedUpInItsOwnServerBlock(t *testing.T) {
	outside, corp := searchtest.StartNames(t, 30), searchtest.StartNames(t, 30)
	outside.Set([]string{"www.example.com. 300 IN A 192.0.2.80", "intra.corp.example. 300 IN A 192.0.2.99"})
	corp.Set([]string{"intra.corp.example. 300 IN A 10.9.9.9", "web.corp.example. 300 IN A 10.9.9.8"})
	server := searchtest.Start(t, fmt.Sprintf(`.:0 {
    bind 127.0.0.1
    searchexpand cluster.local {
        suffixes corp.example
    }
    loadbalance
    cache
    file %s cluster.local
    forward . %s
}
corp.example:0 {
    bind 127.0.0.1
    searchexpand cluster.local
    forward . %s
}`, searchtest.Zone(t, "db.shop.svc 300 IN A 10.0.0.1", "db.shop.svc 300 IN A 10.0.0.2"), outside.Address, corp.Address))
	for name, want := range map[string]string{
		"db": "10.0.0.1", "web": "10.9.9.8", "intra": "10.9.9.9", "intra.corp.example": "10.9.9.9", "www.example.com": "192.0.2.80",
	} {
		reply := server.Ask(t, name+domain, dns.TypeA)
		require.Contains(t, searchtest.Text(reply), " IN A "+want, name)
		require.IsType(t, &dns.CNAME{}, reply.Answer[0])

		query := searchtest.Query(name, dns.TypeA)
		query.SetEdns0(1232, false)
		query.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_LOCAL{Code: 65001, Data: []byte("shop.svc.cluster.local,corp.example")}}
		reply = server.Exchange(t, "tcp", query)
		require.Contains(t, searchtest.Text(reply), " IN A "+want, name)
		require.Len(t, reply.IsEdns0().Option, 1)
	}
	for _, asked := range append(outside.Asked(), corp.Asked()...) {
		if opt := asked.IsEdns0(); opt != nil {
			require.Empty(t, opt.Option, "no server outside sees search paths")
		}
	}
}

// A pod that asks the cluster's DNS itself gets no name of the zone out of it,
// whichever server block that is.
func TestNothingOfTheZoneIsAskedOutside(t *testing.T) {
	outside := searchtest.StartNames(t, 30)
	server := searchtest.Start(t, fmt.Sprintf(".:0 {\n bind 127.0.0.1\n searchexpand cluster.local\n forward . %[1]s\n}\nio:0 {\n bind 127.0.0.1\n searchexpand cluster.local\n forward . %[1]s\n}", outside.Address))
	for name, want := range map[string]int{
		"ap.k8s.io.": dns.RcodeSuccess, domain[1:]: dns.RcodeSuccess, "x.ap.k8s.io.": dns.RcodeNameError, "web.search.shop.cluster.example.ap.k8s.io.": dns.RcodeNameError,
	} {
		for _, kind := range []uint16{dns.TypeA, dns.TypeDS} {
			reply := server.Ask(t, name, kind)
			require.Equal(t, want, reply.Rcode, name)
			require.IsType(t, &dns.SOA{}, reply.Ns[0], name)
		}
	}
	require.Empty(t, outside.Asked())
}

// A server that is its own upstream ends a search like any other lookup.
func TestALoopEnds(t *testing.T) {
	var itself atomic.Value
	itself.Store("127.0.0.1:1")
	mirror := searchtest.Serve(t, func(w dns.ResponseWriter, r *dns.Msg) {
		reply, _, err := (&dns.Client{Timeout: 100 * time.Millisecond}).Exchange(r, itself.Load().(string))
		if err != nil {
			reply = new(dns.Msg).SetRcode(r, dns.RcodeServerFailure)
		}
		_ = w.WriteMsg(reply)
	})
	server := searchtest.Start(t, ".:0 {\n bind 127.0.0.1\n searchexpand cluster.local\n forward . "+mirror+" {\n max_concurrent 50\n }\n}")
	itself.Store(server.UDP)
	client := &dns.Client{Timeout: patience}
	reply, _, err := client.Exchange(searchtest.Query("web"+domain, dns.TypeA), server.UDP)
	require.NoError(t, err)
	require.Equal(t, dns.RcodeServerFailure, reply.Rcode)
}

// A node's cache that looks for popular names by itself does so with their
// search paths.
func TestPrefetch(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	names.Set([]string{"web.shop.svc.cluster.local. 6 IN A 10.0.0.1"})
	all := searchtest.Start(t, ".:0 {\n bind 127.0.0.1\n searchexpand\n forward . "+names.Address+"\n}")
	node := searchtest.Start(t, ".:0 {\n bind 127.0.0.1\n cache {\n prefetch 1 1m 90%\n }\n searchpath cluster.local\n forward . "+all.Address+" {\n force_tcp\n }\n}")
	asked := 0
	require.Eventually(t, func() bool {
		require.Contains(t, searchtest.Text(node.Ask(t, "web"+domain, dns.TypeA)), "10.0.0.1")
		asked += len(names.Asked())
		return asked >= 2
	}, patience, tick)
}

// Many clients at once get their own answers.
func TestManyAtOnce(t *testing.T) {
	names := searchtest.StartNames(t, 30)
	var records []string
	for i := range 20 {
		records = append(records, fmt.Sprintf("web%d.shop.svc.cluster.local. 300 IN A 10.0.0.%d", i, i))
	}
	names.Set(records)
	all := searchtest.Start(t, ".:0 {\n bind 127.0.0.1\n searchexpand cluster.local\n cache\n forward . "+names.Address+"\n}")
	node := searchtest.Start(t, ".:0 {\n bind 127.0.0.1\n cache\n searchpath cluster.local\n forward . "+all.Address+" {\n force_tcp\n }\n}")
	var clients sync.WaitGroup
	wrong := make(chan string, 1000)
	for i := range 20 {
		clients.Go(func() {
			for _, server := range []searchtest.Server{node, all, node} {
				reply, _, err := (&dns.Client{Timeout: patience}).Exchange(searchtest.Query(fmt.Sprintf("web%d", i)+domain, dns.TypeA), server.UDP)
				if err != nil || !strings.HasSuffix(searchtest.Text(reply), fmt.Sprintf(" IN A 10.0.0.%d", i)) {
					wrong <- fmt.Sprint(err, reply)
				}
			}
		})
	}
	clients.Wait()
	close(wrong)
	require.Empty(t, <-wrong)
}
