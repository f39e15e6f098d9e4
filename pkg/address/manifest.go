package address

import (
	"encoding/json"
	"fmt"
)

// FromManifests reads what a Service offers out of an app's manifests, which is
// all there is to observe of a cluster that is a directory: the ingress of its
// status, its external IPs, and its loadBalancerIP where it has no ingress. A
// manifest without namespace is taken to be in the given one. The answer is
// never nil: a Service that is in no manifest was seen to be absent. What does
// not parse offers nothing.
func FromManifests(manifests []json.RawMessage, namespace, service string) *Observation {
	observation := &Observation{}
	for _, raw := range manifests {
		collect(raw, namespace, service, observation)
	}
	return observation
}

// manifest is what matters of a Service, or of a List that may hold one.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items  []json.RawMessage `json:"items"`
	Spec   json.RawMessage   `json:"spec"`
	Status json.RawMessage   `json:"status"`
}

// collect adds what one manifest offers. The first manifest of the Service
// counts; there can be only one.
func collect(raw json.RawMessage, namespace, service string, into *Observation) {
	var m manifest
	if json.Unmarshal(raw, &m) != nil || m.APIVersion != "v1" || into.Found {
		return
	}
	if m.Kind == "List" {
		for _, item := range m.Items {
			collect(item, namespace, service, into)
		}
		return
	}
	elsewhere := m.Metadata.Namespace != "" && m.Metadata.Namespace != namespace
	if m.Kind != "Service" || m.Metadata.Name != service || elsewhere {
		return
	}
	into.Found = true
	into.Candidates = m.candidates()
}

func (m manifest) candidates() []Candidate {
	var spec struct {
		ExternalIPs    []string `json:"externalIPs"`
		LoadBalancerIP string   `json:"loadBalancerIP"`
	}
	var status struct {
		LoadBalancer struct {
			Ingress []struct {
				IP       string `json:"ip"`
				Hostname string `json:"hostname"`
			} `json:"ingress"`
		} `json:"loadBalancer"`
	}
	// What has the wrong type offers nothing; the API server would refuse it.
	_ = json.Unmarshal(m.Spec, &spec)
	_ = json.Unmarshal(m.Status, &status)
	var out []Candidate
	add := func(target, field string) {
		if target != "" {
			out = append(out, Candidate{Target: target, Field: field})
		}
	}
	for n, ingress := range status.LoadBalancer.Ingress {
		add(ingress.IP, fmt.Sprintf("status.loadBalancer.ingress[%d].ip", n))
		add(ingress.Hostname, fmt.Sprintf("status.loadBalancer.ingress[%d].hostname", n))
	}
	offered := len(out) > 0
	for n, ip := range spec.ExternalIPs {
		add(ip, fmt.Sprintf("spec.externalIPs[%d]", n))
	}
	if !offered {
		add(spec.LoadBalancerIP, "spec.loadBalancerIP")
	}
	return out
}
