package imports

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/zone"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// annotations is how the annotations of external-dns begin.
const annotations = "external-dns.alpha.kubernetes.io/"

// published is what an external-dns publishes of an object for each of its host names.
type published struct {
	object  object
	what    string   // as in "Ingress web/shop"
	hosts   []string // as they are written
	targets []string // addresses and host names, sorted
	service string   // "namespace/name" of the Service behind it; empty: there is none
}

// cluster makes names of the objects of a cluster.
type cluster struct {
	Objects
	result  Result
	known   map[string]bool     // the Services of the cluster: by "namespace/name"
	offers  map[string][]string // what Signpost finds for a Service: by its "namespace/name"
	sources map[string]string   // the object that gives a name
}

// FromCluster makes names of the host names that an external-dns takes from the objects of a cluster.
func FromCluster(source string, objects Objects) Result {
	c := &cluster{Objects: objects, result: Result{Source: source}, known: map[string]bool{}, offers: map[string][]string{}, sources: map[string]string{}}
	var all []published
	for _, o := range objects.services {
		all = append(all, c.ofService(o))
	}
	for _, o := range objects.ingresses {
		all = append(all, c.ofIngress(o)...)
	}
	for _, o := range objects.routes {
		all = append(all, c.ofRoute(o))
	}
	c.lookUp()
	for _, p := range all {
		c.take(p)
	}
	for _, o := range objects.dnsObjects {
		c.takeEndpoints(o)
	}
	c.result.finish()
	return c.result
}

// lookUp notes the Services, and the targets that Signpost finds for them. These are in the
// status of the Service and of the objects that lead to it. Annotations do not change them.
func (c *cluster) lookUp() {
	add := func(namespace, service string, targets []string) {
		if key := namespace + "/" + service; service != "" {
			c.offers[key] = sorted(append(c.offers[key], targets...))
		}
	}
	for _, o := range c.services {
		c.known[o.key()] = true
		add(o.Metadata.Namespace, o.Metadata.Name, append(o.balanced(), o.Spec.ExternalIPs...))
	}
	for _, o := range c.ingresses {
		if o.Spec.DefaultBackend != nil {
			add(o.Metadata.Namespace, o.Spec.DefaultBackend.Service.Name, o.balanced())
		}
		for _, rule := range o.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				add(o.Metadata.Namespace, path.Backend.Service.Name, o.balanced())
			}
		}
	}
	for _, o := range c.routes {
		for _, service := range o.leadsTo() {
			add(o.Metadata.Namespace, service, c.addressesOf(o, false))
		}
	}
}

// leadsTo are the Services of its own namespace that an HTTPRoute leads to.
func (o object) leadsTo() []string {
	var services []string
	for _, rule := range o.Spec.Rules {
		for _, to := range rule.BackendRefs {
			if (to.Kind == "" || to.Kind == "Service") && (to.Namespace == "" || to.Namespace == o.Metadata.Namespace) {
				services = append(services, to.Name)
			}
		}
	}
	return services
}

// addressesOf are the addresses of the Gateways of an HTTPRoute. With annotated, the annotation target of a Gateway replaces them.
func (c *cluster) addressesOf(route object, annotated bool) []string {
	var targets []string
	for _, parent := range route.Spec.ParentRefs {
		for _, gateway := range c.gateways {
			if gateway.key() != cmp.Or(parent.Namespace, route.Metadata.Namespace)+"/"+parent.Name {
				continue
			}
			if given := gateway.lists("target"); annotated && len(given) > 0 {
				targets = append(targets, given...)
				continue
			}
			for _, at := range gateway.Status.Addresses {
				targets = append(targets, at.Value)
			}
		}
	}
	return sorted(targets)
}

func (c *cluster) ofService(o object) published {
	p := published{object: o, what: "Service " + o.key(), hosts: o.lists("hostname"), service: o.key()}
	switch {
	case len(o.lists("target")) > 0:
		p.targets = sorted(o.lists("target"))
	case o.Spec.Type == "ExternalName":
		p.targets, p.service = []string{o.Spec.ExternalName}, ""
	case len(o.Spec.ExternalIPs) > 0: // external-dns prefers them
		p.targets = sorted(slices.Clone(o.Spec.ExternalIPs))
	default:
		p.targets = sorted(o.balanced())
	}
	return p
}

// ofIngress has one entry for each Service that the hosts of an Ingress lead to.
func (c *cluster) ofIngress(o object) (all []published) {
	targets := sorted(o.balanced())
	if given := o.lists("target"); len(given) > 0 {
		targets = sorted(given)
	}
	usual, hosts := "", map[string]string{}
	if o.Spec.DefaultBackend != nil {
		usual = o.Spec.DefaultBackend.Service.Name
	}
	var order []string
	note := func(host, service string) {
		if _, known := hosts[host]; !known && host != "" {
			order = append(order, host)
			hosts[host] = service
		}
	}
	for _, rule := range o.Spec.Rules {
		service := usual
		if len(rule.HTTP.Paths) > 0 {
			service = rule.HTTP.Paths[0].Backend.Service.Name
		}
		usual = cmp.Or(usual, service)
		note(rule.Host, service)
	}
	for _, tls := range o.Spec.TLS {
		for _, host := range tls.Hosts {
			note(host, usual)
		}
	}
	for _, host := range o.lists("hostname") {
		note(host, usual)
	}
	for _, host := range order {
		p := published{object: o, what: "Ingress " + o.key(), hosts: []string{host}, targets: targets}
		if hosts[host] != "" {
			p.service = o.Metadata.Namespace + "/" + hosts[host]
		}
		all = append(all, p)
	}
	return all
}

// ofRoute is an HTTPRoute with the addresses of its Gateways.
func (c *cluster) ofRoute(o object) published {
	p := published{object: o, what: "HTTPRoute " + o.key(), hosts: append(slices.Clone(o.Spec.Hostnames), o.lists("hostname")...)}
	if len(p.hosts) == 0 {
		c.result.leave(p.what, "", "has no host names of its own; external-dns takes those of the listeners of its Gateway: publish them by documents of your own")
	}
	p.targets = c.addressesOf(o, true)
	if services := o.leadsTo(); len(services) > 0 {
		p.service = o.Metadata.Namespace + "/" + services[0]
	}
	return p
}

// take makes names of what an object publishes.
func (c *cluster) take(p published) {
	if len(p.hosts) == 0 {
		return
	}
	if other := p.object.Metadata.Annotations[annotations+"controller"]; other != "" && other != "dns-controller" {
		c.result.leave(p.what, "", "has the annotation controller=%s, so external-dns passes it by", other)
		return
	}
	if why := unlike(p.object); why != "" {
		c.result.leave(p.what, "", "has the annotation %s; publish its host names by documents of your own", why)
		return
	}
	for _, written := range p.hosts {
		host, err := hostname.Canonical(written)
		switch {
		case err != nil:
			c.result.leave(p.what, "", "has the host name %q, which %s", written, err)
		case c.sources[host] != "" && c.sources[host] != p.what:
			c.result.leave(p.what, "", "has the host name %s, which %s has, too; a name has one source", host, c.sources[host])
		case c.sources[host] == "":
			c.give(host, p)
		}
	}
}

// unlike is an annotation whose meaning a name does not have; empty: there is none.
func unlike(o object) string {
	for _, annotation := range []string{"set-identifier", "aws-weight", "aws-region", "aws-failover", "aws-geolocation-country-code", "aws-geolocation-continent-code", "aws-multi-value-answer", "alias", "cloudflare-proxied"} {
		if value := o.Metadata.Annotations[annotations+annotation]; value != "" {
			return annotation + "=" + value
		}
	}
	return ""
}

// give makes the name of a host.
func (c *cluster) give(host string, p published) {
	name := Name{Host: host, Spec: intent.Name{TTL: c.ttl(p)}}
	switch {
	case c.known[p.service] && slices.Equal(c.offers[p.service], p.targets):
		if len(p.targets) == 0 {
			c.result.change(host, "", "%s has no address of a load balancer; the plan shows the addresses that Service %s gives", p.what, p.service)
		}
		name.Spec.Service, name.Spec.Clusters = p.service, &intent.ClusterChoice{Names: []string{c.Cluster}}
	case !fix(&name.Spec, p.targets):
		c.result.leave(host, "", "%s has %s, and a name has one host name or at most %d addresses; publish it by a document of your own", p.what, words(p.targets), mostAddresses)
		return
	default:
		c.result.change(host, "", "the name gets the targets of now, %s: it does not follow %s, because Signpost finds others for its Service", words(p.targets), p.what)
	}
	c.sources[host] = p.what
	c.result.Names = append(c.result.Names, name)
}

func words(targets []string) string {
	if len(targets) == 0 {
		return "no address"
	}
	return strings.Join(targets, ", ")
}

// fix gives a name fixed targets: addresses, or one host name.
func fix(spec *intent.Name, targets []string) bool {
	for _, target := range targets {
		if ip, err := netip.ParseAddr(target); err == nil {
			spec.Addresses = append(spec.Addresses, ip.Unmap().String())
			continue
		}
		host, err := hostname.Canonical(target)
		if err != nil || len(targets) > 1 {
			return false
		}
		spec.CNAME = host
	}
	return len(targets) > 0 && len(targets) <= mostAddresses
}

// ttl reads the annotation ttl: seconds, or a duration.
func (c *cluster) ttl(p published) int64 {
	text := p.object.Metadata.Annotations[annotations+"ttl"]
	if text == "" {
		return 0
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if d, failed := time.ParseDuration(text); err != nil && failed == nil {
		seconds, err = int64(d.Seconds()), nil
	}
	if err != nil || seconds < 1 || seconds > longestTTL {
		c.result.change(p.what, "", "has the TTL %q, which external-dns passes by; the name gets the default", text)
		return 0
	}
	return seconds
}

// takeEndpoints makes names of a DNSEndpoint, as of the records of a zone.
func (c *cluster) takeEndpoints(o object) {
	what := "DNSEndpoint " + o.key()
	if o.Metadata.Labels[bundle.LabelManagedBy] == bundle.ManagedBy {
		c.result.leave(what, "", "Signpost itself has made it; export the documents of its names from that server")
		return
	}
	var records zone.Zone
	for _, e := range o.Spec.Endpoints {
		host := strings.ToLower(strings.TrimSuffix(e.DNSName, "."))
		switch {
		case e.SetIdentifier != "" || len(e.ProviderSpecific) > 0:
			c.result.leave(host, e.RecordType, "%s gives it with properties of its DNS provider, such as weights; publish it by a document of your own", what)
			continue
		case c.sources[host] != "" && c.sources[host] != what:
			c.result.leave(host, e.RecordType, "%s gives it, and %s, too; a name has one source", what, c.sources[host])
			continue
		}
		c.sources[host] = what
		ttl := cmp.Or(e.RecordTTL, noTTL)
		for _, target := range e.Targets {
			if e.RecordType == "TXT" {
				target = strconv.Quote(strings.Trim(target, `"`))
			}
			records.Records = append(records.Records, zone.Record{Name: host, Type: e.RecordType, TTL: ttl, Value: target})
		}
	}
	found := FromZone(what, records)
	c.result.Findings = append(c.result.Findings, found.Findings...)
	c.result.Names = append(c.result.Names, found.Names...)
}

func sorted(targets []string) []string {
	slices.Sort(targets)
	return slices.Compact(targets)
}
