// Package poddns gives the pods of workloads the DNS settings of a pod DNS intent. It
// implements the seed "configurable pod DNS", and the pods' part of "DNS autopath in
// PodSpec".
package poddns

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kubernetes "k8s.io/apimachinery/pkg/util/json"

	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/podspec"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Manifest is a Kubernetes object of any kind.
type Manifest = map[string]any

// Finding is what there is to say about an intent and a manifest.
type Finding struct {
	Intent  intent.Path
	Pointer string // into the intent
	Detail  string
	Refused bool // the settings cannot be what the intent asks for; else a warning
}

// Fields of a pod's spec.
const (
	policyField = "dnsPolicy"
	configField = "dnsConfig"
)

// Render is a manifest whose pods have the settings of an app's intent on one of the
// app's clusters. Findings tell about that. The policy replaces the pods' own; the
// settings of the policy autopath, else the pods' own, come before those of the intent
// (resolvconf.Merge). An object that makes no pods, or makes them in a way that
// Kubernetes does not know, is answered as it is. Nothing is written into the manifest
// itself.
func Render(manifest Manifest, dns plan.PodDNS, cluster string) (Manifest, []Finding) {
	place, ok := podspec.Find(manifest)
	pod := podspec.At(manifest, place.Fields)
	if !ok || pod == nil {
		return manifest, nil
	}
	name, _ := podspec.At(manifest, []string{"metadata"})["name"].(string)
	r := renderer{PodDNS: dns, policy: dns.Spec.DNSPolicy.Canonical(), subject: fmt.Sprintf("%v %q", manifest["kind"], name)}
	if !place.Known {
		r.warn("/spec/app", "has pods whose DNS stays as it is: Signpost sets only the DNS of Pod, Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job, CronJob and PodTemplate")
		return manifest, r.findings
	}
	if pod = r.pod(pod, cluster); pod == nil {
		return manifest, r.findings
	}
	return replace(manifest, place.Fields, pod), r.findings
}

// renderer applies one intent to one manifest.
type renderer struct {
	plan.PodDNS
	policy   intent.DNSPolicy // canonical
	subject  string           // the manifest in messages, as in `Deployment "web"`
	findings []Finding
}

func (r *renderer) warn(pointer, format string, args ...any) {
	r.find(pointer, false, format, args...)
}

func (r *renderer) refuse(pointer, format string, args ...any) {
	r.find(pointer, true, format, args...)
}

func (r *renderer) find(pointer string, refused bool, format string, args ...any) {
	detail := r.subject + " " + fmt.Sprintf(format, args...)
	r.findings = append(r.findings, Finding{Intent: r.Intent, Pointer: pointer, Detail: detail, Refused: refused})
}

// pod is the spec of a pod with the settings; nil where there can be none.
func (r *renderer) pod(spec Manifest, cluster string) Manifest {
	r.checkNetwork(spec)
	own, others, err := settings(spec)
	if err != nil {
		r.refuse("/spec/app", `has no valid dnsConfig: it is an object, as in {"options": [{"name": "ndots", "value": "1"}]}`)
		return nil
	}
	policy, base := r.policy, own
	if policy == intent.DNSAutopath {
		given, ok := r.given(cluster)
		if !ok {
			return nil
		}
		policy, base, others = intent.DNSNone, given, nil
	}
	merged := base
	if r.Spec.DNSConfig != nil {
		merged = resolvconf.Merge(base, *r.Spec.DNSConfig)
	}
	if r.policy == intent.DNSAutopath && spec[configField] != nil && !reflect.DeepEqual(own, merged) {
		r.warn("/spec/dnsPolicy", "has a dnsConfig of its own, which is ignored: with %s the search paths are those of the cluster's DNS", intent.DNSAutopath)
	}
	for _, excess := range resolvconf.Exceeded(merged) {
		r.refuse("/spec/dnsConfig/"+excess.Field, "would have %s, the app's own included", excess.Detail)
	}
	for _, search := range merged.Searches {
		if n := len(strings.TrimSuffix(search, ".")); n > resolvconf.MaxSearch {
			r.refuse("/spec/dnsConfig/searches", "would have a search of %d characters; Kubernetes allows at most %d, the app's own included", n, resolvconf.MaxSearch)
		}
	}
	return withSettings(spec, policy, others, merged)
}

// checkNetwork notes what a policy does not do on the node's network.
func (r *renderer) checkNetwork(spec Manifest) {
	if onHost, _ := spec["hostNetwork"].(bool); !onHost {
		return
	}
	switch r.policy {
	case intent.DNSAutopath:
		r.refuse("/spec/dnsPolicy", "has hostNetwork: true, where %s cannot work; use %s", intent.DNSAutopath, intent.DNSClusterFirstWithHostNet)
	case intent.DNSClusterFirst:
		r.warn("/spec/dnsPolicy", "has hostNetwork: true, where kubelet treats %s as %s; use %s", intent.DNSClusterFirst, intent.DNSDefault, intent.DNSClusterFirstWithHostNet)
	}
}

// given is what autopath gives to pods on a cluster.
func (r *renderer) given(cluster string) (intent.PodDNSConfig, bool) {
	at := slices.IndexFunc(r.Autopath, func(a plan.PodAutopath) bool { return a.Cluster == cluster })
	if at < 0 {
		return intent.PodDNSConfig{}, false
	}
	return resolvconf.Autopath(r.Autopath[at].Nameserver, r.Autopath[at].Search), true
}

// settings reads the dnsConfig of a pod's spec as Kubernetes does, by the exact names of
// its fields. It is zero if there is none; others are the further fields of the spec.
func settings(spec Manifest) (c intent.PodDNSConfig, others Manifest, err error) {
	given, isObject := spec[configField].(Manifest)
	if !isObject && spec[configField] != nil {
		return c, nil, errors.New("is not an object")
	}
	var read corev1.PodDNSConfig
	raw, err := json.Marshal(given)
	if err == nil {
		err = kubernetes.Unmarshal(raw, &read)
	}
	c.Nameservers, c.Searches = read.Nameservers, read.Searches
	for _, o := range read.Options {
		c.Options = append(c.Options, intent.PodDNSOption{Name: o.Name, Value: o.Value})
	}
	others = maps.Clone(given)
	for _, field := range []string{"nameservers", "searches", "options"} {
		delete(others, field)
	}
	return c, others, err
}

// withSettings is a copy of a pod's spec with other settings, and further fields
// beside them.
func withSettings(spec Manifest, policy intent.DNSPolicy, others Manifest, c intent.PodDNSConfig) Manifest {
	spec, config := maps.Clone(spec), Manifest{}
	maps.Copy(config, others)
	if len(c.Nameservers) > 0 {
		config["nameservers"] = c.Nameservers
	}
	if len(c.Searches) > 0 {
		config["searches"] = c.Searches
	}
	if len(c.Options) > 0 {
		config["options"] = c.Options
	}
	spec[policyField] = string(policy)
	delete(spec, configField)
	if len(config) > 0 {
		spec[configField] = config
	}
	return spec
}

// replace is a copy of a manifest with another object below these fields. All
// but the way there is shared.
func replace(manifest Manifest, fields []string, object Manifest) Manifest {
	if len(fields) == 0 {
		return object
	}
	copied := maps.Clone(manifest)
	inner, _ := manifest[fields[0]].(Manifest)
	copied[fields[0]] = replace(inner, fields[1:], object)
	return copied
}
