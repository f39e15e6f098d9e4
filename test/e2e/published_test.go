package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// Published is no guess: external-dns says when it has synchronized, and what
// keeps it from doing so is told where the user looks first.

func TestPublishedIsWhatExternalDNSSays(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "says")
	server := s.ownDNS()

	s.says("False", `secret "etcd" not found`)
	s.must(s.world.Cluster(fixture.Hub).Apply(t.Context(), fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {name: etcd, namespace: %s}
stringData: {password: unused}
`, s.namespace())))
	first := s.says("True", "")
	s.must(s.held(server, parisAddress, berlinAddress))

	s.must(s.world.Cluster(fixture.Berlin).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))
	s.eventually("the change to be said to be published", func() error {
		now, err := s.publication()
		if err == nil && !slices.Contains(now.targets, otherAddress) {
			err = errors.New("it is not seen yet")
		}
		return errors.Join(err, now.is("True", ""))
	})
	s.must(s.held(server, parisAddress, otherAddress)) // at this very moment

	server.Kill()
	s.eventually("it to be told that external-dns fails", func() error {
		now, err := s.publication()
		if !strings.Contains(now.provider.Message, "crash loop") && !strings.Contains(now.provider.Message, "synchronizations have failed") {
			err = errors.Join(err, fmt.Errorf("it says %+v", now.provider))
		}
		return err
	})
	s.must(server.Start(t.Context()))
	last := s.says("True", "")
	if !last.provider.LastSync.After(*first.provider.LastSync) {
		t.Errorf("the last synchronization was at %s, the first at %s", last.provider.LastSync, first.provider.LastSync)
	}
	s.toldByTheRecord()
	s.terminate(prod)
	s.becomes(prod, "Terminated")
}

// ownDNS publishes www.{zone} in a DNS server that is this story's alone, with
// a credential that is not there yet.
func (s *story) ownDNS() *etcd.Server {
	s.Helper()
	server, err := etcd.NewServer(s.Context(), filepath.Join(s.world.Dir, s.project+"-etcd"), s.world.Ports)
	s.must(err)
	s.must(server.Start(s.Context()))
	s.Cleanup(server.Kill)
	s.loadBalancers()
	s.post("/v2/project/{p}/dns-update-records", fmt.Sprintf(`{
		"metadata": {"name": "lab"},
		"spec": {
			"provider": "coredns",
			"external-dns-parameters": {"coredns-prefix": "/skydns/", "interval": "5s", "policy": "sync", "domain-filter": ["{zone}"]},
			"environment": {"ETCD_URLS": %q},
			"credentials": [{"environment": "ETCD_PASSWORD", "secretRef": {"name": "etcd", "key": "password"}}],
			"releaseTimeout": "1s"
		}
	}`, server.URL))
	s.cloud(edges(), "lab")
	s.app()
	s.group("prod")
	s.names(prod, "www", "www.{zone}")
	s.instantiate(prod)
	return server
}

// publication is what a status tells of the only name and its external-dns.
type publication struct {
	condition condition
	targets   []string
	provider  externalDNS
}

func (s *story) publication() (publication, error) {
	var now status
	if err := s.get(prod+"/status", &now); err != nil {
		return publication{}, err
	}
	if len(now.Names) != 1 || len(now.Providers) != 1 {
		return publication{}, fmt.Errorf("it is %+v", now)
	}
	p := publication{targets: now.Names[0].Targets, provider: now.Providers[0]}
	at := slices.IndexFunc(now.Names[0].Conditions, func(c condition) bool { return c.Type == "Published" })
	if at < 0 {
		return p, fmt.Errorf("it is %+v", now)
	}
	p.condition = now.Names[0].Conditions[at]
	return p, nil
}

// is expects the name to be published or not, and the external-dns to say why.
// One that publishes says nothing, and when it last did.
func (p publication) is(published, message string) error {
	well := p.provider.LastSync != nil && p.provider.Message == "" && p.provider.Available != nil && *p.provider.Available
	if p.condition.Status != published || !strings.Contains(p.provider.Message, message) || published == "True" && !well {
		return fmt.Errorf("it is %+v", p)
	}
	return nil
}

// says waits until a status says whether the name is published, and why not.
func (s *story) says(published, message string) publication {
	s.Helper()
	var now publication
	s.eventually("Published to be "+published+" "+message, func() error {
		var err error
		now, err = s.publication()
		return errors.Join(err, now.is(published, message))
	})
	return now
}

// held expects a DNS server to have these addresses for the name now.
func (s *story) held(server *etcd.Server, addresses ...string) error {
	found, err := server.Prefix(s.Context(), dns.CoreDNSPath+"/example/lab/"+s.project+"/www/")
	text := fmt.Sprint(found)
	for _, address := range addresses {
		if !strings.Contains(text, address) {
			err = errors.Join(err, fmt.Errorf("%s is not in %v", address, found))
		}
	}
	return err
}

// toldByTheRecord expects the record's own status, and the metrics, to tell the
// same of its external-dns.
func (s *story) toldByTheRecord() {
	s.Helper()
	var record struct{ Providers []externalDNS }
	s.must(s.get("/v2/projects/{p}/dns-update-records/lab/status", &record))
	if len(record.Providers) != 1 || record.Providers[0].LastSync == nil || record.Providers[0].Message != "" {
		s.Errorf("the record's status is %+v", record)
	}
	for _, metric := range []string{"signpost_external_dns_last_sync_timestamp_seconds", "signpost_external_dns_available"} {
		s.eventually(metric, func() error { // the worker sets it after it has written what the status tells
			answer, err := s.signpost.Do(s.Context(), "GET", "/metrics", "")
			if err == nil && !strings.Contains(string(answer.Body), metric+`{cluster="edge+hub",project="says",record="lab",scope="public"} 1`) {
				err = errors.New("the metrics lack it")
			}
			return err
		})
	}
}
