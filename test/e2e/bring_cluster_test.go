package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// The objects of a cluster from which an external-dns has taken names: 50 in all.
const (
	annotatedServices = 20
	hostedIngresses   = 20
	listedEndpoints   = 10
)

// TestTheNamesOfAClusterAreImportedAndNoAnswerChanges: each document that is imported of 50 objects is planned, and its name is to
// have the addresses that DNS answers already.
func TestTheNamesOfAClusterAreImportedAndNoAnswerChanges(t *testing.T) {
	t.Parallel()
	c := &counted{story: begin(t, sharedWorld(t), "imports", "--allow-local-verify", "--publisher-servers=127.0.0.1")}
	c.post("/v2/projects/{p}/dns-update-records", c.builtInProvider())
	c.annotate()
	c.legacyAnswers()

	kubeconfig, err := c.world.Cluster(fixture.Berlin).Kubeconfig(kube.Admin)
	c.must(err)
	dir := t.TempDir()
	config, names, report := filepath.Join(dir, "config"), filepath.Join(dir, "names.yaml"), filepath.Join(dir, "report.json")
	c.must(os.WriteFile(config, kubeconfig, 0o600))
	c.run(signpost(t), "import", "kubernetes", "--kubeconfig", config, "--context", fixture.Berlin, "--cluster", "edge/berlin", "--namespace", c.project,
		"--project", c.project, "--provider", "lab", "--output", names, "--report", report)
	c.eventually("the plan to change no answer", func() error { return c.plansTheAnswers(names) })

	text, err := os.ReadFile(report)
	c.must(err)
	if want := `"names": 50,`; !strings.Contains(string(text), want) || !strings.Contains(string(text), "has the annotation aws-weight=10") {
		t.Errorf("the report does not say %s: %s", want, text)
	}
}

// hosts are the names of the objects with their addresses.
func (c *counted) hosts() map[string]string {
	all := map[string]string{}
	for kind, count := range map[string]int{"s": annotatedServices, "i": hostedIngresses, "e": listedEndpoints} {
		for n := range count {
			all[c.words.Replace(fmt.Sprintf("%s%d.{corp}", kind, n))] = fmt.Sprintf("198.51.100.%d", int(kind[0])%100+n)
		}
	}
	return all
}

// annotate makes the objects, and one more that no name can stand for.
func (c *counted) annotate() {
	c.Helper()
	berlin, hosts := c.world.Cluster(fixture.Berlin), c.hosts()
	c.must(fixture.DefineEndpoints(c.Context(), berlin))
	c.must(berlin.Namespace(c.Context(), c.project))
	object := func(kind, version, name, annotations, spec string) string {
		return c.words.Replace(fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: \"{p}\", annotations: {%s}}\nspec: %s\n", version, kind, name, annotations, spec))
	}
	const annotation = `"external-dns.alpha.kubernetes.io/hostname": "%s.{corp}"`
	text := object("Service", "v1", "weighted", fmt.Sprintf(annotation, "weighted")+`, "external-dns.alpha.kubernetes.io/aws-weight": "10"`, `{type: LoadBalancer, ports: [{port: 443}]}`)
	for n := range annotatedServices {
		name := fmt.Sprintf("s%d", n)
		text += "---\n" + object("Service", "v1", name, fmt.Sprintf(annotation, name), `{type: LoadBalancer, ports: [{port: 443}]}`)
	}
	for n := range hostedIngresses {
		name := fmt.Sprintf("i%d", n)
		text += "---\n" + object("Service", "v1", name, "", `{ports: [{port: 443}]}`)
		text += "---\n" + object("Ingress", "networking.k8s.io/v1", name, "", fmt.Sprintf(
			`{rules: [{host: "%s.{corp}", http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: %[1]s, port: {number: 443}}}}]}}]}`, name))
	}
	for n := range listedEndpoints {
		name := fmt.Sprintf("e%d", n)
		text += "---\n" + object("DNSEndpoint", "externaldns.k8s.io/v1alpha1", name, "", fmt.Sprintf(
			`{endpoints: [{dnsName: "%s.{corp}", recordType: A, recordTTL: 60, targets: [%q]}]}`, name, hosts[c.words.Replace(name+".{corp}")]))
	}
	c.must(berlin.Apply(c.Context(), text))
	status := func(host string) map[string]any {
		return map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": hosts[c.words.Replace(host+".{corp}")]}}}}
	}
	for n := range annotatedServices {
		name := fmt.Sprintf("s%d", n)
		c.must(berlin.SetLoadBalancer(c.Context(), c.project, name, hosts[c.words.Replace(name+".{corp}")]))
	}
	for n := range hostedIngresses {
		name := fmt.Sprintf("i%d", n)
		c.must(berlin.SetStatus(c.Context(), schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}, c.project, name, status(name)))
	}
}

// legacyAnswers has BIND answer as the external-dns has left it.
func (c *counted) legacyAnswers() {
	c.Helper()
	var lines []string
	for host, address := range c.hosts() {
		lines = append(lines, fmt.Sprintf("update add %s. 60 A %s", host, address), fmt.Sprintf(
			`update add a-%s. 0 TXT "heritage=external-dns,external-dns/owner=before,external-dns/resource=crd/x/y"`, host))
	}
	c.must(c.world.BIND.Update(c.Context(), lines...))
}

// plansTheAnswers expects the plan of each document to give its host the addresses that BIND answers.
func (c *counted) plansTheAnswers(file string) error {
	text, err := os.ReadFile(file)
	c.must(err)
	planned := map[string][]string{}
	for one := range strings.SplitSeq(strings.TrimPrefix(string(text), "---\n"), "---\n") {
		body, err := safeyaml.ToJSON([]byte(one))
		c.must(err)
		var doc struct {
			Metadata struct{ Name string } `json:"metadata"`
			Spec     json.RawMessage       `json:"spec"`
		}
		c.must(json.Unmarshal(body, &doc))
		path := c.words.Replace("/v2/projects/{p}/names/" + doc.Metadata.Name + "?dryRun=true")
		answer, err := c.signpost.Do(c.Context(), http.MethodPut, path, fmt.Sprintf(`{"metadata": {"name": %q}, "spec": %s}`, doc.Metadata.Name, doc.Spec))
		if err != nil {
			return err
		}
		var plan struct {
			Names []struct {
				Name, Mark string
				Targets    []string
			}
		}
		if err := json.Unmarshal(answer.Body, &plan); err != nil || len(plan.Names) != 1 || plan.Names[0].Mark != "a-"+doc.Metadata.Name {
			return fmt.Errorf("the plan of %s is %s", doc.Metadata.Name, answer.Body)
		}
		planned[doc.Metadata.Name] = plan.Names[0].Targets
	}
	for host, address := range c.hosts() {
		want, err := dns.Query(c.Context(), c.world.BIND.Address, host, "A")
		if err != nil {
			return err
		}
		if !slices.Equal(planned[host], want) || !slices.Equal(want, []string{address}) {
			return fmt.Errorf("%s would be %v, and is %v", host, planned[host], want)
		}
	}
	return nil
}
