package release

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// dnsClaim says which logical cloud has its DNS in a namespace of a cluster,
// where the objects of two would have the same names. Plans look at all
// releases for that; of two that are accepted at once, which do not see each
// other, the claim lets one through.
type dnsClaim struct {
	Cloud  intent.Path `json:"cloud"`
	Intent string      `json:"intent"`
	Over   int64       `json:"over"`  // revision of the lifecycle that a release with DNS there was last to follow
	Since  time.Time   `json:"since"` // UTC, when it was to
}

const dnsClaims = "/signpost/cluster-dns/"

// claimDNS claims where the DNS of a proposal is to be.
func (s *Service) claimDNS(ctx context.Context, p *proposal) error {
	d := p.draft
	for _, dns := range d.group.DNS {
		now := s.Now().UTC()
		key := dnsClaims + url.PathEscape(dns.Cluster) + "/" + url.PathEscape(dns.Spec.Namespace)
		held, err := claim(ctx, s, key, dnsClaim{d.group.Path, dns.Intent, p.lifecycle.revision, now}, func(held dnsClaim) (bool, error) {
			return s.anothersDNS(ctx, held, d.group.Path, dns, now)
		})
		if err != nil {
			return err
		}
		if held.Cloud != d.group.Path {
			d.failDNS(dns, held.Cloud, held.Intent)
			return &intent.Error{Code: intent.Conflict, Detail: "another release has just taken a namespace for the DNS of " + string(d.group.Path) + "; nothing was changed", Fields: d.errors}
		}
	}
	return nil
}

// anothersDNS says whether a claim is another logical cloud's that has its DNS
// there, or is about to: whose lifecycle has changed since has been accepted, or
// tries again.
func (s *Service) anothersDNS(ctx context.Context, held dnsClaim, cloud intent.Path, dns plan.ClusterDNS, now time.Time) (bool, error) {
	if held.Cloud == cloud {
		return false, nil
	}
	l, err := s.storedLifecycle(ctx, held.Cloud)
	if err != nil || l.revision == held.Over && now.Sub(held.Since) < claimHolds {
		return err == nil, err
	}
	kept, err := s.keptDNS(ctx, l)
	return slices.ContainsFunc(kept, func(theirs plan.ClusterDNS) bool { return samePlace(theirs, dns) }), err
}

// checkOthersDNS refuses clusters on which another logical cloud keeps its DNS
// in the same namespace.
func (s *Service) checkOthersDNS(ctx context.Context, d *draft) error {
	if len(d.group.DNS) == 0 {
		return nil
	}
	page, err := s.Documents.List(ctx, intent.ListOptions{Collection: intent.LifecycleCollection})
	if err != nil {
		return err
	}
	for _, doc := range page.Items {
		cloud := ownerOf(doc.Path)
		if !IsCloud(cloud) || cloud == d.group.Path {
			continue
		}
		l, err := s.storedLifecycle(ctx, cloud)
		if err != nil {
			return err
		}
		kept, err := s.keptDNS(ctx, l)
		if err != nil {
			return err
		}
		for _, ours := range d.group.DNS {
			at := slices.IndexFunc(kept, func(theirs plan.ClusterDNS) bool { return samePlace(theirs, ours) })
			if at >= 0 {
				d.failDNS(ours, cloud, kept[at].Intent)
			}
		}
	}
	return nil
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
	kept := current.Group.DNS
	if l.Settled && len(l.Vacating) == 0 {
		return kept, nil
	}
	for _, past := range slices.Backward(l.History) {
		release, err := s.loadRelease(ctx, past.ContextID)
		if err != nil && intent.CodeOf(err) != intent.NotFound {
			return nil, err
		}
		for _, dns := range release.Group.DNS {
			if !l.Settled || slices.Contains(l.Vacating, dns.Cluster) {
				kept = append(kept, dns)
			}
		}
	}
	return kept, nil
}

func samePlace(a, b plan.ClusterDNS) bool {
	return a.Cluster == b.Cluster && a.Spec.Namespace == b.Spec.Namespace
}

// failDNS names the other intent to those of its own project alone.
func (d *draft) failDNS(ours plan.ClusterDNS, cloud intent.Path, other string) {
	theirs := "another project's"
	if cloud.Segment("projects") == d.group.Path.Segment("projects") {
		theirs = fmt.Sprintf("%q, of %s,", other, cloud)
	}
	d.fail(d.group.Path.Child("dns-cr-intents", ours.Intent), "/spec/namespace",
		"DNS CR intents %q and %s both have DNS on cluster %s in namespace %q; give one of them another namespace, or narrow it by clusters",
		ours.Intent, theirs, ours.Cluster, ours.Spec.Namespace)
}
