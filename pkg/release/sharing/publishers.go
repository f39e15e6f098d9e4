package sharing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Publisher is an app service to which a group gives a name. Each has a DNSEndpoint
// of its own, and one external-dns gets them all.
type Publisher struct {
	Group   intent.Path
	App     string
	Service string
	TTL     int64 // seconds, 0: none set
	Types   []string
	Routing intent.Routing
}

// Publishers are those of a group's names, by name, with those of other groups;
// ordered, the group's own first.
type Publishers map[GivenName][]Publisher

// GivenName is a name at one external-dns.
type GivenName struct {
	Name    string
	record  intent.Path
	scope   intent.Scope
	cluster string
}

// Others are those that give a name of a group's binding, too.
func (all Publishers) Others(g plan.Group, b plan.Binding, name string) []Publisher {
	return slices.DeleteFunc(slices.Clone(all[Given(g, b, name)]), func(o Publisher) bool {
		return o.Group == g.Path && o.App == b.App && o.Service == b.Service
	})
}

// Given is a name of a group's binding, as its external-dns knows it.
func Given(g plan.Group, b plan.Binding, name string) GivenName {
	return GivenName{Name: name, record: state.RecordPath(g, b), scope: b.Scope, cluster: b.Cluster}
}

// PublishersOf tells who gives the names of a group: its own app services, and those
// of other groups.
func PublishersOf(g plan.Group, others ...plan.Group) Publishers {
	all := Publishers{}
	for _, group := range append([]plan.Group{g}, others...) {
		for _, b := range group.Bindings {
			for _, host := range b.Hosts {
				at := Given(group, b, host.Name)
				if len(all[at]) > 0 || group.Path == g.Path {
					all[at] = append(all[at], Publisher{
						Group: group.Path, App: b.App, Service: b.Service, TTL: host.TTL, Types: host.Types, Routing: host.Routing,
					})
				}
			}
		}
	}
	return all
}

// Publishers tells who gives the names of a group. A release claims its names before it is
// accepted. So it reads the claims of these names, and the releases of their holders.
func (s *Judge) Publishers(ctx context.Context, g plan.Group) (Publishers, error) {
	holders, err := s.holders(ctx, g)
	if err != nil {
		return nil, err
	}
	users := map[intent.Path]state.Lifecycle{}
	for _, group := range slices.Sorted(maps.Keys(holders)) {
		l, err := s.StoredLifecycle(ctx, group)
		if err != nil {
			return nil, err
		}
		if l.Deployed() {
			users[group] = l
		}
	}
	var others []plan.Group
	err = s.EachRelease(ctx, users, func(l state.Lifecycle, of plan.Group) { others = append(others, l.Placed(of)) })
	return PublishersOf(g, others...), err
}

// holders are the other owners that have claimed names of a group, with these host names.
func (s *Judge) holders(ctx context.Context, g plan.Group) (map[intent.Path]state.NameSet, error) {
	requests := ownership.RequestsOf(g)
	var keys []nameclaim.Key
	for _, request := range requests {
		keys = append(keys, request.Key)
	}
	claims, err := nameclaim.Store{KV: s.KV}.Read(ctx, keys)
	if err != nil {
		return nil, err
	}
	owners := map[intent.Path]state.NameSet{}
	for _, request := range requests {
		for _, entry := range claims[request.Key].Entries {
			if entry.Stays || entry.Group == g.Path {
				continue
			}
			if owners[entry.Group] == nil {
				owners[entry.Group] = state.NameSet{}
			}
			owners[entry.Group][request.Host] = true
		}
	}
	return owners, nil
}

// Together says how external-dns publishes a name that several groups publish. If why is
// empty, it publishes the addresses of all of them.
func Together(version string, publishers ...Publisher) (why string) {
	for _, g := range publishers {
		if g.TTL != publishers[0].TTL {
			return "their ttl differs, so external-dns publishes only the addresses of one of them"
		}
	}
	if v, err := externaldns.ParseVersion(version); err == nil && v < externaldns.V021 {
		return fmt.Sprintf("external-dns %s publishes only the addresses of one of them; v0.21 and later publish all", version)
	}
	return ""
}

// conflictReason says why several app services cannot be given one name; empty: they can
// be. External-dns would make of their sets what none of them asked for.
func conflictReason(publishers []Publisher) string {
	first := publishers[0]
	for _, g := range publishers {
		switch {
		case g.Routing.Policy != "":
			return "a name with policy " + g.Routing.Policy + " can belong to only one Service of one app, because external-dns merges the addresses of all; give the others names of their own"
		case resolve.AliasAlone(g.Types) != resolve.AliasAlone(first.Types):
			return "DNS allows no CNAME beside other types, which their recordTypes ask for; give each the same recordTypes, or names of their own"
		}
	}
	return ""
}

// Describe names publishers as a group's user knows them.
func Describe(group intent.Path, publishers ...Publisher) string {
	var out []string
	for _, g := range publishers {
		text := fmt.Sprintf("service %q of app %q", g.Service, g.App)
		if g.Group != group {
			text += " of " + string(g.Group)
		}
		out = append(out, text)
	}
	return strings.Join(out, " and ")
}

// groupsBeside are the groups of publishers but for one.
func groupsBeside(group intent.Path, publishers []Publisher) (others []intent.Path) {
	for _, other := range publishers {
		if other.Group != group {
			others = append(others, other.Group)
		}
	}
	return others
}

// share is what is said of names that the same app services are given.
type share struct{ publishers, record, effect string }

// CheckSharing tells which names are given to several app services, of this
// group or of others, and refuses those that cannot be. A name document shares its host
// name with nobody: its claim says so.
func (s *Judge) CheckSharing(ctx context.Context, d *resolve.Draft) error {
	if intent.IsName(d.Group.Path) {
		return nil
	}
	all, err := s.Publishers(ctx, d.Group)
	if err != nil {
		return err
	}
	var shares []share
	names := map[share][]string{}
	for _, b := range d.Group.Bindings {
		for _, host := range b.Hosts {
			publishers := all[Given(d.Group, b, host.Name)]
			if len(publishers) < 2 {
				continue
			}
			d.Sharing = append(d.Sharing, groupsBeside(d.Group.Path, publishers)...)
			described := Describe(d.Group.Path, publishers...)
			if why := conflictReason(publishers); why != "" {
				place := d.Places[resolve.PlaceKey{App: b.App, Service: b.Service, Host: host.Name}]
				d.Fail(cmp.Or(place.Path, d.Group.Path), place.Pointer, "%s share %s of provider %q: %s", described, host.Name, b.Record, why)
				continue
			}
			publishes := "external-dns publishes"
			if intent.IsPublisher(b.Cluster) {
				publishes = "the built-in publisher publishes"
			}
			effect := cmp.Or(Together(d.Records[b.Record].Frozen.Version, publishers...), publishes+" the addresses of all of them")
			by := share{described, b.Record, effect}
			if _, known := names[by]; !known {
				shares = append(shares, by)
			}
			if !slices.Contains(names[by], host.Name) {
				names[by] = append(names[by], host.Name)
			}
		}
	}
	for _, by := range shares {
		d.Warn("%s share %s of provider %q: %s", by.publishers, state.Few(names[by]), by.record, by.effect)
	}
	return nil
}
