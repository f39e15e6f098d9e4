package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

const podIntents = prod + "/traffic-group-intents/front/pod-dns-intents"

// podDNS is the document of a pod DNS intent for the app web; more is further
// fields of its spec.
func podDNS(policy, more string) string {
	return fmt.Sprintf(`{"metadata": {"name": "web"}, "spec": {"app": "web", "dnsPolicy": %q%s}}`, policy, more)
}

// deployedWeb makes the group prod, whose app web is a Deployment on paris.
func (s *story) deployedWeb() {
	s.Helper()
	s.app()
	s.post("/v2/projects/{p}/composite-apps/store/v1/deployment-intent-groups", `{"metadata": {"name": "prod"}, "spec": {"logicalCloud": "eu", "apps": [{
		"name": "web", "clusters": [{"clusterProvider": "edge", "cluster": "paris"}],
		"manifests": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
			"selector": {"matchLabels": {"app": "web"}},
			"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"dnsPolicy": "Default", "containers": [{"name": "web", "image": "example.com/web:v1"}]}}
		}}]}]}}`)
	s.post(prod+"/traffic-group-intents", `{"metadata": {"name": "front"}, "spec": {}}`)
}

// podsHave waits until the pods of web on paris have a policy and settings.
func (s *story) podsHave(policy, settings string) {
	s.Helper()
	s.eventually("the pods of web to have "+policy+" "+settings, func() error {
		web, err := s.world.Cluster(fixture.Paris).Client.AppsV1().Deployments(s.project).Get(s.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		pod := web.Spec.Template.Spec
		raw, err := json.Marshal(pod.DNSConfig)
		if got := string(pod.DNSPolicy) + " " + string(raw); got != policy+" "+s.words.Replace(settings) {
			return fmt.Errorf("they have %s", got)
		}
		return err
	})
}

// refuses expects 409 from an action, with all of these texts.
func (s *story) refuses(action, owner string, texts ...string) {
	s.Helper()
	answer := s.call(http.MethodPost, owner+"/"+action, "", http.StatusConflict)
	for _, text := range texts {
		if !strings.Contains(string(answer.Body), s.words.Replace(text)) {
			s.Errorf("%s of %s is refused without saying %s: %s", action, owner, text, answer.Body)
		}
	}
}

// TestPodsGetTheDNSOfTheirIntents is seed 002 on a real API server, and of seed
// 003 what a pod gets: settings are deployed, changed and taken back with their
// group; autopath is refused until the logical cloud offers it, and then cannot
// be taken away.
func TestPodsGetTheDNSOfTheirIntents(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "poddns")
	s.node(fixture.Paris, "n1", nil)
	s.resolving(forwarding("foo.com", ""))
	s.deployedWeb()
	s.instantiate(prod)
	s.podsHave("Default", "null")
	s.becomes(prod, "Instantiated")

	s.post(podIntents, podDNS("ClusterFirst", `, "dnsConfig": {"options": [{"name": "ndots", "value": 1}]}`))
	s.update(prod)
	s.podsHave("ClusterFirst", `{"options":[{"name":"ndots","value":"1"}]}`)
	s.put(podIntents+"/web", podDNS("Custom", `, "dnsConfig": {"nameservers": ["1.2.3.4"],
		"searches": ["ns1.svc.cluster.local", "my.dns.search.suffix"], "options": [{"name": "ndots", "value": 2}, {"name": "edns0"}]}`))
	s.update(prod)
	s.podsHave("None", `{"nameservers":["1.2.3.4"],"searches":["ns1.svc.cluster.local","my.dns.search.suffix"],"options":[{"name":"ndots","value":"2"},{"name":"edns0"}]}`)
	s.remove(podIntents + "/web")
	s.update(prod)
	s.podsHave("Default", "null")

	s.reliesOnAutopath()
	s.holds(fixture.Paris, true) // so that the group's end does not come before the question
	s.terminate(prod)
	s.refuses("terminate", cloud, "deployment-intent-groups/prod")
	s.holds(fixture.Paris, false)
	s.becomes(prod, "Terminated")
	s.update(cloud)
	s.becomes(cloud, "Instantiated")
	s.terminate(cloud)
	s.becomes(cloud, "Terminated")
}

// holds has somebody keep the Deployment web from going, or let it go.
func (s *story) holds(cluster string, held bool) {
	s.Helper()
	patch := `{"metadata": {"finalizers": null}}`
	if held {
		patch = `{"metadata": {"finalizers": ["example.com/held"]}}`
	}
	_, err := s.world.Cluster(cluster).Client.AppsV1().Deployments(s.project).
		Patch(s.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

// reliesOnAutopath has the pods of web use autopath as soon as the logical cloud
// offers it, and the logical cloud ask in vain to go without.
func (s *story) reliesOnAutopath() {
	s.Helper()
	s.becomes(prod, "Instantiated")
	s.post(podIntents, podDNS("clusterFirstWithAutopath", ""))
	s.refuses("update", prod, `clusterFirstWithAutopath is not offered on cluster edge+paris`, `set autopath of DNS CR intent \"resolvers\", and instantiate the logical cloud`)
	s.instantiate(cloud)
	s.becomes(cloud, "Instantiated")
	s.refuses("update", prod, `DNS CR intent \"resolvers\" does not ask for it; set its autopath, and update logical cloud \"eu\"`)
	const autopath = `, "autopath": {}, "nodeLocalDNS": {"enabled": true, "localIP": "169.254.20.77"}`
	s.put(resolvers, forwarding("foo.com", autopath))
	s.update(cloud)
	s.becomes(cloud, "Instantiated")
	s.update(prod)
	s.podsHave("None", `{"nameservers":["169.254.20.77"],"searches":["search.{p}.cluster.local.ap.k8s.io"],"options":[{"name":"ndots","value":"5"}]}`)

	s.put(resolvers, forwarding("foo.com", strings.Replace(autopath, ".77", ".78", 1)))
	s.refuses("update", cloud, "the nameserver would change", "/spec/nodeLocalDNS/localIP")
	s.put(resolvers, forwarding("foo.com", ""))
	s.refuses("update", cloud, "deployment-intent-groups/prod have clusterFirstWithAutopath on cluster edge+paris", "it would no longer be offered")
	s.refuses("terminate", cloud, "deployment-intent-groups/prod")
}
