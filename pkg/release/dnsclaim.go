package release

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/ledger"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
)

// dnsClaim says which logical cloud has its DNS in a place of a cluster. Plans
// look at all releases for that; of two that are accepted at once, which do not
// see each other, the claim lets one through.
type dnsClaim struct {
	Cloud  intent.Path `json:"cloud"`
	Intent string      `json:"intent"`
	Over   int64       `json:"over"`  // revision of the lifecycle that a release with DNS there was last to follow
	Since  time.Time   `json:"since"` // UTC, when it was to
}

const dnsClaims = "/signpost/cluster-dns/"

// dnsPlace is what two DNS of a cluster cannot both have: a namespace, where
// their objects would have the same names, or an address on the nodes, where each
// of their caches would get some of the other one's queries.
type dnsPlace struct {
	cluster string
	name    string // a namespace, or an IP address, which no namespace is called
	address bool
}

// dnsPlaces are those that a DNS takes.
func dnsPlaces(dns plan.ClusterDNS) []dnsPlace {
	places := []dnsPlace{{cluster: dns.Cluster, name: dns.Spec.Namespace}}
	if clusterdns.HasNodeCache(dns) {
		places = append(places, dnsPlace{cluster: dns.Cluster, name: clusterdns.LocalIP(dns), address: true})
	}
	return places
}

// claimDNS claims where the DNS of a proposal is to be.
func (s *Service) claimDNS(ctx context.Context, p *proposal) error {
	for _, dns := range p.draft.group.AllDNS() {
		for _, place := range dnsPlaces(dns) {
			if err := s.claimPlace(ctx, p, dns, place); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) claimPlace(ctx context.Context, p *proposal, dns plan.ClusterDNS, place dnsPlace) error {
	d, now := p.draft, s.Now().UTC()
	key := dnsClaims + url.PathEscape(place.cluster) + "/" + url.PathEscape(place.name)
	held, err := claim(ctx, s.KV, key, dnsClaim{d.group.Path, dns.Intent, p.lifecycle.revision, now}, func(held dnsClaim) (bool, error) {
		return s.anothersDNS(ctx, held, d.group.Path, place, now)
	})
	if err != nil || held.Cloud == d.group.Path {
		return err
	}
	d.failDNS(ctx, dns, place, held.Cloud, held.Intent)
	return &intent.Error{Code: intent.Conflict, Detail: "another release has just taken a place for the DNS of " + string(d.group.Path) + "; nothing was changed", Fields: d.errors}
}

// anothersDNS says whether a claim is another logical cloud's that has its DNS
// there, or is about to: whose lifecycle has changed since has been accepted, or
// tries again.
func (s *Service) anothersDNS(ctx context.Context, held dnsClaim, cloud intent.Path, place dnsPlace, now time.Time) (bool, error) {
	if held.Cloud == cloud {
		return false, nil
	}
	l, err := s.storedLifecycle(ctx, held.Cloud)
	if err != nil || l.revision == held.Over && now.Sub(held.Since) < claimHolds {
		return err == nil, err
	}
	kept, err := s.keptDNS(ctx, l)
	_, taken := takes(kept, place)
	return taken, err
}

// takes finds the DNS that takes a place.
func takes(all []plan.ClusterDNS, place dnsPlace) (dns plan.ClusterDNS, ok bool) {
	at := slices.IndexFunc(all, func(dns plan.ClusterDNS) bool { return slices.Contains(dnsPlaces(dns), place) })
	if at < 0 {
		return plan.ClusterDNS{}, false
	}
	return all[at], true
}

// checkOthersDNS refuses clusters on which another logical cloud keeps its DNS
// in the same place.
func (s *Service) checkOthersDNS(ctx context.Context, d *draft) error {
	if len(d.group.DNS) == 0 {
		return nil
	}
	return s.eachLifecycle(ctx, "", func(cloud intent.Path, l Lifecycle) error {
		if !IsCloud(cloud) || cloud == d.group.Path {
			return nil
		}
		kept, err := s.keptDNS(ctx, l)
		if err == nil {
			d.refusePlaces(ctx, cloud, kept)
		}
		return err
	})
}

// keptDNS is the DNS that a logical cloud is to have, first, and what of its
// earlier releases may still be in a cluster.
func (s *Service) keptDNS(ctx context.Context, l Lifecycle) ([]plan.ClusterDNS, error) {
	if l.Seq == 0 || !l.deployed() && l.Settled {
		return nil, nil
	}
	current, err := s.loadRelease(ctx, l.ContextID)
	if err != nil {
		return nil, err
	}
	kept := current.Group.AllDNS()
	history := l.History
	if l.Settled && len(l.Vacating) == 0 { // only what the last change took away can be there
		history = history[max(len(history)-1, 0):]
	}
	for _, past := range slices.Backward(history) {
		release, err := s.loadRelease(ctx, past.ContextID)
		if err != nil && intent.CodeOf(err) != intent.NotFound {
			return nil, err
		}
		for _, dns := range release.Group.AllDNS() {
			if !l.Settled || slices.Contains(l.Vacating, dns.Cluster) {
				kept = append(kept, dns)
				continue
			}
			if there, err := s.leftDNS(ctx, current.Group, dns); err != nil {
				return nil, err
			} else if there {
				kept = append(kept, dns)
			}
		}
	}
	return kept, nil
}

// leftDNS says whether a cluster still holds the service of a DNS of an earlier
// release of a logical cloud, whose place is another one now.
func (s *Service) leftDNS(ctx context.Context, g plan.Group, dns plan.ClusterDNS) (bool, error) {
	if slices.ContainsFunc(g.AllDNS(), func(now plan.ClusterDNS) bool { return sameService(now, dns) }) {
		return false, nil
	}
	entries, _, err := s.Ledger.Cluster(ctx, dns.Cluster)
	return slices.ContainsFunc(entries, func(e ledger.Entry) bool {
		ours := len(e.Owners) == 0 || slices.Contains(e.Owners, string(g.Path))
		return ours && e.ID.Kind == "Service" && e.ID.Namespace == dns.Spec.Namespace && e.ID.Name == clusterdns.ServiceName
	}), err
}

// refusePlaces notes which places another logical cloud has already.
func (d *draft) refusePlaces(ctx context.Context, cloud intent.Path, kept []plan.ClusterDNS) {
	for _, ours := range d.group.DNS {
		for _, place := range dnsPlaces(ours) {
			if theirs, taken := takes(kept, place); taken {
				d.failDNS(ctx, ours, place, cloud, theirs.Intent)
			}
		}
	}
}

// failDNS names the other intent to those who may know of it.
func (d *draft) failDNS(ctx context.Context, ours plan.ClusterDNS, place dnsPlace, cloud intent.Path, other string) {
	theirs := "another project's"
	if intent.By(ctx).Sees(cloud.Segment("projects")) {
		theirs = fmt.Sprintf("%q, of %s,", other, cloud)
	}
	path := d.group.Path.Child("dns-cr-intents", ours.Intent)
	if place.address {
		d.fail(path, "/spec/nodeLocalDNS/localIP",
			"DNS CR intents %q and %s both have caches on the nodes of cluster %s at %s; give one of them another localIP, or narrow it by clusters",
			ours.Intent, theirs, place.cluster, place.name)
		return
	}
	d.fail(path, "/spec/namespace",
		"DNS CR intents %q and %s both have DNS on cluster %s in namespace %q; give one of them another namespace, or narrow it by clusters",
		ours.Intent, theirs, place.cluster, place.name)
}
