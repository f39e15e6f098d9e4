package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/autopath"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
)

// Offer is autopath as the DNS of a logical cloud offers it to pods on one
// cluster. It is a document of its own beside the lifecycles. The logical
// cloud's lifecycle names it, and those of the groups whose pods rely on it
// refer to it: while one does, it cannot be deleted; and it is deleted before a
// release of the logical cloud goes without it. What was deleted never comes
// back, for its id is given once. So no interleaving leaves a group that relies
// on an offer that is gone (I10).
type Offer struct {
	Cloud        intent.Path `json:"cloud"`
	Cluster      string      `json:"cluster"`                // "provider+cluster"
	Namespace    string      `json:"namespace"`              // of the pods
	Domain       string      `json:"domain"`                 // of the cluster
	LocalIP      string      `json:"localIP,omitempty"`      // the nameserver on every node; empty: the address of the DNS Service
	DNSNamespace string      `json:"dnsNamespace,omitempty"` // of the DNS Service, without LocalIP
	ID           string      `json:"id"`                     // random
}

func (o Offer) path() intent.Path {
	return intent.Join(intent.OfferCollection, string(o.Cloud), o.Cluster, o.ID)
}

func isOffer(path intent.Path) bool { return path.Collection() == intent.OfferCollection }

func isNoOffer(path intent.Path) bool { return !isOffer(path) }

// offers are what the DNS of a logical cloud offers to its pods, without ids.
func offers(g plan.Group) []Offer {
	var out []Offer
	for _, dns := range g.DNS {
		given, ok := clusterdns.Offer(dns)
		if !ok {
			continue
		}
		o := Offer{Cloud: g.Path, Cluster: dns.Cluster, Namespace: g.LogicalCloudNamespace, Domain: given.Domain, LocalIP: given.LocalIP}
		if o.LocalIP == "" {
			o.DNSNamespace = dns.Spec.Namespace
		}
		out = append(out, o)
	}
	return out
}

// withdrawal says why a logical cloud's DNS would no longer keep an offer, and
// of which document that is; empty when it does.
func withdrawal(g plan.Group, o Offer) (path intent.Path, pointer, why string) {
	dns, configured := dnsOn(g, o.Cluster)
	given, ok := clusterdns.Offer(dns)
	path = o.Cloud.Child("dns-cr-intents", dns.Intent)
	switch {
	case !configured:
		return o.Cloud, "/dns-cr-intents", "there would be no DNS"
	case !ok:
		return path, "/spec/autopath", "it would not be offered any more"
	case given.LocalIP == "" && o.LocalIP != "":
		return path, "/spec/nodeLocalDNS", "the nameserver would be another, which nodeLocalDNS: " + nodeCacheAt(o.LocalIP) + " keeps"
	case given.LocalIP != o.LocalIP:
		return path, "/spec/nodeLocalDNS/localIP", "the nameserver would be another"
	case o.LocalIP == "" && dns.Spec.Namespace != o.DNSNamespace:
		return path, "/spec/namespace", "the nameserver would be another"
	case given.Domain != o.Domain:
		ref, _ := intent.ParseCluster(o.Cluster)
		return ref.Path(), "/spec/dns/domain", "the cluster's domain would be another"
	case given.Static && o.Namespace != g.LogicalCloudNamespace && !slices.Contains(given.Namespaces, o.Namespace):
		return path, "/spec/autopath/namespaces", fmt.Sprintf("it would not be for namespace %q any more", o.Namespace)
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

// offerTo is what a logical cloud offers to the pods of a namespace on a cluster.
func (l *Lifecycle) offerTo(cluster, namespace string) (Offer, bool) {
	at := slices.IndexFunc(l.Offers, func(o Offer) bool { return o.Cluster == cluster && o.Namespace == namespace })
	if at < 0 {
		return Offer{}, false
	}
	return l.Offers[at], true
}

// checkOffers refuses to take away what pods rely on, and warns of what they
// lose.
func (s *Service) checkOffers(ctx context.Context, p *proposal) error {
	next, drafted := p.next()
	if !drafted || !IsCloud(p.draft.in.owner.Path) {
		return nil
	}
	before, err := s.released(ctx, p.lifecycle)
	if err != nil {
		return err
	}
	for _, o := range p.lifecycle.Offers {
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
			p.draft.warn("pods of %s lose the search domains of their nodes on cluster %s: with autopath of mode %s they have the cluster's own and searches alone; name there what they need", strings.Join(users, ", "), o.Cluster, intent.AutopathStatic)
		default:
			p.draft.fail(path, pointer, "pods of %s have %s on cluster %s, and %s; let their pod DNS intents ask for another dnsPolicy and update them, or terminate them, first%s",
				strings.Join(users, ", "), intent.DNSAutopath, o.Cluster, why, resuming(suspended))
		}
	}
	return nil
}

// released is what the current release of an owner holds: nothing without one.
func (s *Service) released(ctx context.Context, l Lifecycle) (plan.Group, error) {
	if !l.deployed() || len(l.Offers) == 0 {
		return plan.Group{}, nil
	}
	release, err := s.loadRelease(ctx, l.ContextID)
	return release.Group, err
}

// losesNodePaths tells whether the search paths of pods on a cluster go without
// those of their nodes, which the nodes' caches alone add.
func losesNodePaths(before, next plan.Group, cluster string) bool {
	was, _ := dnsOn(before, cluster)
	is, _ := dnsOn(next, cluster)
	return clusterdns.Expands(was) && !clusterdns.Expands(is)
}

// next is what the owner would have after the action: nothing when it is
// terminated. drafted is false when that cannot be said.
func (p *proposal) next() (g plan.Group, drafted bool) {
	if p.action == intent.Terminate {
		return plan.Group{}, true
	}
	return p.draft.group, p.draft.group.Path != ""
}

// resuming follows what groups are to do: those that are suspended take no
// update in.
func resuming(suspended []string) string {
	if len(suspended) == 0 {
		return ""
	}
	return "; set suspend of " + strings.Join(suspended, ", ") + " to false before that, for nothing of theirs is applied until then"
}

// relyingOn are the groups whose pods rely on an offer, and which of them are
// suspended.
func (s *Service) relyingOn(ctx context.Context, o Offer) (users, suspended []string, err error) {
	groups := map[intent.Path]Lifecycle{}
	err = s.eachGroup(ctx, o.path(), func(group intent.Path, l Lifecycle) { groups[group] = l })
	if intent.CodeOf(err) == intent.NotFound {
		return nil, nil, nil
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		users = append(users, string(group))
		rests, failure := s.suspended(ctx, group, groups[group])
		if failure != nil {
			return nil, nil, failure
		}
		if rests {
			suspended = append(suspended, string(group))
		}
	}
	return users, suspended, err
}

// nextOffers brings the offers of a lifecycle to what the action makes of them.
// The caller swaps it next.
func (s *Service) nextOffers(ctx context.Context, l *Lifecycle, p *proposal) error {
	next, _ := p.next()
	switch {
	case IsCloud(p.draft.in.owner.Path):
		return s.offer(ctx, l, next)
	case p.action == intent.Terminate:
		l.rely(nil)
	default:
		l.rely(p.draft.offers)
	}
	return nil
}

// offer makes what a logical cloud is to offer, and deletes what it is not to
// offer any more. Whatever happens before the lifecycle is swapped, the next
// step makes the offers of the current release whole.
func (s *Service) offer(ctx context.Context, l *Lifecycle, g plan.Group) error {
	var next []Offer
	for _, o := range l.Offers {
		if _, _, why := withdrawal(g, o); why == "" {
			next = append(next, o)
			continue
		}
		err := s.Documents.Delete(ctx, o.path(), intent.Always())
		switch intent.CodeOf(err) {
		case intent.Conflict:
			s.wake(o.Cloud)
			return &intent.Error{Code: intent.PreconditionFailed, Detail: "pods have just come to rely on " + string(o.path()), Err: err}
		case intent.NotFound:
		default:
			if err != nil {
				return err
			}
		}
	}
	for _, o := range offers(g) {
		if slices.ContainsFunc(next, func(kept Offer) bool { return kept.Cluster == o.Cluster && kept.Namespace == o.Namespace }) {
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
func (s *Service) makeOffer(ctx context.Context, o Offer) (Offer, error) {
	o.ID = appcontext.NewID()
	raw, err := json.Marshal(o)
	if err != nil {
		return o, err
	}
	_, err = s.Documents.Put(ctx, intent.Write{Path: o.path(), Body: raw, Condition: intent.IfAbsent()})
	return o, err
}

// mendOffers makes anew what a logical cloud offers and what is not there: a
// request has died, or was refused, after it had deleted it.
func (s *Service) mendOffers(ctx context.Context, cloud intent.Path, l Lifecycle) (Lifecycle, error) {
	if !IsCloud(cloud) {
		return l, nil
	}
	mended := slices.Clone(l.Offers)
	for n, o := range mended {
		_, err := s.Documents.Get(ctx, o.path())
		if intent.CodeOf(err) == intent.NotFound {
			mended[n], err = s.makeOffer(ctx, o)
		}
		if err != nil {
			return l, err
		}
	}
	if slices.Equal(mended, l.Offers) {
		return l, nil
	}
	l.Offers = mended
	return s.swap(ctx, cloud, l)
}

// rely has a lifecycle refer to the offers that a release relies on. Those of
// earlier releases are referred to until their pods are gone.
func (l *Lifecycle) rely(on []Offer) {
	l.Offers = on
	for _, o := range on {
		if !slices.Contains(l.Refs, o.path()) {
			l.Refs = append(l.Refs, o.path())
		}
	}
}

// releaseOffers lets go of offers that no pod relies on any more: when the
// release is in the clusters, and nothing of earlier ones is.
func (l *Lifecycle) releaseOffers() {
	if !l.Settled || len(l.Vacating) > 0 {
		return
	}
	unused := func(path intent.Path) bool {
		return isOffer(path) && !slices.ContainsFunc(l.Offers, func(o Offer) bool { return o.path() == path })
	}
	l.Refs = slices.DeleteFunc(slices.Clone(l.Refs), unused)
}

// withdrawn tells from other errors that of a swap to a release whose offers
// have been withdrawn meanwhile: it is made again.
func (s *Service) withdrawn(p *proposal, err error) error {
	var missing *intent.MissingReference
	if !errors.As(err, &missing) || !isOffer(missing.To) {
		return err
	}
	s.wake(p.draft.in.cloudPath)
	return &intent.Error{Code: intent.PreconditionFailed, Detail: "what pods rely on has just been withdrawn", Err: err}
}

// sweepOffers removes the offers that no lifecycle names, as requests leave them
// that died, or lost their race, before they were accepted.
func (s *Service) sweepOffers(ctx context.Context, age time.Duration) error {
	page, err := s.Documents.List(ctx, intent.ListOptions{Collection: intent.OfferCollection})
	if err != nil {
		return err
	}
	for _, doc := range page.Items {
		if s.Now().Sub(doc.CreatedAt) < age {
			continue
		}
		var o Offer
		if err := json.Unmarshal(doc.Body, &o); err != nil {
			return err
		}
		l, err := s.storedLifecycle(ctx, o.Cloud)
		if err != nil {
			return err
		}
		if slices.Contains(l.Offers, o) {
			continue
		}
		if err := s.Documents.Delete(ctx, doc.Path, intent.Always()); err != nil && intent.CodeOf(err) != intent.NotFound {
			return err
		}
	}
	return nil
}
