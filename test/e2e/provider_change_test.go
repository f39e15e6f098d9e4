package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/dns"
)

// TestAnotherProviderPublishesANameBeforeTheOldOneLeavesIt moves a name from CoreDNS to BIND and back, between two built-in
// publishers. Both servers are asked throughout: the one that is left still answers until the other one does.
func TestAnotherProviderPublishesANameBeforeTheOldOneLeavesIt(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "change", "--allow-local-verify", "--publisher-servers=127.0.0.1")
	s.post("/v2/projects/{p}/dns-update-records", rfc2136Record(fmt.Sprintf(
		`"verify": {"servers": [%q]}, "deployOn": {"publisher": "built-in"}`, s.world.BIND.Address)))
	s.post("/v2/projects/{p}/dns-update-records", fmt.Sprintf(`{"metadata": {"name": "keys"}, "spec": {
		"provider": "coredns", "environment": {"ETCD_URLS": "{etcd}"}, "verify": {"servers": [%q]}, "deployOn": {"publisher": "built-in"},
		"external-dns-parameters": {"coredns-prefix": "/skydns/", "interval": "5s", "policy": "sync", "domain-filter": ["{corp}"]}
	}}`, s.world.CoreDNS.Address))

	s.publishedBy("keys", http.StatusCreated)
	s.must(s.answeredAt(s.world.CoreDNS.Address, parisAddress))
	for _, way := range []struct{ from, to, provider string }{
		{s.world.CoreDNS.Address, s.world.BIND.Address, "lab"},
		{s.world.BIND.Address, s.world.CoreDNS.Address, "keys"},
	} {
		handover := s.watchHandover(way.from, way.to)
		s.publishedBy(way.provider, http.StatusOK)
		s.eventually("the former server to lose the name", func() error { return s.answeredAt(way.from) })
		s.must(handover())
		s.must(s.answeredAt(way.to, parisAddress))
	}
}

// publishedBy publishes www by a provider, and waits until that one's server was seen to answer it.
func (s *story) publishedBy(provider string, want int) {
	s.Helper()
	const path = "/v2/projects/{p}/names/www.{corp}"
	s.call(http.MethodPut, path, fmt.Sprintf(
		`{"metadata": {"name": "www.{corp}"}, "spec": {"addresses": [%q], "provider": %q, "ttl": 1}}`, parisAddress, provider), want)
	s.eventually("the name to be verified at the server of "+provider, func() error {
		now, err := s.name(path)
		if err == nil && now.Verified != "True" {
			err = fmt.Errorf("it is %+v", now)
		}
		return err
	})
}

// answeredAt expects a server to answer www with these addresses.
func (s *story) answeredAt(server string, want ...string) error {
	got, err := dns.Query(s.Context(), server, s.words.Replace("www.{corp}"), "A")
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("%s answers %v", server, got)
	}
	return err
}

// watchHandover asks both servers for www all the time. The function that it returns stops the questions, and tells whether the
// servers answered together at some time, and never both in vain.
func (s *story) watchHandover(from, to string) func() error {
	stop, judged := make(chan struct{}), make(chan error, 1)
	go func() {
		together, gaps := 0, 0
		for {
			former := s.answeredAt(from, parisAddress) // the later one is asked second: it must be there if the former one is not
			later := s.answeredAt(to, parisAddress)
			switch {
			case former == nil && later == nil:
				together++
			case former != nil && later != nil:
				gaps++
			}
			select {
			case <-stop:
				var err error
				if together == 0 || gaps > 0 {
					err = fmt.Errorf("both servers answered %d times, and neither of them %d times", together, gaps)
				}
				judged <- err
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() error {
		close(stop)
		return <-judged
	}
}
