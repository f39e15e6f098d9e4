package clusterdns

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const (
	// identityZone is where CoreDNS tells which of its pods answers.
	identityZone = "hostname.bind"

	// mostZones of an intent fit into one ConfigMap, with any settings.
	mostZones = 500

	// mostServices of a node resolver fit into its command line.
	mostServices = 100
)

// clusterDomain is a domain for which clusters answer themselves.
type clusterDomain struct{ name, whose string }

// zones collects the zones of an intent's forwards, wherever they are given.
type zones struct {
	*review.Review
	domains []clusterDomain
	own     map[netip.Addr]string     // addresses of clusters' own DNS services, and which cluster has each
	toNodes bool                      // a node resolver writes answers to the nodes
	walked  bool                      // there are search domains
	first   map[string]review.Pointer // where each zone was seen first
}

// plugins checks the forwards in the seed's form, and points to them as they
// are spelled in the body.
func (z *zones) plugins(in *intent.DNSPluginConfig) {
	const at, plural, singular = review.Spec + "/pluginConfig", "forwardPlugins", "forwardPlugin"
	if in == nil {
		return
	}
	var sent struct {
		Spec struct {
			PluginConfig map[string][]map[string]json.RawMessage `json:"pluginConfig"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(z.Body, &sent); err != nil {
		z.Refusef(at, "cannot be read: %s", err)
		return
	}
	spelled, ok := Spelling(z.Review, at, sent.Spec.PluginConfig, plural, singular)
	if !ok {
		return
	}
	written := sent.Spec.PluginConfig[spelled]
	if len(written) != len(in.ForwardPlugins) {
		z.Refusef(at, "has a field with a wrong spelling; give %s", plural)
		return
	}
	for i := range in.ForwardPlugins {
		plugin, here := &in.ForwardPlugins[i], at.Key(spelled).Index(i)
		plugin.Domain = z.take(here.Key("domain"), plugin.Domain)
		nameservers, ok := Spelling(z.Review, here, written[i], "nameservers", "nameServers")
		if ok {
			checkNameservers(z.Review, here.Key(nameservers), plugin.Nameservers)
		}
		checkPolicy(z.Review, here.Key("policy"), plugin.Policy)
	}
}

// servers checks the forwards in OpenShift's form of today.
func (z *zones) servers(in []intent.DNSServer) {
	const at = review.Spec + "/servers"
	for i := range in {
		server, here := &in[i], at.Index(i)
		switch {
		case !review.IsDNSLabel(server.Name):
			z.Refusef(here.Key("name"), "%s is not a name of a server; use at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit", review.Quote(server.Name))
		case slices.ContainsFunc(in[:i], func(other intent.DNSServer) bool { return other.Name == server.Name }):
			z.Refusef(here.Key("name"), "%s is given twice; give each server its own name", review.Quote(server.Name))
		}
		if len(server.Zones) == 0 {
			z.Refusef(here.Key("zones"), "is empty; give at least one, such as corp.example")
		}
		for j, zone := range server.Zones {
			server.Zones[j] = z.take(here.Key("zones").Index(j), zone)
		}
		forward := here.Key("forwardPlugin")
		checkNameservers(z.Review, forward.Key("upstreams"), server.ForwardPlugin.Upstreams)
		checkPolicy(z.Review, forward.Key("policy"), server.ForwardPlugin.Policy)
		checkTransport(z.Review, forward.Key("transportConfig"), server.ForwardPlugin.TransportConfig)
		checkProtocol(z.Review, forward.Key("protocolStrategy"), server.ForwardPlugin.ProtocolStrategy)
	}
}

// take checks a zone and answers its canonical name.
func (z *zones) take(at review.Pointer, text string) string {
	name, err := hostname.Zone(text)
	if err != nil {
		z.Refusef(at, "%s %s", review.Quote(text), err)
		return text
	}
	if name == identityZone || strings.HasSuffix(identityZone, "."+name) {
		z.Refusef(at, "%s holds %s, which shows which pod answers; give another zone", review.Quote(text), identityZone)
		return name
	}
	if z.walked && withinZone(name, autopath.Zone) {
		z.Refusef(at, "%s lies in %s, the zone of autopath's search domains; give another zone, or remove autopath", review.Quote(text), autopath.Zone)
		return name
	}
	for _, domain := range z.domains {
		if domain.name == name {
			z.Refusef(at, "%s is %s, where the cluster answers for its Services; give another zone", review.Quote(text), domain.whose)
			return name
		}
		if strings.HasSuffix(domain.name, "."+name) {
			z.Refusef(at, "%s contains %s, %s, where the cluster answers for its Services; give a zone outside of it", review.Quote(text), domain.name, domain.whose)
			return name
		}
		if z.toNodes && strings.HasSuffix(name, "."+domain.name) {
			z.Refusef(at, "%s lies in %s, %s, so its nameservers could choose the entries that nodeResolver writes to each node's /etc/hosts; give a zone outside of it, or remove nodeResolver", review.Quote(text), domain.name, domain.whose)
			return name
		}
	}
	if z.reverse(at, name) {
		return name
	}
	if first, twice := z.first[name]; twice {
		z.Refusef(at, "%s is the same zone as %s; merge their nameservers, or remove one of them", review.Quote(text), first)
		return name
	}
	z.first[name] = at
	if len(z.first) == mostZones+1 {
		z.Refusef(at, "is one zone too many: an intent has at most %d; remove some", mostZones)
	}
	return name
}

// reverse refuses a zone that is known to hold the names of a cluster's own addresses.
func (z *zones) reverse(at review.Pointer, zone string) (refused bool) {
	if zone == "arpa" {
		z.Refusef(at, "%s holds the names of all addresses, and clusters answer for their Services and pods themselves; give the zones of your own networks", review.Quote(zone))
		return true
	}
	for _, address := range slices.SortedFunc(maps.Keys(z.own), netip.Addr.Compare) {
		for _, network := range hostname.ReverseNetworks(zone) {
			if network.Contains(address.Unmap()) {
				z.Refusef(at, "%s holds the names of Services of cluster %s, whose dns.address is %s: their PTR records would no longer be answered; give zones outside those networks, such as that of a /16 or /24", review.Quote(zone), z.own[address], address)
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

// Spelling is the one of a field's two names that an object uses; false when
// it uses both, which is refused.
func Spelling[Value any](r *review.Review, at review.Pointer, object map[string]Value, usual, other string) (string, bool) {
	_, hasUsual := object[usual]
	_, hasOther := object[other]
	switch {
	case hasUsual && hasOther:
		r.Refusef(at.Key(other), "is also given as %s; give one of them", usual)
		return "", false
	case hasOther:
		return other, true
	}
	return usual, true
}
