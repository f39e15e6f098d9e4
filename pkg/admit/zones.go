package admit

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/autopath"
	"github.com/signpost-dns/signpost/pkg/hostname"
	"github.com/signpost-dns/signpost/pkg/intent"
)

const (
	// identityZone is where CoreDNS tells which of its pods answers.
	identityZone = "hostname.bind"

	// mostZones of an intent fit into one ConfigMap, whatever is said of them.
	mostZones = 500

	// mostServices of a node resolver fit into its command line.
	mostServices = 100
)

// clusterDomain is a domain for which clusters answer themselves.
type clusterDomain struct{ name, whose string }

// zones collects the zones of an intent's forwards, wherever they are given.
type zones struct {
	*review
	domains []clusterDomain
	own     map[netip.Addr]string // addresses of clusters' own DNS services, and which cluster has each
	toNodes bool                  // a node resolver writes answers to the nodes
	walked  bool                  // there are search domains
	first   map[string]pointer    // where each zone was seen first
}

// plugins checks the forwards in the seed's form, and points to them as they
// are spelled in the body.
func (z *zones) plugins(in *intent.DNSPluginConfig) {
	const at, plural, singular = spec + "/pluginConfig", "forwardPlugins", "forwardPlugin"
	if in == nil {
		return
	}
	var sent struct {
		Spec struct {
			PluginConfig map[string][]map[string]json.RawMessage `json:"pluginConfig"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(z.body, &sent); err != nil {
		z.refusef(at, "cannot be read: %s", err)
		return
	}
	spelled, ok := spelling(z.review, at, sent.Spec.PluginConfig, plural, singular)
	if !ok {
		return
	}
	written := sent.Spec.PluginConfig[spelled]
	if len(written) != len(in.ForwardPlugins) {
		z.refusef(at, "has a field that is spelled otherwise; give %s", plural)
		return
	}
	for i := range in.ForwardPlugins {
		plugin, here := &in.ForwardPlugins[i], at.key(spelled).index(i)
		plugin.Domain = z.take(here.key("domain"), plugin.Domain)
		nameservers, ok := spelling(z.review, here, written[i], "nameservers", "nameServers")
		if ok {
			z.nameservers(here.key(nameservers), plugin.Nameservers)
		}
		z.policy(here.key("policy"), plugin.Policy)
	}
}

// servers checks the forwards in OpenShift's form of today.
func (z *zones) servers(in []intent.DNSServer) {
	const at = spec + "/servers"
	for i := range in {
		server, here := &in[i], at.index(i)
		switch {
		case !isDNSLabel(server.Name):
			z.refusef(here.key("name"), "%s is no name of a server; use at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit", quote(server.Name))
		case slices.ContainsFunc(in[:i], func(other intent.DNSServer) bool { return other.Name == server.Name }):
			z.refusef(here.key("name"), "%s is given twice; give each server its own name", quote(server.Name))
		}
		if len(server.Zones) == 0 {
			z.refusef(here.key("zones"), "is empty; give at least one, such as corp.example")
		}
		for j, zone := range server.Zones {
			server.Zones[j] = z.take(here.key("zones").index(j), zone)
		}
		forward := here.key("forwardPlugin")
		z.nameservers(forward.key("upstreams"), server.ForwardPlugin.Upstreams)
		z.policy(forward.key("policy"), server.ForwardPlugin.Policy)
		z.transport(forward.key("transportConfig"), server.ForwardPlugin.TransportConfig)
		z.protocol(forward.key("protocolStrategy"), server.ForwardPlugin.ProtocolStrategy)
	}
}

// take checks a zone and answers its canonical name.
func (z *zones) take(at pointer, text string) string {
	name, err := hostname.Zone(text)
	if err != nil {
		z.refusef(at, "%s %s", quote(text), err)
		return text
	}
	if name == identityZone || strings.HasSuffix(identityZone, "."+name) {
		z.refusef(at, "%s holds %s, where CoreDNS tells which pod answers; give another zone", quote(text), identityZone)
		return name
	}
	if z.walked && withinZone(name, autopath.Zone) {
		z.refusef(at, "%s lies in %s, where the search domains of autopath are; give another zone, or leave autopath out", quote(text), autopath.Zone)
		return name
	}
	for _, domain := range z.domains {
		if domain.name == name {
			z.refusef(at, "%s is %s, where it answers for its Services; give another zone", quote(text), domain.whose)
			return name
		}
		if strings.HasSuffix(domain.name, "."+name) {
			z.refusef(at, "%s takes in %s, %s, where it answers for its Services; give a zone beside it", quote(text), domain.name, domain.whose)
			return name
		}
		if z.toNodes && strings.HasSuffix(name, "."+domain.name) {
			z.refusef(at, "%s lies in %s, %s, so that its nameservers would say what nodeResolver writes to every node's /etc/hosts; give a zone beside it, or leave nodeResolver out", quote(text), domain.name, domain.whose)
			return name
		}
	}
	if z.reverse(at, name) {
		return name
	}
	if first, twice := z.first[name]; twice {
		z.refusef(at, "%s is the same zone as %s; put their nameservers together, or leave one out", quote(text), first)
		return name
	}
	z.first[name] = at
	if len(z.first) == mostZones+1 {
		z.refusef(at, "is one zone too many: an intent has at most %d; leave some out", mostZones)
	}
	return name
}

// reverse refuses a zone that is known to hold the names of a cluster's own addresses.
func (z *zones) reverse(at pointer, zone string) (refused bool) {
	if zone == "arpa" {
		z.refusef(at, "%s holds the names of all addresses, for which clusters answer of their Services and pods themselves; give the zones of the networks that are yours", quote(zone))
		return true
	}
	for _, address := range slices.SortedFunc(maps.Keys(z.own), netip.Addr.Compare) {
		for _, network := range hostname.ReverseNetworks(zone) {
			if network.Contains(address.Unmap()) {
				z.refusef(at, "%s holds the names of Services of cluster %s, whose dns.address is %s: their PTR records would no longer be answered; give zones beside those networks, such as that of a /16 or /24", quote(zone), z.own[address], address)
				return true
			}
		}
	}
	return false
}

// withinZone tells whether a domain is a zone's or lies in it; both canonical.
func withinZone(domain, zone string) bool {
	return domain == zone || strings.HasSuffix(domain, "."+zone)
}

// spelling is the one of a field's two names that an object uses; false when
// it uses both, which is refused.
func spelling[Value any](r *review, at pointer, object map[string]Value, usual, other string) (string, bool) {
	_, hasUsual := object[usual]
	_, hasOther := object[other]
	switch {
	case hasUsual && hasOther:
		r.refusef(at.key(other), "is given as %s, too; give one of them", usual)
		return "", false
	case hasOther:
		return other, true
	}
	return usual, true
}
