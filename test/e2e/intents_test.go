package e2e

import (
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// prod is the path of the deployment intent group that most stories are about.
const prod = "{dig}"

// shortRelease is how long external-dns outlives its last name in most
// stories, so that they end soon: it takes an interval for each target of a
// name to remove it from etcd, and there are two. This is thrice the three
// intervals of 5 s that it takes at most, for machines are busy.
const shortRelease = "45s"

// records makes DNS update records for CoreDNS with these names.
func (s *story) records(names ...string) {
	s.Helper()
	for _, name := range names {
		s.record(name, shortRelease)
	}
}

// record makes a DNS update record for CoreDNS.
func (s *story) record(name, releaseTimeout string) {
	s.Helper()
	s.post("/v2/project/{p}/dns-update-records", fmt.Sprintf(`{
			"metadata": {"name": %q, "description": "lab zone"},
			"spec": {
				"provider": "coredns",
				"external-dns-parameters": {"coredns-prefix": "/skydns/", "interval": "5s", "policy": "sync", "domain-filter": ["{zone}"]},
				"environment": {"ETCD_URLS": "{etcd}"},
				"releaseTimeout": %q
			}
		}`, name, releaseTimeout))
}

// cloud makes the logical cloud eu with these clusters, controlled from the
// hub, and associates these records with it.
func (s *story) cloud(clusters []string, records ...string) {
	s.Helper()
	s.post("/v2/projects/{p}/logical-clouds", `{
		"metadata": {"name": "eu"},
		"spec": {"namespace": "{p}", "controllerCluster": {"clusterProvider": "edge", "cluster": "hub"}}
	}`)
	for _, cluster := range clusters {
		s.post("/v2/projects/{p}/logical-clouds/eu/cluster-references", fmt.Sprintf(`{
			"metadata": {"name": %q}, "spec": {"clusterProvider": "edge", "cluster": %q}
		}`, cluster, cluster))
	}
	if len(records) > 0 {
		s.post("/v2/projects/{p}/logical-clouds/eu/kv-pairs", association(records...))
	}
}

// association is the KV document that associates records.
func association(records ...string) string {
	pairs := make([]string, 0, len(records))
	for i, record := range records {
		pairs = append(pairs, fmt.Sprintf(`{"key%d": %q}`, i+1, record))
	}
	return `{"metadata": {"name": "dns-update-record-list"}, "spec": {"kv": [` + strings.Join(pairs, ", ") + `]}}`
}

// edges are the clusters that apps run on.
func edges() []string { return []string{fixture.Paris, fixture.Berlin} }

// app makes version v1 of the composite app store.
func (s *story) app() {
	s.Helper()
	s.post("/v2/projects/{p}/composite-apps", `{"metadata": {"name": "store"}, "spec": {"compositeAppVersion": "v1"}}`)
}

// group makes a deployment intent group of the app web, which somebody else
// deployed, with a traffic group. It returns its path.
func (s *story) group(name string) string {
	s.Helper()
	const groups = "/v2/projects/{p}/composite-apps/store/v1/deployment-intent-groups"
	s.post(groups, fmt.Sprintf(`{
		"metadata": {"name": %q}, "spec": {"logicalCloud": "eu", "apps": [{"name": "web"}]}
	}`, name))
	path := groups + "/" + name
	s.post(path+"/traffic-group-intents", `{"metadata": {"name": "front"}, "spec": {}}`)
	return path
}

// names gives host names to the Service web.
func (s *story) names(dig, intent string, hostnames ...string) {
	s.Helper()
	s.post(dig+"/traffic-group-intents/front/dns-intents", dnsIntent(intent, hostnames...))
}

// dnsIntent is the document that gives host names to the Service web.
func dnsIntent(name string, hostnames ...string) string {
	quoted := make([]string, 0, len(hostnames))
	for _, host := range hostnames {
		quoted = append(quoted, fmt.Sprintf("%q", host))
	}
	return fmt.Sprintf(`{"metadata": {"name": %q}, "spec": {"app": "web", "serviceName": "web", "ttl": 5, "hostnames": [%s]}}`,
		name, strings.Join(quoted, ", "))
}

// loadBalancers makes the Service web in both edges, as somebody who deployed
// the app and a cloud do.
func (s *story) loadBalancers() {
	s.Helper()
	s.must(s.world.Cluster(fixture.Paris).LoadBalancer(s.Context(), s.project, "web", parisAddress))
	s.must(s.world.Cluster(fixture.Berlin).LoadBalancer(s.Context(), s.project, "web", berlinAddress))
}

// intent makes a DNS intent of the Service web with this in its spec.
func (s *story) intent(name, spec string) {
	s.Helper()
	s.intentFor("web", name, spec)
}

// intentFor makes a DNS intent of a Service with this in its spec.
func (s *story) intentFor(service, name, spec string) {
	s.Helper()
	s.post(prod+"/traffic-group-intents/front/dns-intents", document(name, service, spec))
}

// document is that of a DNS intent with this in its spec.
func document(name, service, spec string) string {
	return fmt.Sprintf(`{"metadata": {"name": %q}, "spec": {"app": "web", "serviceName": %q, "ttl": 5, %s}}`, name, service, spec)
}

// prepared is what comes before a name: load balancers in both edges, and a
// group in a logical cloud with a record.
func (s *story) prepared() {
	s.Helper()
	s.loadBalancers()
	s.records("lab")
	s.cloud(edges(), "lab")
	s.app()
	s.group("prod")
}

// published is the beginning of many stories: www.{zone} answers with the
// addresses of both edges.
func (s *story) published() {
	s.Helper()
	s.prepared()
	s.names(prod, "www", "www.{zone}")
	s.instantiate(prod)
	s.becomes(prod, "Instantiated")
	s.answers("www.{zone}", parisAddress, berlinAddress)
}
