package tenancy

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
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

// ClaimDNS claims where the DNS of a proposal is to be.
func (s *Keeper) ClaimDNS(ctx context.Context, p *resolve.Proposal) error {
	for _, dns := range p.Draft.Group.AllDNS() {
		for _, place := range resolve.DNSPlaces(dns) {
			if err := s.claimPlace(ctx, p, dns, place); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Keeper) claimPlace(ctx context.Context, p *resolve.Proposal, dns plan.ClusterDNS, place resolve.DNSPlace) error {
	d, now := p.Draft, s.Now().UTC()
	key := dnsClaims + url.PathEscape(place.Cluster) + "/" + url.PathEscape(place.Name)
	held, err := claimKey(ctx, s.KV, key, dnsClaim{d.Group.Path, dns.Intent, p.Lifecycle.Revision, now}, func(held dnsClaim) (bool, error) {
		return s.anothersDNS(ctx, held, d.Group.Path, place, now)
	})
	if err != nil || held.Cloud == d.Group.Path {
		return err
	}
	failDNS(ctx, d, dns, place, held.Cloud, held.Intent)
	return &intent.Error{Code: intent.Conflict, Detail: "another release has just taken a place for the DNS of " + string(d.Group.Path) + "; nothing was changed", Fields: d.Errors}
}

// anothersDNS says whether a claim is another logical cloud's that has its DNS there, or
// is about to. If the lifecycle has changed since, it was accepted, or tries again.
func (s *Keeper) anothersDNS(ctx context.Context, held dnsClaim, cloud intent.Path, place resolve.DNSPlace, now time.Time) (bool, error) {
	if held.Cloud == cloud {
		return false, nil
	}
	l, err := s.StoredLifecycle(ctx, held.Cloud)
	if err != nil || l.Revision == held.Over && now.Sub(held.Since) < claimHolds {
		return err == nil, err
	}
	kept, err := s.keptDNS(ctx, l)
	_, taken := resolve.Takes(kept, place)
	return taken, err
}

// checkOthersDNS refuses clusters on which another logical cloud keeps its DNS
// in the same place.
func (s *Keeper) checkOthersDNS(ctx context.Context, d *resolve.Draft) error {
	if len(d.Group.DNS) == 0 {
		return nil
	}
	return s.EachLifecycle(ctx, "", func(cloud intent.Path, l state.Lifecycle) error {
		if !state.IsCloud(cloud) || cloud == d.Group.Path {
			return nil
		}
		kept, err := s.keptDNS(ctx, l)
		if err == nil {
			refusePlaces(ctx, d, cloud, kept)
		}
		return err
	})
}

// keptDNS is the DNS that a logical cloud is to have, first, and what of its
// earlier releases may still be in a cluster.
func (s *Keeper) keptDNS(ctx context.Context, l state.Lifecycle) ([]plan.ClusterDNS, error) {
	if l.Seq == 0 || !l.Deployed() && l.Settled {
		return nil, nil
	}
	current, err := s.LoadRelease(ctx, l.ContextID)
	if err != nil {
		return nil, err
	}
	kept := current.Group.AllDNS()
	history := l.History
	if l.Settled && len(l.RemovedClusters) == 0 { // only what the last change took away can be there
		history = history[max(len(history)-1, 0):]
	}
	for _, past := range slices.Backward(history) {
		release, err := s.LoadRelease(ctx, past.ContextID)
		if err != nil && intent.CodeOf(err) != intent.NotFound {
			return nil, err
		}
		for _, dns := range release.Group.AllDNS() {
			if !l.Settled || slices.Contains(l.RemovedClusters, dns.Cluster) {
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

// leftDNS says whether a cluster still holds the service of an earlier DNS of a logical
// cloud, which has another place now.
func (s *Keeper) leftDNS(ctx context.Context, g plan.Group, dns plan.ClusterDNS) (bool, error) {
	if slices.ContainsFunc(g.AllDNS(), func(now plan.ClusterDNS) bool { return resolve.SameService(now, dns) }) {
		return false, nil
	}
	service := bundle.ID{Cluster: dns.Cluster, Kind: "Service", Namespace: dns.Spec.Namespace, Name: clusterdns.ServiceName}
	entries, err := s.Ledger.Entries(ctx, dns.Cluster, []bundle.ID{service})
	return slices.ContainsFunc(entries, func(e ledger.Entry) bool {
		return len(e.Owners) == 0 || slices.Contains(e.Owners, string(g.Path))
	}), err
}

// refusePlaces notes which places another logical cloud has already.
func refusePlaces(ctx context.Context, d *resolve.Draft, cloud intent.Path, kept []plan.ClusterDNS) {
	for _, ours := range d.Group.DNS {
		for _, place := range resolve.DNSPlaces(ours) {
			if theirs, taken := resolve.Takes(kept, place); taken {
				failDNS(ctx, d, ours, place, cloud, theirs.Intent)
			}
		}
	}
}

// failDNS names the other intent to those who may know of it.
func failDNS(ctx context.Context, d *resolve.Draft, ours plan.ClusterDNS, place resolve.DNSPlace, cloud intent.Path, other string) {
	theirs := "another project's"
	if intent.By(ctx).Sees(cloud.Segment("projects")) {
		theirs = fmt.Sprintf("%q, of %s,", other, cloud)
	}
	path := d.Group.Path.Child("dns-cr-intents", ours.Intent)
	if place.Address {
		d.Fail(path, "/spec/nodeLocalDNS/localIP",
			"DNS CR intents %q and %s both have caches on the nodes of cluster %s at %s; give one of them another localIP, or exclude the cluster with clusters",
			ours.Intent, theirs, place.Cluster, place.Name)
		return
	}
	d.Fail(path, "/spec/namespace",
		"DNS CR intents %q and %s both have DNS on cluster %s in namespace %q; give one of them another namespace, or exclude the cluster with clusters",
		ours.Intent, theirs, place.Cluster, place.Name)
}
