package release

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Giver is an app service to which a group gives a name. Each has a DNSEndpoint
// of its own, and one external-dns gets them all.
type Giver struct {
	Group   intent.Path
	App     string
	Service string
	TTL     int64 // seconds, 0: none set
	Types   []string
	Routing intent.Routing
}

// Givers are those of a group's names, by name, with those of other groups;
// ordered, the group's own first.
type Givers map[givenName][]Giver

// givenName is a name at one external-dns.
type givenName struct {
	name    string
	record  intent.Path
	scope   intent.Scope
	cluster string
}

// Others are those that give a name of a group's binding, too.
func (all Givers) Others(g plan.Group, b plan.Binding, name string) []Giver {
	return slices.DeleteFunc(slices.Clone(all[given(g, b, name)]), func(o Giver) bool {
		return o.Group == g.Path && o.App == b.App && o.Service == b.Service
	})
}

func given(g plan.Group, b plan.Binding, name string) givenName {
	return givenName{name: name, record: recordPath(g, b), scope: b.Scope, cluster: b.Cluster}
}

// GiversOf tells who gives the names of a group: its own app services, and those
// of other groups.
func GiversOf(g plan.Group, others ...plan.Group) Givers {
	all := Givers{}
	for _, group := range append([]plan.Group{g}, others...) {
		for _, b := range group.Bindings {
			for _, host := range b.Hosts {
				at := given(group, b, host.Name)
				if len(all[at]) > 0 || group.Path == g.Path {
					all[at] = append(all[at], Giver{
						Group: group.Path, App: b.App, Service: b.Service, TTL: host.TTL, Types: host.Types, Routing: host.Routing,
					})
				}
			}
		}
	}
	return all
}

// givers reads the groups that use a group's records, and tells who gives its
// names.
func (s *Service) givers(ctx context.Context, g plan.Group) (Givers, error) {
	users := map[intent.Path]Lifecycle{}
	for _, record := range recordsOf(g) {
		groups, err := s.deployed(ctx, record)
		if err != nil {
			return nil, err
		}
		maps.Copy(users, groups)
	}
	delete(users, g.Path)
	var others []plan.Group
	for _, path := range slices.Sorted(maps.Keys(users)) {
		release, err := s.loadRelease(ctx, users[path].ContextID)
		if intent.CodeOf(err) == intent.NotFound {
			continue // many have followed it meanwhile
		}
		if err != nil {
			return nil, err
		}
		l := users[path]
		others = append(others, l.placed(release.Group))
	}
	return GiversOf(g, others...), nil
}

func recordsOf(g plan.Group) []intent.Path {
	var out []intent.Path
	for _, b := range g.Bindings {
		out = append(out, recordPath(g, b))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func recordPath(g plan.Group, b plan.Binding) intent.Path {
	return intent.Join("projects", g.Project.Name, "dns-update-records", b.Record)
}

// Together says what external-dns publishes of a name that several give:
// nothing stands in the way of the addresses of all of them when why is empty.
func Together(version string, givers ...Giver) (why string) {
	for _, g := range givers {
		if g.TTL != givers[0].TTL {
			return "their ttl differs, so external-dns publishes the addresses of one of them only"
		}
	}
	if v, err := externaldns.ParseVersion(version); err == nil && v < externaldns.V021 {
		return fmt.Sprintf("external-dns %s publishes the addresses of one of them only; v0.21 and later publish all", version)
	}
	return ""
}

// apart says why several app services cannot be given one name; empty: they can
// be. What external-dns makes of their sets would be what none of them asked for.
func apart(givers []Giver) string {
	first := givers[0]
	for _, g := range givers {
		switch {
		case g.Routing.Policy != "":
			return "a name with policy " + g.Routing.Policy + " is one app service's alone, for external-dns publishes what all of them give; give the others names of their own"
		case aliasAlone(g.Types) != aliasAlone(first.Types):
			return "DNS allows no CNAME beside other types, which their recordTypes ask for; give each the same, or names of their own"
		}
	}
	return ""
}

// Describe names givers as a group's user knows them.
func Describe(group intent.Path, givers ...Giver) string {
	var out []string
	for _, g := range givers {
		text := fmt.Sprintf("service %q of app %q", g.Service, g.App)
		if g.Group != group {
			text += " of " + string(g.Group)
		}
		out = append(out, text)
	}
	return strings.Join(out, " and ")
}

// share is what is said of names that the same app services are given.
type share struct{ givers, record, effect string }

// checkSharing tells which names are given to several app services, of this
// group or of others, and refuses those that cannot be.
func (s *Service) checkSharing(ctx context.Context, d *draft) error {
	all, err := s.givers(ctx, d.group)
	if err != nil {
		return err
	}
	var shares []share
	names := map[share][]string{}
	for _, b := range d.group.Bindings {
		for _, host := range b.Hosts {
			givers := all[given(d.group, b, host.Name)]
			if len(givers) < 2 {
				continue
			}
			described := Describe(d.group.Path, givers...)
			if why := apart(givers); why != "" {
				place := d.places[placeKey{app: b.App, service: b.Service, host: host.Name}]
				d.fail(cmp.Or(place.path, d.group.Path), place.pointer, "%s share %s of record %q: %s", described, host.Name, b.Record, why)
				continue
			}
			effect := cmp.Or(Together(d.records[b.Record].frozen.Version, givers...), "external-dns publishes the addresses of all of them")
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
		d.warn("%s share %s of record %q: %s", by.givers, few(names[by]), by.record, by.effect)
	}
	return nil
}

// few lists the first names of many.
func few(names []string) string {
	const most = 3
	if extra := len(names) - most; extra > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), extra)
	}
	return strings.Join(names, ", ")
}
