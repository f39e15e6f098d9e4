package render

import (
	"context"
	"fmt"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// DNSReport is how the DNS of one cluster is placed.
type DNSReport struct {
	plan.ClusterDNS

	Judged  bool                 // nodes can be, and have to be, looked at
	Asked   placement.Placement  // by the intent
	Verdict *placement.Verdict   // of the nodes, on Asked; nil: not known yet
	InUse   *placement.Placement // what its pods get: Asked, or the one before while Asked leaves no node; nil: there are none
	Remains *placement.Verdict   // of the nodes, on InUse
	Pods    *observed.DaemonSet  // nil where they cannot be observed
	Caches  *observed.DaemonSet  // the caches on the nodes; nil where there are none, and where they cannot be observed
	Former  bool                 // another one replaces it, and pods may still ask it
	Address string               // of the DNS Service inside its cluster; empty while it is not known
}

// Dedicated says that the intent asks for DNS pods.
func (r DNSReport) Dedicated() bool { return r.Spec.Mode != intent.Import }

// Refused says that the placement that was asked for leaves no node.
func (r DNSReport) Refused() bool { return r.Judged && r.Verdict != nil && r.Verdict.Suitable == 0 }

// Current says that the placement that was asked for is the one in use.
func (r DNSReport) Current() bool { return r.InUse != nil && r.InUse.Key() == r.Asked.Key() }

// Message says what keeps the DNS from being placed as asked for, and what
// becomes of it; empty when nothing does.
func (r DNSReport) Message() string {
	stays := "no DNS is deployed"
	if r.InUse != nil {
		stays = "the previous one stays"
	}
	switch {
	case r.Former:
		return fmt.Sprintf("another DNS service replaces that of namespace %q, which stays for running pods: they ask the address that they started with. An update that changes nothing else, confirmed by its plan's token, removes it", r.Spec.Namespace)
	case !r.Judged && r.Dedicated():
		return "the placement cannot be checked in a directory: it is applied as it is"
	case r.Judged && r.Verdict == nil && r.Current():
		return "the nodes are not known"
	case r.Judged && r.Verdict == nil:
		return "the nodes are not known yet: until then the placement is not applied, and " + stays
	case r.Refused() && r.Current():
		return "the last suitable node is gone: " + r.Verdict.String()
	case r.Refused() && r.Remains != nil && r.Remains.Suitable == 0:
		return fmt.Sprintf("the placement leaves no node (%s), so %s, which leaves none either now: %s", r.Verdict, stays, r.Remains)
	case r.Refused():
		return fmt.Sprintf("the placement leaves no node, so %s: %s", stays, r.Verdict)
	}
	return ""
}

// fillDNS renders the DNS of each cluster of a logical cloud. A placement that leaves no
// node, or whose nodes are not known yet, is not applied. The one in use stays, and if
// there is none, nothing is made.
func (c *Contents) fillDNS(ctx context.Context, g plan.Group, before bundle.Bundle, look Sources) error {
	for n, dns := range g.AllDNS() {
		report, err := c.placeDNS(ctx, g, dns, before, look)
		if err != nil {
			return err
		}
		if n >= len(g.DNS) {
			report = report.staying(before)
		}
		c.DNS = append(c.DNS, report)
		if report.InUse == nil {
			continue
		}
		objects, err := clusterdns.Render(g, dns, *report.InUse)
		if err != nil {
			return &intent.Error{Code: intent.Conflict, Detail: err.Error()}
		}
		if report.Former {
			objects = formerApp(objects, dns)
		}
		c.Objects = append(c.Objects, objects...)
	}
	return nil
}

// formerApp files the objects of a DNS that another one replaces in an app of their own.
// An app context tells objects of one app apart only by kind and name.
func formerApp(objects []bundle.Object, dns plan.ClusterDNS) []bundle.Object {
	for n := range objects {
		objects[n].App = clusterdns.App + "-" + plan.Hash(dns.Spec.Namespace)
	}
	return objects
}

// staying is the report of a DNS that another one replaces: its pods keep their place.
func (r DNSReport) staying(before bundle.Bundle) DNSReport {
	r.Former, r.Judged, r.InUse = true, false, &r.Asked
	if current, placed := clusterdns.Placed(before, r.ClusterDNS); placed {
		r.InUse = &current
	}
	return r
}

func (c *Contents) placeDNS(ctx context.Context, g plan.Group, dns plan.ClusterDNS, before bundle.Bundle, look Sources) (DNSReport, error) {
	r := DNSReport{ClusterDNS: dns, Asked: clusterdns.Placement(dns)}
	if resolve.Directory(g, dns.Cluster) || !r.Dedicated() {
		r.InUse = &r.Asked
		return r, nil
	}
	r.Judged = true
	c.watchService(dns.Cluster, dns.Spec.Namespace+"/"+clusterdns.ServiceName)
	c.placements[dns.Cluster] = append(c.placements[dns.Cluster], r.Asked)
	service, err := look.service(ctx, "", address.Service{Cluster: dns.Cluster, Namespace: dns.Spec.Namespace, Name: clusterdns.ServiceName})
	if err != nil {
		return r, err
	}
	if service != nil && len(service.ClusterIPs) > 0 {
		r.Address = service.ClusterIPs[0]
	}
	if r.Verdict, err = look.placement(ctx, dns.Cluster, r.Asked); err != nil {
		return r, err
	}
	if r.Verdict != nil && r.Verdict.Suitable > 0 {
		r.InUse, r.Remains = &r.Asked, r.Verdict
		return r, nil
	}
	current, placed := clusterdns.Placed(before, dns)
	if !placed {
		return r, nil
	}
	r.InUse = &current
	if current.Key() != r.Asked.Key() {
		c.placements[dns.Cluster] = append(c.placements[dns.Cluster], current)
	}
	r.Remains, err = look.placement(ctx, dns.Cluster, current)
	return r, err
}

// undecided says that it is not known yet whether a placement leaves a node, in
// a cluster of which that will be known.
func (s *Renderer) undecided(ctx context.Context, reports []DNSReport) (bool, error) {
	for _, r := range reports {
		if !r.Judged || r.Verdict != nil {
			continue
		}
		if abandoned, err := s.IsAbandoned(ctx, r.Cluster); !abandoned || err != nil {
			return true, err
		}
	}
	return false, nil
}
