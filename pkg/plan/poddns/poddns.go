// Package poddns gives the pods of workloads the DNS settings that a pod DNS
// intent asks for: the seed "configurable pod DNS", and of "DNS autopath in
// PodSpec" what a pod gets of it.
package poddns

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/podspec"
	"github.com/signpost-dns/signpost/pkg/resolvconf"
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

// Render is a manifest whose pods have the settings of an app's intent on one
// of the app's clusters, and what there is to say about that. The policy
// replaces the pods' own; the settings of the policy autopath, else the pods'
// own, come before those of the intent (resolvconf.Merge). What makes no pods,
// and what makes them in a way that Kubernetes does not know, is answered as it
// is; nothing is written into the manifest itself.
func Render(manifest Manifest, dns plan.PodDNS, cluster string) (Manifest, []Finding) {
	place, ok := podspec.Find(manifest)
	pod := podspec.At(manifest, place.Fields)
	if !ok || pod == nil {
		return manifest, nil
	}
	name, _ := podspec.At(manifest, []string{"metadata"})["name"].(string)
	r := renderer{PodDNS: dns, policy: dns.Spec.DNSPolicy.Canonical(), subject: fmt.Sprintf("%v %q", manifest["kind"], name)}
	if !place.Known {
		r.warn("/spec/app", "has pods whose DNS is left as it is: Signpost sets that of Pod, Deployment, StatefulSet, DaemonSet, ReplicaSet, Job and CronJob alone")
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
	own, err := settings(spec)
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
		if spec[configField] != nil {
			r.warn("/spec/dnsPolicy", "has a dnsConfig of its own, which is set aside: with %s the search paths are those of the cluster's DNS", intent.DNSAutopath)
		}
		policy, base = intent.DNSNone, given
	}
	merged := base
	if r.Spec.DNSConfig != nil {
		merged = resolvconf.Merge(base, *r.Spec.DNSConfig)
	}
	for _, excess := range resolvconf.Exceeded(merged) {
		r.refuse("/spec/dnsConfig/"+excess.Field, "would have %s, its own included", excess.Detail)
	}
	return withSettings(spec, policy, merged)
}

// checkNetwork notes what a policy does not do on the node's network.
func (r *renderer) checkNetwork(spec Manifest) {
	if onHost, _ := spec["hostNetwork"].(bool); !onHost {
		return
	}
	switch r.policy {
	case intent.DNSAutopath:
		r.refuse("/spec/dnsPolicy", "has hostNetwork: true, where %s is not to be had; use %s", intent.DNSAutopath, intent.DNSClusterFirstWithHostNet)
	case intent.DNSClusterFirst:
		r.warn("/spec/dnsPolicy", "has hostNetwork: true, where kubelet takes %s for %s; use %s", intent.DNSClusterFirst, intent.DNSDefault, intent.DNSClusterFirstWithHostNet)
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

// settings reads the dnsConfig of a pod's spec, zero where there is none.
func settings(spec Manifest) (c intent.PodDNSConfig, err error) {
	raw, err := json.Marshal(spec[configField])
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	return c, err
}

// withSettings is a copy of a pod's spec with other settings.
func withSettings(spec Manifest, policy intent.DNSPolicy, c intent.PodDNSConfig) Manifest {
	spec = maps.Clone(spec)
	spec[policyField] = string(policy)
	delete(spec, configField)
	if len(c.Nameservers)+len(c.Searches)+len(c.Options) > 0 {
		spec[configField] = c
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
