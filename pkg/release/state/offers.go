package state

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Offer is autopath as the DNS of a logical cloud offers it to pods on one cluster. It is
// a document of its own beside the lifecycles. The logical cloud's lifecycle names it.
// The lifecycles of the groups whose pods rely on it refer to it, so it cannot be deleted
// while one does. It is deleted before a release of the logical cloud goes without it. A
// deleted offer never comes back, because its id is given once. So no interleaving leaves
// a group that relies on an offer that is gone (I10).
type Offer struct {
	Cloud        intent.Path `json:"cloud"`
	Cluster      string      `json:"cluster"`                // "provider+cluster"
	Namespace    string      `json:"namespace"`              // of the pods
	Domain       string      `json:"domain"`                 // of the cluster
	LocalIP      string      `json:"localIP,omitempty"`      // the nameserver on every node; empty: the address of the DNS Service
	DNSNamespace string      `json:"dnsNamespace,omitempty"` // of the DNS Service, without LocalIP
	ID           string      `json:"id"`                     // random
}

// Path is what a document refers to that relies on the offer.
func (o Offer) Path() intent.Path {
	return intent.Join(intent.OfferCollection, string(o.Cloud), o.Cluster, o.ID)
}

// IsOffer tells references that stand for offers.
func IsOffer(path intent.Path) bool { return path.Collection() == intent.OfferCollection }

// OfferTo is what a logical cloud offers to the pods of a namespace on a cluster.
func (l *Lifecycle) OfferTo(cluster, namespace string) (Offer, bool) {
	at := slices.IndexFunc(l.Offers, func(o Offer) bool { return o.Cluster == cluster && o.Namespace == namespace })
	if at < 0 {
		return Offer{}, false
	}
	return l.Offers[at], true
}

// Rely has a lifecycle refer to the offers that a release relies on. Offers of earlier
// releases are referred to until their pods are gone.
func (l *Lifecycle) Rely(on []Offer) {
	l.Offers = on
	for _, o := range on {
		if !slices.Contains(l.Refs, o.Path()) {
			l.Refs = append(l.Refs, o.Path())
		}
	}
}

// ReleaseOffers drops offers that no pod relies on any more: when the release is in the
// clusters, and nothing of earlier releases is.
func (l *Lifecycle) ReleaseOffers() {
	if !l.Settled || len(l.RemovedClusters) > 0 {
		return
	}
	unused := func(path intent.Path) bool {
		return IsOffer(path) && !slices.ContainsFunc(l.Offers, func(o Offer) bool { return o.Path() == path })
	}
	l.Refs = slices.DeleteFunc(slices.Clone(l.Refs), unused)
}
