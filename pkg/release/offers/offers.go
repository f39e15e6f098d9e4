// Package offers relates what logical clouds offer to pods, the autopath of
// their DNS, to the groups that rely on it.
package offers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// IsNoOffer tells references that stand for documents.
func IsNoOffer(path intent.Path) bool { return !state.IsOffer(path) }

// offers are what the DNS of a logical cloud offers to its pods, without ids.
func offers(g plan.Group) []state.Offer {
	var out []state.Offer
	for _, dns := range g.DNS {
		given, ok := clusterdns.Offer(dns)
		if !ok {
			continue
		}
		o := state.Offer{Cloud: g.Path, Cluster: dns.Cluster, Namespace: g.LogicalCloudNamespace, Domain: given.Domain, LocalIP: given.LocalIP}
		if o.LocalIP == "" {
			o.DNSNamespace = dns.Spec.Namespace
		}
		out = append(out, o)
	}
	return out
}

// withdrawal says why a logical cloud's DNS would no longer keep an offer, and
// of which document that is; empty when it does.
func withdrawal(g plan.Group, o state.Offer) (path intent.Path, pointer, why string) {
	dns, configured := resolve.DNSOn(g, o.Cluster)
	given, ok := clusterdns.Offer(dns)
	path = o.Cloud.Child("dns-cr-intents", dns.Intent)
	switch {
	case !configured:
		return o.Cloud, "/dns-cr-intents", "there would be no DNS"
	case !ok:
		return path, "/spec/autopath", "it would no longer be offered"
	case given.LocalIP == "" && o.LocalIP != "":
		return path, "/spec/nodeLocalDNS", "the nameserver would change, unless nodeLocalDNS keeps it: " + nodeCacheAt(o.LocalIP)
	case given.LocalIP != o.LocalIP:
		return path, "/spec/nodeLocalDNS/localIP", "the nameserver would change"
	case o.LocalIP == "" && dns.Spec.Namespace != o.DNSNamespace:
		return path, "/spec/namespace", "the nameserver would change"
	case given.Domain != o.Domain:
		return intent.ClusterPath(o.Cluster), "/spec/dns/domain", "the cluster's domain would change"
	case given.Static && o.Namespace != g.LogicalCloudNamespace && !slices.Contains(given.Namespaces, o.Namespace):
		return path, "/spec/autopath/namespaces", fmt.Sprintf("it would no longer serve namespace %q", o.Namespace)
	}
	return "", "", ""
}

// nodeCacheAt is what asks for a cache on each node with an address.
func nodeCacheAt(localIP string) string {
	if localIP == autopath.LocalIP {
		return "{enabled: true}"
	}
	return fmt.Sprintf("{enabled: true, localIP: %q}", localIP)
}

// Keeper makes offers known, and lets nobody withdraw one in use.
type Keeper struct{ *state.Store }

// CheckOffers refuses to take away what pods rely on, and warns of what they
// lose.
func (s *Keeper) CheckOffers(ctx context.Context, p *resolve.Proposal) error {
	next, drafted := p.Next()
	if !drafted || !state.IsCloud(p.Draft.In.Owner.Path) {
		return nil
	}
	before, err := s.released(ctx, p.Lifecycle)
	if err != nil {
		return err
	}
	for _, o := range p.Lifecycle.Offers {
		path, pointer, why := withdrawal(next, o)
		loses := losesNodePaths(before, next, o.Cluster)
		if why == "" && !loses {
			continue
		}
		users, suspended, err := s.relyingOn(ctx, o)
		if err != nil {
			return err
		}
		switch {
		case len(users) == 0:
		case why == "":
			p.Draft.Warn("pods of %s lose the search domains of their nodes on cluster %s; with autopath of mode %s they have only the cluster's own and searches; add the missing domains to searches", strings.Join(users, ", "), o.Cluster, intent.AutopathStatic)
		default:
			p.Draft.Fail(path, pointer, "pods of %s have %s on cluster %s, and %s; first give their pod DNS intents another dnsPolicy and update them, or terminate them%s",
				strings.Join(users, ", "), intent.DNSAutopath, o.Cluster, why, resuming(suspended))
		}
	}
	return nil
}

// released is what the current release of an owner holds: nothing without one.
func (s *Keeper) released(ctx context.Context, l state.Lifecycle) (plan.Group, error) {
	if !l.Deployed() || len(l.Offers) == 0 {
		return plan.Group{}, nil
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	return release.Group, err
}

// losesNodePaths tells whether the search paths of pods on a cluster go without
// those of their nodes, which the nodes' caches alone add.
func losesNodePaths(before, next plan.Group, cluster string) bool {
	was, _ := resolve.DNSOn(before, cluster)
	is, _ := resolve.DNSOn(next, cluster)
	return clusterdns.Expands(was) && !clusterdns.Expands(is)
}

// resuming follows what groups are to do: those that are suspended take no
// update in.
func resuming(suspended []string) string {
	if len(suspended) == 0 {
		return ""
	}
	return "; before that, set suspend of " + strings.Join(suspended, ", ") + " to false, because suspended updates are not applied"
}

// relyingOn are the groups whose pods rely on an offer, and which of them are
// suspended.
func (s *Keeper) relyingOn(ctx context.Context, o state.Offer) (users, suspended []string, err error) {
	groups := map[intent.Path]state.Lifecycle{}
	err = s.EachGroup(ctx, o.Path(), func(group intent.Path, l state.Lifecycle) { groups[group] = l })
	if intent.CodeOf(err) == intent.NotFound {
		return nil, nil, nil
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		users = append(users, string(group))
		rests, failure := s.Suspended(ctx, group, groups[group])
		if failure != nil {
			return nil, nil, failure
		}
		if rests {
			suspended = append(suspended, string(group))
		}
	}
	return users, suspended, err
}

// NextOffers brings the offers of a lifecycle to what the action makes of them.
// The caller swaps it next.
func (s *Keeper) NextOffers(ctx context.Context, l *state.Lifecycle, p *resolve.Proposal) error {
	next, _ := p.Next()
	switch {
	case state.IsCloud(p.Draft.In.Owner.Path):
		return s.offer(ctx, l, next)
	case p.Action == intent.Terminate:
		l.Rely(nil)
	default:
		l.Rely(p.Draft.Offers)
	}
	return nil
}

// offer writes the offers of a logical cloud, and deletes those that it withdraws. After
// a failure before the lifecycle is swapped, the next step restores the offers of the
// current release.
func (s *Keeper) offer(ctx context.Context, l *state.Lifecycle, g plan.Group) error {
	var next []state.Offer
	for _, o := range l.Offers {
		if _, _, why := withdrawal(g, o); why == "" {
			next = append(next, o)
			continue
		}
		err := s.Documents.Delete(ctx, o.Path(), intent.Always())
		switch intent.CodeOf(err) {
		case intent.Conflict:
			s.Wake(o.Cloud)
			return &intent.Error{Code: intent.PreconditionFailed, Detail: "pods have just started to rely on " + string(o.Path()), Err: err}
		case intent.NotFound:
		default:
			if err != nil {
				return err
			}
		}
	}
	for _, o := range offers(g) {
		if slices.ContainsFunc(next, func(kept state.Offer) bool { return kept.Cluster == o.Cluster && kept.Namespace == o.Namespace }) {
			continue
		}
		made, err := s.makeOffer(ctx, o)
		if err != nil {
			return err
		}
		next = append(next, made)
	}
	l.Offers = next
	return nil
}

// makeOffer stores an offer under a new id.
func (s *Keeper) makeOffer(ctx context.Context, o state.Offer) (state.Offer, error) {
	o.ID = appcontext.NewID()
	raw, err := json.Marshal(o)
	if err != nil {
		return o, err
	}
	_, err = s.Documents.Put(ctx, intent.Write{Path: o.Path(), Body: raw, Condition: intent.IfAbsent()})
	return o, err
}

// MendOffers makes anew what a logical cloud offers and what is not there: a
// request has died, or was refused, after it had deleted it.
func (s *Keeper) MendOffers(ctx context.Context, cloud intent.Path, l *state.Lifecycle) error {
	if !state.IsCloud(cloud) {
		return nil
	}
	l.Offers = slices.Clone(l.Offers)
	for n, o := range l.Offers {
		_, err := s.Documents.Get(ctx, o.Path())
		if intent.CodeOf(err) == intent.NotFound {
			l.Offers[n], err = s.makeOffer(ctx, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Withdrawn tells from other errors that of a swap to a release whose offers
// have been withdrawn meanwhile: it is made again.
func (s *Keeper) Withdrawn(p *resolve.Proposal, err error) error {
	if missing, ok := errors.AsType[*intent.MissingReference](err); !ok || !state.IsOffer(missing.To) {
		return err
	}
	s.Wake(p.Draft.In.CloudPath)
	return &intent.Error{Code: intent.PreconditionFailed, Detail: "the DNS that pods rely on has just been withdrawn", Err: err}
}

// SweepOffers removes the offers that no lifecycle names, as requests leave them
// that died, or lost their race, before they were accepted.
func (s *Keeper) SweepOffers(ctx context.Context, age time.Duration) error {
	return intent.Each(ctx, s.Documents, intent.ListOptions{Collection: intent.OfferCollection}, func(doc intent.Document) error {
		if s.Now().Sub(doc.CreatedAt) < age {
			return nil
		}
		var o state.Offer
		if err := json.Unmarshal(doc.Body, &o); err != nil {
			return err
		}
		l, err := s.StoredLifecycle(ctx, o.Cloud)
		if err != nil || slices.Contains(l.Offers, o) {
			return err
		}
		if err := s.Documents.Delete(ctx, doc.Path, intent.Always()); intent.CodeOf(err) != intent.NotFound {
			return err
		}
		return nil
	})
}
