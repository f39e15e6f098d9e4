package sharing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// GivenUp is a name of a group's release that another group has taken over.
type GivenUp struct {
	Name string
	To   intent.Path
	Free bool // that group is deployed no longer: an update publishes the name again
}

// GivenUp are the names of a release that others have taken over, in its order.
func (s *Judge) GivenUp(ctx context.Context, l state.Lifecycle, g plan.Group) ([]GivenUp, error) {
	taken, free := state.Takers(l.Transferred), map[intent.Path]bool{}
	for _, y := range l.Transferred {
		taker, err := s.StoredLifecycle(ctx, y.To)
		if err != nil {
			return nil, err
		}
		free[y.To] = !taker.Deployed()
	}
	var names []GivenUp
	for _, b := range g.Bindings {
		for _, host := range b.Hosts {
			if to := taken[state.DigestOf(b, host.Name)]; to != "" {
				names = append(names, GivenUp{host.Name, to, free[to]})
			}
		}
	}
	return names, nil
}

// CheckTakeover refuses to take names over that cannot be without a gap, and to
// give names that others have taken over.
func (s *Judge) CheckTakeover(ctx context.Context, p *resolve.Proposal) error {
	d := p.Draft
	if p.Action == intent.Terminate || d.Group.Path == "" {
		return nil
	}
	if err := s.checkTransferred(ctx, p); err != nil || p.Takeover == "" {
		return err
	}
	if _, err := s.Documents.Get(ctx, p.Takeover); err != nil {
		return err
	}
	names, refused, err := s.Common(ctx, d.Group, p.Takeover)
	if err != nil {
		return err
	}
	asked := d.Asked()
	for _, r := range refused {
		ownership.FailName(d, asked[r.name], r.why)
	}
	p.Taken = names
	if p.Given, err = s.givenNow(ctx, p.Takeover, names); err != nil {
		return err
	}
	if len(names) > 0 {
		d.Warn("%s gives up %s when %s publishes it", p.Takeover, state.Few(names), d.Group.Path)
	} else if len(refused) == 0 {
		d.Fail(d.Group.Path, "", "takeover: %s publishes none of the names of this group", p.Takeover)
	}
	return nil
}

// givenNow is what a group publishes at present of some names.
func (s *Judge) givenNow(ctx context.Context, group intent.Path, names []string) (map[state.NameKey][]string, error) {
	objects, err := s.CurrentEndpoints(ctx, group)
	if err != nil {
		return nil, err
	}
	all := map[state.NameKey][]string{}
	for _, o := range objects {
		state.CollectNames(o.Published, all)
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	maps.DeleteFunc(all, func(key state.NameKey, _ []string) bool { return !wanted[key.Name] })
	return all, nil
}

// checkTransferred refuses names that others have taken over from the group, and
// still give. The others it may have again.
func (s *Judge) checkTransferred(ctx context.Context, p *resolve.Proposal) error {
	if len(p.Lifecycle.Transferred) == 0 {
		return nil
	}
	taken, asked := state.Takers(p.Lifecycle.Transferred), p.Draft.Asked()
	deployed := map[intent.Path]bool{"": false, p.Takeover: false}
	for _, b := range p.Draft.Group.Bindings {
		for _, host := range b.Hosts {
			to := taken[state.DigestOf(b, host.Name)]
			if _, known := deployed[to]; !known {
				l, err := s.StoredLifecycle(ctx, to)
				if err != nil {
					return err
				}
				deployed[to] = l.Deployed()
			}
			p.Regains = p.Regains || to != "" && !deployed[to]
			if deployed[to] {
				ownership.FailName(p.Draft, asked[host.Name], fmt.Sprintf("%q was taken over by %s; remove it, or take it back with ?takeover=%s", host.Name, to, to))
			}
		}
	}
	return nil
}

// WarnOfPublishers warns, where a group is to be terminated, of groups that have given
// names up to it and still ask for them.
func (s *Judge) WarnOfPublishers(ctx context.Context, p *resolve.Proposal) error {
	if p.Action != intent.Terminate {
		return nil
	}
	group := p.Draft.Group.Path
	return s.EachLifecycle(ctx, string(p.Draft.In.ProjectPath())+"/", func(other intent.Path, l state.Lifecycle) error {
		if l.Deployed() && slices.ContainsFunc(l.Transferred, func(y state.Transfer) bool { return y.To == group }) {
			p.View.Warnings = append(p.View.Warnings, fmt.Sprintf("%s still asks for names that this group took over, and its next update publishes them again", other))
		}
		return nil
	})
}

// Refused is a name that cannot be taken over.
type Refused struct{ name, why string }

// Common are the names of a group that another one gives at the same
// external-dns, and those of which it does so at others.
func (s *Judge) Common(ctx context.Context, g plan.Group, from intent.Path) (names []string, not []Refused, err error) {
	l, err := s.StoredLifecycle(ctx, from)
	if err != nil || !l.Deployed() {
		return nil, nil, err
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs, seen := publishers(g), publishers(l.Placed(release.Group)), state.NameSet{}
	for _, b := range ownership.RequestsOf(g) {
		at, both := theirs[b.Key.Name]
		again := seen[b.Key.Name]
		seen[b.Key.Name] = true
		switch {
		case !both || again || b.Key.Name != b.Host:
		case subset(at, ours[b.Key.Name]):
			names = append(names, b.Key.Name)
		default:
			not = append(not, Refused{b.Key.Name, fmt.Sprintf("%q cannot be taken over from %s: it is published there by %s, here by %s; use the same providers and clusters", b.Key.Name, from, list(at), list(ours[b.Key.Name]))})
		}
	}
	return names, not, nil
}

// publishers are the external-dns of a group's names, by the name.
func publishers(g plan.Group) map[string][]state.Use {
	all := map[string][]state.Use{}
	for _, b := range g.Bindings {
		for _, host := range b.Hosts {
			use := state.Use{Record: state.RecordPath(g, b), Scope: b.Scope, Cluster: b.Cluster}
			if !slices.Contains(all[host.Name], use) {
				all[host.Name] = append(all[host.Name], use)
			}
		}
	}
	return all
}

func subset(some, of []state.Use) bool {
	return !slices.ContainsFunc(some, func(u state.Use) bool { return !slices.Contains(of, u) })
}

func list(uses []state.Use) string {
	var out []string
	for _, u := range uses {
		out = append(out, fmt.Sprintf("record %q on %s", u.Record.Name(), u.Cluster))
	}
	return strings.Join(out, " and ")
}
