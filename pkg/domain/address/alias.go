package address

import (
	"net/netip"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// outcome is what becomes of entries.
type outcome struct {
	published []placed
	rejected  []intent.Rejection
	waiting   []entry // host names whose addresses are needed and not known
}

// placed is a published entry with the set that it is in.
type placed struct {
	entry
	part share
}

// share is a set that addresses are in; zero: the only one, without an identifier.
type share struct {
	id               string
	weight           int64
	region, location string
}

// shares are the sets that the addresses of each cluster are in; nil: all are in one
// together.
type shares map[string][]share

func (o *outcome) some() bool { return len(o.published) > 0 }

func (o *outcome) publish(e entry, of shares) {
	if of == nil {
		o.published = append(o.published, placed{entry: e})
	}
	for _, in := range of[e.Service.Cluster] {
		o.published = append(o.published, placed{e, in})
	}
}

func (o *outcome) reject(e entry, why code, detail string) {
	o.rejected = append(o.rejected, e.rejection(why, detail))
}

// settle publishes entries in a form that DNS allows: addresses, or an alias alone. A
// single host name is an alias. Several are aliases if the provider has set identifiers,
// and each cluster has one. Else the last known addresses of host names replace them,
// each judged by the rule like any other.
func (f *fold) settle(pool []entry, of shares) outcome {
	o := outcome{published: make([]placed, 0, len(pool))}
	var names []entry
	for _, e := range pool {
		if !e.ip.IsValid() {
			names = append(names, e)
		}
	}
	if len(names) == len(pool) && f.alias(&o, names, of) || f.await(&o, pool, names, of) {
		return o
	}
	for _, e := range pool {
		if e.ip.IsValid() {
			o.publish(e, of)
		} else {
			f.resolve(&o, e, of)
		}
	}
	f.unresolved(&o, of)
	return o
}

// alias publishes host names as such, if that may be.
func (f *fold) alias(o *outcome, names []entry, of shares) bool {
	if len(names) == 0 || slices.ContainsFunc(names, func(e entry) bool { return !f.aliasable(e) }) {
		return false
	}
	different := func(e entry) bool { return e.target != names[0].target }
	if of == nil && slices.ContainsFunc(names, different) {
		of = alike(names)
	}
	if of != nil && (!f.SetIDs || !oneEach(names, of)) {
		return false
	}
	for _, e := range names {
		o.publish(e, of)
	}
	return true
}

// alike gives each cluster of some entries a set of its own, all with the same weight.
func alike(pool []entry) shares {
	of := shares{}
	for _, e := range pool {
		of[e.Service.Cluster] = []share{{id: e.Service.Cluster, weight: 1}}
	}
	return of
}

// oneEach tells whether no set has two host names.
func oneEach(names []entry, of shares) bool {
	has := map[string]string{}
	for _, e := range names {
		for _, in := range of[e.Service.Cluster] {
			if before, some := has[in.id]; some && before != e.target {
				return false
			}
			has[in.id] = e.target
		}
	}
	return true
}

// noAlias is why a host name cannot be an alias of the name; empty: it can.
func (f *fold) noAlias() string {
	switch {
	case f.NoAlias != "":
		return f.NoAlias
	case !f.has("CNAME"):
		return "the name must not have a CNAME"
	case len(f.Rule.Allow)+len(f.Rule.Passed) > 0:
		return "the networks that the provider allows apply to its addresses"
	}
	return ""
}

// aliasable tells whether a host name can be an alias of the name: one that has
// an address which the rule forbids would lead there.
func (f *fold) aliasable(e entry) bool {
	return f.noAlias() == "" && !slices.ContainsFunc(e.Resolved, func(text string) bool {
		ip, err := netip.ParseAddr(text)
		return err == nil && f.refuse(ip.WithZone("").Unmap()) != ""
	})
}

// await leaves the alias as it was published before while the addresses of a host name
// are needed and not known. Otherwise its addresses would be lost until then.
func (f *fold) await(o *outcome, pool, names []entry, of shares) bool {
	if !slices.ContainsFunc(names, func(e entry) bool { return len(e.Resolved) == 0 }) {
		return false
	}
	old := func(e entry) bool { return !e.ip.IsValid() && f.before("CNAME", e.target) }
	var stay []entry
	for _, e := range names {
		if old(e) {
			stay = append(stay, e)
		}
	}
	if !f.alias(o, stay, of) {
		return false
	}
	for _, e := range pool {
		if !old(e) {
			o.reject(e, waiting, stay[0].target)
		}
	}
	return true
}

// resolve publishes the addresses of a host name in its place.
func (f *fold) resolve(o *outcome, e entry, of shares) {
	if len(e.Resolved) == 0 {
		o.waiting = append(o.waiting, e)
		return
	}
	e.via = e.target
	for _, text := range e.Resolved {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			continue // no address: resolvers answer none such
		}
		address, why, detail := f.judgeIP(e, ip.WithZone("").Unmap(), ip.Zone() != "")
		if failing := f.failing(text); why == "" && e.ill == "" && failing != "" { // others of its addresses answer
			why, detail = probeFailed, failing
		}
		if why != "" {
			o.reject(address, why, detail)
			continue
		}
		o.publish(address, of)
	}
}

// unresolved handles host names whose addresses are needed and not known. If there is
// nothing else, the first possible one is an alias.
func (f *fold) unresolved(o *outcome, of shares) {
	first := slices.IndexFunc(o.waiting, f.aliasable)
	if o.some() || first < 0 {
		for _, e := range o.waiting {
			o.reject(e, unresolved, f.unresolvedBecause())
		}
		return
	}
	target := o.waiting[first].target
	for _, e := range o.waiting {
		if e.target == target {
			o.publish(e, of)
		} else {
			o.reject(e, oneAlias, target)
		}
	}
}

func (f *fold) unresolvedBecause() string {
	if why := f.noAlias(); why != "" {
		return " that cannot be published as an alias (" + why + "), and whose addresses are not known yet; give the Service's load balancer an address"
	}
	return " beside addresses of other Services or fields, where DNS allows no alias; its own addresses are not known yet; give this Service's load balancer an address, or another name"
}

// hold keeps the previous addresses if only host names with unknown addresses are to be
// published: they may be the same. Addresses that are known to belong to somebody else
// are not kept.
func (f *fold) hold(o outcome) outcome {
	if o.some() || len(o.waiting) == 0 {
		return o
	}
	e := o.waiting[0]
	e.via = e.target
	for _, set := range f.Previous {
		for _, target := range set.Targets {
			ip, err := netip.ParseAddr(target)
			if err != nil || f.isOffered(ip) {
				continue
			}
			if kept, why, _ := f.judgeIP(e, ip, false); why == "" {
				o.publish(kept, nil)
			}
		}
	}
	return o
}

// isOffered tells whether somebody offers an address, may it count or not.
func (f *fold) isOffered(ip netip.Addr) bool {
	return slices.ContainsFunc(f.Offers, func(o Offer) bool {
		return o.Observation != nil && slices.ContainsFunc(o.Observation.Candidates, func(c Candidate) bool {
			return slices.ContainsFunc(append([]string{c.Target}, c.Resolved...), func(text string) bool {
				offered, err := netip.ParseAddr(text)
				return err == nil && offered.WithZone("").Unmap() == ip
			})
		})
	})
}
