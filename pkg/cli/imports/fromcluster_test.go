package imports

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// objects reads objects of a kind, all in namespace web.
func objects(t *testing.T, texts ...string) []object {
	t.Helper()
	var all []object
	for _, text := range texts {
		var o object
		require.NoError(t, json.Unmarshal([]byte(text), &o))
		o.Metadata.Namespace = "web"
		all = append(all, o)
	}
	return all
}

const hostOf = `,"annotations":{"external-dns.alpha.kubernetes.io/hostname":"%s.shop.example"%s}}`

// TestObjectsBecomeNames that follow a Service, if Signpost finds there what external-dns publishes, and else have fixed targets.
func TestObjectsBecomeNames(t *testing.T) {
	t.Parallel()
	annotated := func(host, more string) string { return fmt.Sprintf(hostOf, host, more) }
	const balanced = `,"status":{"loadBalancer":{"ingress":[{"ip":%q}]}}}`
	service := func(name, annotations, spec, address string) string {
		return `{"metadata":{"name":"` + name + `"` + annotations + `,"spec":{` + spec + `}` + fmt.Sprintf(balanced, address)
	}
	r := FromCluster("test", Objects{
		Cluster: "dc/one",
		services: objects(t,
			service("front", annotated("www", `,"external-dns.alpha.kubernetes.io/ttl":"2m"`), `"type":"LoadBalancer"`, "203.0.113.1"),
			service("both", annotated("both", ""), `"type":"LoadBalancer","externalIPs":["203.0.113.3"]`, "203.0.113.2"),
			service("fixed", annotated("fixed", `,"external-dns.alpha.kubernetes.io/target":"lb.else.example"`), `"type":"LoadBalancer"`, "203.0.113.4"),
			service("weighted", annotated("weighted", `,"external-dns.alpha.kubernetes.io/aws-weight":"10"`), `"type":"LoadBalancer"`, "203.0.113.4"),
			service("others", annotated("others", `,"external-dns.alpha.kubernetes.io/controller":"another"`), `"type":"LoadBalancer"`, "203.0.113.4"),
			service("again", annotated("www", ""), `"type":"LoadBalancer"`, "203.0.113.4"),
			`{"metadata":{"name":"away"`+annotated("away", "")+`,"spec":{"type":"ExternalName","externalName":"api.else.example"}}`,
			`{"metadata":{"name":"shop"}}`, `{"metadata":{"name":"plain"}}`,
		),
		ingresses: objects(t,
			`{"metadata":{"name":"shop"},"spec":{"tls":[{"hosts":["pay.shop.example","Bad_Name.example"]}],"rules":[{"host":"shop.shop.example","http":{"paths":[{"backend":{"service":{"name":"shop"}}}]}}]}`+fmt.Sprintf(balanced, "203.0.113.5"),
			`{"metadata":{"name":"front"},"spec":{"rules":[{"host":"alias.shop.example","http":{"paths":[{"backend":{"service":{"name":"both"}}}]}}]}`+fmt.Sprintf(balanced, "203.0.113.6"),
		),
		gateways: objects(t, `{"metadata":{"name":"edge"},"status":{"addresses":[{"value":"203.0.113.7"}]}}`),
		routes: objects(t,
			`{"metadata":{"name":"api"},"spec":{"hostnames":["api.shop.example"],"parentRefs":[{"name":"edge"}],"rules":[{"backendRefs":[{"name":"plain"}]}]}}`,
			`{"metadata":{"name":"bare"},"spec":{"parentRefs":[{"name":"edge"}]}}`,
		),
		dnsObjects: objects(t, `{"metadata":{"name":"more"},"spec":{"endpoints":[
			{"dnsName":"db.shop.example","recordType":"A","targets":["203.0.113.8"],"recordTTL":60},
			{"dnsName":"fast.shop.example","recordType":"A","targets":["203.0.113.8"],"recordTTL":1},
			{"dnsName":"text.shop.example","recordType":"TXT","targets":["hello"]},
			{"dnsName":"eu.shop.example","recordType":"A","targets":["203.0.113.9"],"setIdentifier":"eu"},
			{"dnsName":"www.shop.example","recordType":"A","targets":["203.0.113.9"]}]}}`,
			`{"metadata":{"name":"ours","labels":{"app.kubernetes.io/managed-by":"signpost"}},"spec":{"endpoints":[{"dnsName":"ours.shop.example","recordType":"A","targets":["203.0.113.9"]}]}}`),
	})
	var names []string
	for _, n := range r.Names {
		clusters := []string{}
		if n.Spec.Clusters != nil {
			clusters = n.Spec.Clusters.Names
		}
		names = append(names, fmt.Sprintf("%s %d %s%v%v%s%v", n.Host, n.Spec.TTL, n.Spec.Service, clusters, n.Spec.Addresses, n.Spec.CNAME, n.Spec.Records))
	}
	require.Equal(t, []string{
		"alias.shop.example 0 [][203.0.113.6][]",
		"api.shop.example 0 web/plain[dc/one][][]",
		"away.shop.example 0 [][]api.else.example[]",
		"both.shop.example 0 [][203.0.113.3][]",
		"db.shop.example 60 [][203.0.113.8][]",
		"fast.shop.example 1 [][203.0.113.8][]",
		"fixed.shop.example 0 [][]lb.else.example[]",
		"pay.shop.example 0 web/shop[dc/one][][]",
		"shop.shop.example 0 web/shop[dc/one][][]",
		"text.shop.example 0 [][][{TXT [hello] 0}]",
		"www.shop.example 120 web/front[dc/one][][]",
	}, names)
	told := reasons(r)
	for _, says := range []string{
		"changed both.shop.example : the name gets the targets of now, 203.0.113.3: it does not follow Service web/both, because Signpost finds others for its Service",
		"left Service web/weighted : has the annotation aws-weight=10; publish",
		"left Service web/others : has the annotation controller=another, so external-dns passes it by",
		"left Service web/again : has the host name www.shop.example, which Service web/front has, too; a name has one source",
		`left Ingress web/shop : has the host name "Bad_Name.example", which`,
		"left HTTPRoute web/bare : has no host names of its own",
		"left eu.shop.example A: DNSEndpoint web/more gives it with properties of its DNS provider",
		"left DNSEndpoint web/ours : Signpost itself has made it",
		"left www.shop.example A: DNSEndpoint web/more gives it, and Service web/front, too",
	} {
		require.Contains(t, told, says)
	}
}
