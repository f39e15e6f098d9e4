package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// The main story: an engineer posts a record, associates it with a logical
// cloud, names a service of a distributed app, instantiates, and a moment
// later the name resolves to the app's public addresses in all clusters.

func TestANamePostedOverRESTResolves(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "resolves")
	s.mainStory(coreDNSRecord, "www.{zone}")
}

func TestANamePostedOverRESTResolvesThroughRFC2136(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "rfc2136")
	s.mainStory(rfc2136Record(`"releaseTimeout": "30s"`), "www.{corp}")
	if err := s.answering("printer."+dns.BINDZone, "192.0.2.77"); err != nil {
		t.Errorf("a stranger's name in the zone: %v", err)
	}
}

const coreDNSRecord = `{
	"metadata": {"name": "lab", "description": "lab zone", "userData1": "x"},
	"spec": {
		"provider": "coredns",
		"external-dns-parameters": {"coredns-prefix": "/skydns/", "interval": "5s", "policy": "sync", "domain-filter": ["{zone}"]},
		"environment": {"ETCD_URLS": "{etcd}"},
		"releaseTimeout": "30s"
	}
}`

// rfc2136Record is the document of a record for BIND, with this in its spec, too.
func rfc2136Record(more string) string {
	return `{
	"metadata": {"name": "lab"},
	"spec": {
		"provider": "rfc2136",
		"external-dns-parameters": {
			"rfc2136-host": ["127.0.0.1"], "rfc2136-port": {port}, "rfc2136-zone": ["corp.example"],
			"rfc2136-tsig-keyname": "key1", "rfc2136-tsig-secret-alg": "hmac-sha256", "rfc2136-tsig-axfr": true,
			"policy": "sync", "interval": "5s", "domain-filter": ["{corp}"]
		},
		"credentials": [{"environment": "EXTERNAL_DNS_RFC2136_TSIG_SECRET", "value": "{tsig}"}],
		` + more + `
	}
}`
}

// mainStory tells the main story with one record and one name.
func (s *story) mainStory(record, name string) {
	s.loadBalancers()

	s.post("/v2/project/{p}/dns-update-records", record)
	s.post("/v2/projects/{p}/logical-clouds", `{
		"metadata": {"name": "eu"},
		"spec": {"namespace": "{p}", "controllerCluster": {"clusterProvider": "edge", "cluster": "hub"}}
	}`)
	s.post("/v2/projects/{p}/logical-clouds/eu/cluster-references",
		`{"metadata": {"name": "paris"}, "spec": {"clusterProvider": "edge", "cluster": "paris"}}`)
	s.post("/v2/projects/{p}/logical-clouds/eu/cluster-references",
		`{"metadata": {"name": "berlin"}, "spec": {"clusterProvider": "edge", "cluster": "berlin"}}`)
	s.post("/v2/projects/{p}/logical-clouds/eu/kv-pairs",
		`{"metadata": {"name": "dns-update-record-list"}, "spec": {"kv": [{"key1": "lab"}]}}`)
	s.post("/v2/projects/{p}/composite-apps", `{"metadata": {"name": "store"}, "spec": {"compositeAppVersion": "v1"}}`)
	s.post("/v2/projects/{p}/composite-apps/store/v1/deployment-intent-groups",
		`{"metadata": {"name": "prod"}, "spec": {"logicalCloud": "eu", "apps": [{"name": "web"}]}}`)
	s.post("{dig}/traffic-group-intents", `{"metadata": {"name": "front"}, "spec": {}}`)
	s.post("{dig}/traffic-group-intents/front/dns-intents", `{
		"metadata": {"name": "www"},
		"spec": {"app": "web", "serviceName": "web", "hostnames": ["`+name+`"], "ttl": 30}
	}`)
	s.gone(name) // intents alone change nothing

	s.instantiate("{dig}")
	s.becomes("{dig}", "Instantiated")
	s.answers(name, parisAddress, berlinAddress)
	s.ownedByUs(name)
	s.saysWhatIs(name)

	s.terminate("{dig}")
	s.gone(name)
	s.becomes("{dig}", "Terminated")
	s.nothingLeft(fixture.Hub, fixture.Paris, fixture.Berlin)
	s.vanishes(fixture.Hub, namespaces, "", s.namespace())
	s.must(s.present(fixture.Paris, services, s.project, "web")) // it was never ours
}

// generatedOwner is how a generated owner id looks.
var generatedOwner = regexp.MustCompile(`^sp-[0-9a-z]{8}-[0-9a-z]{8}$`)

// ownedByUs expects the TXT record beside the name to carry the owner id that
// was generated for the record.
func (s *story) ownedByUs(name string) {
	s.Helper()
	var record struct{ OwnerID string }
	s.must(s.get("/v2/projects/{p}/dns-update-records/lab/status", &record))
	if !generatedOwner.MatchString(record.OwnerID) {
		s.Fatalf("owner id is %q", record.OwnerID)
	}
	name = s.words.Replace(name)
	texts, err := dns.Query(s.Context(), s.server(name), "a-"+name, "TXT")
	s.must(err)
	if !strings.Contains(strings.Join(texts, " "), "external-dns/owner="+record.OwnerID) {
		s.Errorf("TXT of %s is %v, want owner %s", name, texts, record.OwnerID)
	}
}

// saysWhatIs expects the status to tell what can be seen by now.
func (s *story) saysWhatIs(name string) {
	s.Helper()
	s.eventually("the status to tell what is", func() error {
		var now status
		if err := s.get("{dig}/status", &now); err != nil {
			return err
		}
		for _, done := range []string{"Planned", "Committed", "Synced"} {
			if err := now.is(done, "True"); err != nil {
				return err
			}
		}
		if len(now.Providers) != 1 || now.Providers[0].Cluster != "edge+hub" || now.Providers[0].Version != "v0.22.0" {
			return fmt.Errorf("providers are %+v", now.Providers)
		}
		if len(now.Names) != 1 || now.Names[0].Name != s.words.Replace(name) || now.Names[0].Scope != "public" {
			return fmt.Errorf("names are %+v", now.Names)
		}
		if got := strings.Join(now.Names[0].Targets, " "); got != parisAddress+" "+berlinAddress {
			return fmt.Errorf("targets are %s", got)
		}
		return nil
	})
}

// The same with the stores of production: documents in a MongoDB, the rest in
// an etcd that is not Signpost's own.
func TestTheMainStoryOnMongoAndExternalEtcd(t *testing.T) {
	t.Parallel()
	world := sharedWorld(t)
	stores, err := fixture.StartStores(t.Context(), filepath.Join(world.Dir, "stores"), world.Ports)
	t.Cleanup(stores.Close)
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, world, "mongo", stores.Args()...)
	s.mainStory(coreDNSRecord, "www.{zone}")
}
