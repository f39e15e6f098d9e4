package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func group(apps string) string { return `{"logicalCloud":"eu","apps":[` + apps + `]}` }

func manifests(objects ...string) string {
	return group(`{"name":"web","manifests":[` + strings.Join(objects, ",") + `]},{"name":"api"}`)
}

func object(apiVersion, kind, metadata string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{%s}}`, apiVersion, kind, metadata)
}

func TestGroupsAreRefused(t *testing.T) {
	refused(t, []refusal{
		{reason: "no such logical cloud", path: prod, code: intent.Conflict, spec: `{"logicalCloud":"us","apps":[{"name":"web"},{"name":"api"}]}`,
			errors: map[string]string{"/spec/logicalCloud": "projects/shop/logical-clouds/us, which does not exist"}},
		{reason: "not a name of a logical cloud", path: prod, spec: `{"logicalCloud":"../other","apps":[]}`, errors: map[string]string{"/spec/logicalCloud": "not a name"}},
		{reason: "apps of no and of one name", path: prod, spec: group(`{"name":""},{"name":"web"},{"name":"web"}`),
			errors: map[string]string{"/spec/apps/0/name": "not a name", "/spec/apps/2/name": "twice"}},
		{reason: "Kubernetes' namespace", path: prod, spec: group(`{"name":"web","namespace":"kube-system"}`), errors: map[string]string{"/spec/apps/0/namespace": "Kubernetes"}},
		{reason: "Signpost's namespace", path: prod, spec: group(`{"name":"web","namespace":"signpost"},{"name":"api"}`),
			errors: map[string]string{"/spec/apps/0/namespace": "is the namespace of Signpost with its ServiceAccounts"}},
		{reason: "another project's namespace", path: prod, code: intent.Conflict, spec: group(`{"name":"web","namespace":"other-dns"},{"name":"api"}`),
			errors: map[string]string{"/spec/apps/0/namespace": "the namespace of another project"}},
		{reason: "labels", path: prod, spec: group(`{"name":"web","clusterLabels":{"region":"e u"}}`), errors: map[string]string{"/spec/apps/0/clusterLabels/region": "is not a value"}},
		{reason: "a cluster that is not a reference", path: prod, code: intent.Conflict, spec: group(`{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"paris"}]},{"name":"api"}`),
			errors: map[string]string{"/spec/apps/0/clusters/0": "not a cluster reference of projects/shop/logical-clouds/eu; its clusters are: edge+berlin"}},
		{reason: "a cluster that does not exist", path: prod, code: intent.Conflict, spec: group(`{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"none"}]},{"name":"api"}`),
			errors: map[string]string{"/spec/apps/0/clusters/0": "does not exist"}},
		{reason: "a cluster twice", path: prod,
			spec:   group(`{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"berlin"},{"clusterProvider":"edge","cluster":"berlin"}]}`),
			errors: map[string]string{"/spec/apps/0/clusters/1": "twice"}},
	})
	accepted(t, []acceptance{
		{reason: "a named cluster keeps its reference", path: prod, refs: []intent.Path{eu, eu.Child("cluster-references", "berlin")},
			spec:   group(`{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"berlin"}]},{"name":"api"}`),
			stored: group(`{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"berlin"}]},{"name":"api"}`)},
		{reason: "manifests as they are given", path: prod,
			spec:   manifests(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"},"status":{"loadBalancer":{}}}`, object("apps/v1", "Deployment", `"name":"web.v1"`)),
			stored: manifests(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"},"status":{"loadBalancer":{}}}`, object("apps/v1", "Deployment", `"name":"web.v1"`))},
	})
}

func TestManifestsAreRefused(t *testing.T) {
	const at = "/spec/apps/0/manifests"
	cases := []refusal{
		{reason: "not a object", spec: manifests(`null`, `[]`, `"x"`), errors: map[string]string{at + "/0": "not a Kubernetes object", at + "/1": "not a Kubernetes object", at + "/2": "not a Kubernetes object"}},
		{reason: "nothing in it", spec: manifests(`{}`), errors: map[string]string{at + "/0": "no metadata"}},
		{reason: "no kind, version, name", spec: manifests(`{"metadata":{}}`),
			errors: map[string]string{at + "/0/kind": "not a kind", at + "/0/apiVersion": "not an API version", at + "/0/metadata/name": "not a name"}},
		{reason: "wrong types", spec: manifests(`{"apiVersion":1,"kind":[],"metadata":{"name":{},"labels":[]}}`),
			errors: map[string]string{at + "/0": "apiVersion is not a string"}},
		{reason: "fields in other letters, which lenient readers take", spec: manifests(
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"coredns","nameſpace":"kube-system"}}`,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"coredns","Annotations":{"signpost.dev/keys":"own"}}}`,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"coredns"},"Data":{}}`),
			errors: map[string]string{at + "/0": "write namespace", at + "/1": "write annotations", at + "/2": "write data"}},
		{reason: "the DNS of pods in other letters, which Kubernetes does not read", spec: manifests(
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"},"spec":{"template":{"spec":{"DnsPolicy":"None","dnsconfig":{},"dnsConfig":{"Nameservers":[],"more":1,"options":[{"name":"ndots","Value":"1"}]}}}}}`,
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"HostNetwork":true,"dnsPolicy":"None"}}`,
			`{"apiVersion":"example.com/v1","kind":"Pod","metadata":{"name":"x"},"spec":{"DNSPolicy":"None"}}`),
			errors: map[string]string{
				at + "/0/spec/template/spec":                     `"DnsPolicy" is not a field of Kubernetes; write dnsPolicy`,
				at + "/0/spec/template/spec/dnsConfig":           `"Nameservers" is not a field of Kubernetes; write nameservers`,
				at + "/0/spec/template/spec/dnsConfig/options/0": `"Value" is not a field of Kubernetes; write value`,
				at + "/1/spec": `"HostNetwork" is not a field of Kubernetes; write hostNetwork`,
			}},
		{reason: "nested without end", spec: manifests(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"x":` + strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000) + `}`),
			errors: map[string]string{at + "/0": "nests more than 64 levels deep"}},
		{reason: "another namespace", spec: manifests(object("v1", "Service", `"name":"web","namespace":"kube-system"`)),
			errors: map[string]string{at + "/0/metadata/namespace": `give "shop"`}},
		{reason: "rights", spec: manifests(object("rbac.authorization.k8s.io/v1", "Role", `"name":"x"`), object("rbac.authorization.k8s.io/v1beta1", "ClusterRoleBinding", `"name":"x"`)),
			errors: map[string]string{at + "/0/kind": "grants rights", at + "/1/kind": "grants rights"}},
		{reason: "kinds that are written otherwise", spec: manifests(object("v1", "namespace", `"name":"x"`), object("core/v1", "Namespace", `"name":"x"`), object("v1", "Gadget", `"name":"x"`)),
			errors: map[string]string{at + "/0/kind": "not a kind of v1", at + "/1/apiVersion": "write v1", at + "/2/kind": "not a kind of v1"}},
		{reason: "a list", spec: manifests(`{"apiVersion":"v1","kind":"List","metadata":{"name":"x"},"items":[]}`), errors: map[string]string{at + "/0/kind": "manifest of its own"}},
		{reason: "the same object twice", spec: manifests(object("apps/v1", "Deployment", `"name":"x"`), object("apps/v1beta1", "Deployment", `"name":"x"`)),
			errors: map[string]string{at + "/1": at + "/0 already"}},
		{reason: "a Service's name", spec: manifests(object("v1", "Service", `"name":"a.b"`), object("v1", "ConfigMap", `"name":"A_b"`)),
			errors: map[string]string{at + "/0/metadata/name": "not a name", at + "/1/metadata/name": "not a name"}},
		{reason: "a name to be made", spec: manifests(object("v1", "Pod", `"generateName":"x-"`)), errors: map[string]string{at + "/0/metadata/generateName": "give a name"}},
		{reason: "the server's fields", spec: manifests(object("v1", "Pod", `"name":"x","uid":"1","resourceVersion":"1","managedFields":[{}]`)),
			errors: map[string]string{at + "/0/metadata/uid": "leave it", at + "/0/metadata/resourceVersion": "leave it", at + "/0/metadata/managedFields": "leave it"}},
		{reason: "what only servers write of deletions", spec: manifests(object("v1", "Pod", `"name":"x","selfLink":"/x","deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30`)),
			errors: map[string]string{
				at + "/0/metadata/selfLink":          "is written only by an API server; leave it out",
				at + "/0/metadata/deletionTimestamp": "leave it", at + "/0/metadata/deletionGracePeriodSeconds": "leave it"}},
		{reason: "what keeps objects, or has them deleted", spec: manifests(object("v1", "Pod", `"name":"x","finalizers":["example.com/never"],"ownerReferences":[{"kind":"Pod"}]`)),
			errors: map[string]string{
				at + "/0/metadata/finalizers":      "would keep the cluster from deleting the object until somebody removes the finalizers",
				at + "/0/metadata/ownerReferences": "together with another, and Signpost would create it again; leave it out"}},
		{reason: "the same in templates", spec: manifests(
			`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"x"},"spec":{"template":{"metadata":{"finalizers":["a/b"]}},"volumeClaimTemplates":[{"metadata":{"ownerReferences":[{}]}}]}}`),
			errors: map[string]string{
				at + "/0/spec/template/metadata/finalizers":                    "leave it",
				at + "/0/spec/volumeClaimTemplates/0/metadata/ownerReferences": "leave it"}},
		{reason: "the same in other letters", spec: manifests(object("v1", "Pod", `"name":"x","Finalizers":["a/b"],"ownerreferences":[{}]`)),
			errors: map[string]string{at + "/0": `"Finalizers" is not a field of Kubernetes; write finalizers; "ownerreferences" is not a field`}},
		{reason: "all that kubectl get shows", spec: manifests(object("v1", "ConfigMap", `"name":"x","namespace":"shop","creationTimestamp":"2026-01-01T00:00:00Z","generation":1,"resourceVersion":"7","uid":"1-2","finalizers":[],"ownerReferences":null`)),
			errors: map[string]string{at + "/0/metadata/uid": "leave it", at + "/0/metadata/resourceVersion": "leave it"}},
		{reason: "a Secret that would be filled with sealed values", spec: manifests(object("v1", "Secret", `"name":"x","annotations":{"signpost.dev/values-from":"{}"}`)),
			errors: map[string]string{at + "/0/metadata/annotations/signpost.dev~1values-from": "Signpost's own"}},
		{reason: "labels that external-dns selects", spec: manifests(object("v1", "Pod", `"name":"x","labels":{"signpost.dev/record":"lab"}`)),
			errors: map[string]string{at + "/0/metadata/labels/signpost.dev~1record": "Signpost's own"}},
		{reason: "pods that pass for Signpost's", spec: manifests(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"},"spec":{
			"selector":{"matchLabels":{"app":"x","signpost.dev/project":"other"}},
			"template":{"metadata":{"labels":{"app":"x","signpost.dev/project":"other"},"annotations":{"signpost.dev/users":"x"}}}}}`),
			errors: map[string]string{
				at + "/0/spec/selector/matchLabels/signpost.dev~1project":        "choose another key",
				at + "/0/spec/template/metadata/labels/signpost.dev~1project":    "Signpost's own",
				at + "/0/spec/template/metadata/annotations/signpost.dev~1users": "Signpost's own"}},
		{reason: "within lists, and beside a spec", spec: manifests(
			`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"x"},"spec":{"volumeClaimTemplates":[{"metadata":{"labels":{"signpost.dev/app":"x"}}}]}}`,
			`{"apiVersion":"v1","kind":"PodTemplate","metadata":{"name":"x"},"template":{"metadata":{"labels":{"signpost.dev/app":"x"}}}}`),
			errors: map[string]string{
				at + "/0/spec/volumeClaimTemplates/0/metadata/labels/signpost.dev~1app": "Signpost's own",
				at + "/1/template/metadata/labels/signpost.dev~1app":                    "Signpost's own"}},
	}
	for i := range cases {
		cases[i].path = prod
	}
	refused(t, cases)
}

func TestClusterScopedKindsAreRefused(t *testing.T) {
	w := newShop(t)
	for apiVersion, kinds := range map[string][]string{
		"v1":                              {"Namespace", "Node", "PersistentVolume"},
		"apiextensions.k8s.io/v1":         {"CustomResourceDefinition"},
		"apiregistration.k8s.io/v1":       {"APIService"},
		"admissionregistration.k8s.io/v1": {"ValidatingWebhookConfiguration", "MutatingAdmissionPolicy"},
		"storage.k8s.io/v1":               {"StorageClass", "CSIDriver"},
		"networking.k8s.io/v1":            {"IngressClass", "IPAddress"},
		"scheduling.k8s.io/v1":            {"PriorityClass"},
		"certificates.k8s.io/v1":          {"CertificateSigningRequest"},
		"gateway.networking.k8s.io/v1":    {"GatewayClass"},
	} {
		for _, kind := range kinds {
			_, err := w.admit(prod, manifests(object(apiVersion, kind, `"name":"x"`)))
			assertFields(t, err, intent.Invalid, map[string]string{"/spec/apps/0/manifests/0/kind": "belongs to no namespace"})
		}
	}
	for apiVersion, kind := range map[string]string{"networking.k8s.io/v1": "Ingress", "storage.k8s.io/v1": "CSIStorageCapacity", "batch/v1": "Job", "example.com/v1": "Node"} {
		_, err := w.admit(prod, manifests(object(apiVersion, kind, `"name":"x"`)))
		require.NoError(t, err, kind)
	}
}

func TestAnAppStaysWhileAnIntentNamesIt(t *testing.T) {
	w := newShop(t)
	w.must(www, `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`)
	_, err := w.admit(prod, group(`{"name":"api"}`))
	assertFields(t, err, intent.Conflict, map[string]string{"/spec/apps": string(www)})
	w.must(prod, group(`{"name":"web"}`))
}

func FuzzManifests(f *testing.F) {
	f.Add(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"x"}}`)
	f.Add(`{"apiVersion":{},"kind":"List","items":[{}],"metadata":{"labels":{"a":1}}}`)
	f.Add(`null`)
	f.Add(strings.Repeat(`{"a":[`, 200) + strings.Repeat(`]}`, 200))
	f.Fuzz(func(t *testing.T, manifest string) {
		w := newShop(t)
		write, err := w.admit(prod, manifests(manifest))
		if err != nil {
			return
		}
		doc := w.put(write)
		_, err = w.admitter.View(t.Context(), doc)
		require.NoError(t, err)
		_, err = w.admit(prod, manifests(manifest))
		require.NoError(t, err, "what was admitted once is admitted again")
	})
}
