// Package clusterdns renders the CoreDNS that a DNS CR intent asks for in one cluster. It
// is a DNS service of its own, or server blocks for an existing CoreDNS.
package clusterdns

import (
	"encoding/json"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// App is the app under which an app context files the objects.
const App = "cluster-dns"

// Names of objects, in the intent's namespace: OpenShift's, so that its users
// find what they know.
const (
	ServiceName  = "dns-default"    // of the Service, the DaemonSet, the account and the Corefile's ConfigMap
	ResolverName = "node-resolver"  // of the DaemonSet that keeps the nodes' hosts files
	CacheName    = "node-local-dns" // of the DaemonSet of the nodes' caches, and its Corefile's ConfigMap
	importName   = "coredns-custom" // of the ConfigMap that somebody else's CoreDNS imports
)

// Placement is where an intent wants its DNS pods, defaults included.
func Placement(d plan.ClusterDNS) placement.Placement {
	p := placement.Placement{NodeSelector: linux()}
	if asked := d.Spec.NodePlacement; asked != nil {
		p.Tolerations = asked.Tolerations
		if len(asked.NodeSelector) > 0 {
			p.NodeSelector = asked.NodeSelector
		}
	}
	return p.Canonical()
}

// linux selects the nodes that DNS pods can run on at all.
func linux() map[string]string { return map[string]string{corev1.LabelOSStable: "linux"} }

// Render makes the objects of an intent in one cluster, in a stable order. In mode
// dedicated these are the namespace, and the DNS service with its DNS pods placed as
// told. The node resolver comes if services are named, and the DNS cache of each node if
// there is to be one. In mode import it is one shared ConfigMap (bundle.Object.Shared),
// or nothing where there are no servers.
//
// The error is that of Configure, else a defect of the frozen intent or of
// Signpost.
func Render(g plan.Group, d plan.ClusterDNS, p placement.Placement) ([]bundle.Object, error) {
	read, err := read(d)
	if err != nil {
		return nil, err
	}
	r := renderer{Group: g, ClusterDNS: d, domain: read.config.ClusterDomain, placement: p.Canonical(), bundles: read.bundles}
	if d.Spec.Mode == intent.Import {
		return r.imported(read.config)
	}
	r.files = corefile.SearchFiles(read.config)
	if r.files[corefileKey], err = corefile.Build(read.config); err != nil {
		return nil, err
	}
	kinds := r.dedicated()
	if read.nodeCache != nil {
		text, err := corefile.BuildNodeCache(*read.nodeCache)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, r.nodeCache(*read.nodeCache, text)...)
	}
	return r.objects(kinds)
}

// renderer is an intent with what was read out of it.
type renderer struct {
	plan.Group
	plan.ClusterDNS
	domain    string // of the cluster, canonical
	placement placement.Placement
	bundles   []string          // ConfigMaps with CA bundles, in order
	files     map[string]string // that DNS pods have beside each other, the Corefile among them
}

func (r renderer) dedicated() []any {
	kinds := []any{
		r.namespace(), r.serviceAccount(), r.clusterRole(), r.clusterRoleBinding(),
		r.configMap(ServiceName, r.files), r.service(), r.daemonSet(),
	}
	if resolver := r.Spec.NodeResolver; resolver != nil && len(resolver.Services) > 0 {
		kinds = append(kinds, r.nodeResolver(resolver.Services))
	}
	return kinds
}

func (r renderer) objects(kinds []any) ([]bundle.Object, error) {
	var objects []bundle.Object
	for _, kind := range kinds {
		object, err := bundle.New(r.Cluster, App, kind)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return bundle.Collect(objects)
}

// namespace carries nothing of the intent, because all others with objects there render
// the same.
func (r renderer) namespace() *corev1.Namespace {
	return &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: r.Spec.Namespace, Labels: plan.Marks(r.Installation)},
	}
}

// meta names and marks a namespaced object.
func (r renderer) meta(name string) metav1.ObjectMeta {
	labels := plan.Marks(r.Installation)
	maps.Copy(labels, r.selector(name))
	return metav1.ObjectMeta{Name: name, Namespace: r.Spec.Namespace, Labels: labels}
}

// selector are the labels that tell the pods of a DaemonSet. They do not carry
// the installation: what does is one of the objects that Signpost applied, and
// pods are not.
func (r renderer) selector(name string) map[string]string {
	return map[string]string{
		labelName:                name,
		bundle.LabelProject:      r.Project.Name,
		bundle.LabelLogicalCloud: r.LogicalCloud,
	}
}

// labelName tells what an object belongs to from others in the namespace.
const labelName = "app.kubernetes.io/name"

// unique names what stands outside namespaces, or in a namespace of somebody
// else.
func (r renderer) unique(recognised string) string {
	const longest = 30
	return plan.Slug(recognised, longest) + "-" + plan.Hash(r.Installation, string(r.Path), r.Intent, r.Spec.Namespace)
}

// Placed is the placement of the DNS pods in objects that Render made before for the same
// namespace. If there are none for the cluster, ok is false.
func Placed(objects bundle.Bundle, d plan.ClusterDNS) (p placement.Placement, ok bool) {
	for _, o := range objects {
		if o.Cluster != d.Cluster || o.Group != appsv1.GroupName || o.Kind != daemonSet || o.Name != ServiceName || o.Namespace != d.Spec.Namespace {
			continue
		}
		var found struct {
			Spec struct {
				Template struct {
					Spec placement.Placement `json:"spec"`
				} `json:"template"`
			} `json:"spec"`
		}
		if err := json.Unmarshal(o.JSON, &found); err != nil {
			continue // no DaemonSet of ours
		}
		return found.Spec.Template.Spec.Canonical(), true
	}
	return placement.Placement{}, false
}

// imported are the servers for a CoreDNS of somebody else, as one key of a
// ConfigMap that is not ours. So there is no namespace either: it is where that
// CoreDNS is.
func (r renderer) imported(c corefile.Config) ([]bundle.Object, error) {
	if len(c.Servers) == 0 {
		return nil, nil
	}
	text, err := corefile.BuildServers(c)
	if err != nil {
		return nil, fmt.Errorf("servers of %s: %w", r.Intent, err)
	}
	return r.objects([]any{&corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: importName, Namespace: r.Spec.Namespace,
			Annotations: map[string]string{bundle.AnnotationKeys: bundle.OwnKeys},
		},
		Data: map[string]string{"signpost-" + r.unique(r.LogicalCloud+"-"+r.Intent) + ".server": text},
	}})
}
