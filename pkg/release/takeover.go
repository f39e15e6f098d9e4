package release

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
)

// Yield are names of a group's release that another group has taken over. Of
// 10,000 long names it is small enough for a document.
type Yield struct {
	To    intent.Path `json:"to"`
	Names []byte      `json:"names"` // their digests, one behind the other
}

// digest stands for a name of a binding, of whatever cluster.
type digest [16]byte

func digestOf(b plan.Binding, name string) digest {
	sum := sha256.Sum256([]byte(string(b.Scope) + "\n" + b.Record + "\n" + name))
	return digest(sum[:len(digest{})])
}

// takers are the groups that have taken names over.
func takers(yielded []Yield) map[digest]intent.Path {
	all := map[digest]intent.Path{}
	for _, y := range yielded {
		for octets := range slices.Chunk(y.Names, len(digest{})) {
			var name digest
			copy(name[:], octets)
			all[name] = y.To
		}
	}
	return all
}

// PlanTakeover tells what TakeOver would do to a group, and changes nothing. An
// empty action means instantiate when nothing is current, else update.
func (s *Service) PlanTakeover(ctx context.Context, owner intent.Path, action intent.Action, from string) (intent.Plan, error) {
	other, err := takeoverFrom(owner, from)
	if err != nil {
		return intent.Plan{}, err
	}
	return undisturbed(owner, func() (intent.Plan, error) {
		p, err := s.propose(ctx, owner, request{action: action, takeover: other})
		return p.view, err
	})
}

// TakeOver instantiates or updates a group, and has another one of its project
// yield the names that both give. Each stays published by the other one until
// the group publishes it, and has one external-dns throughout. from is the other
// group: its name, where both are of one composite app and version, else
// "app/version/name", or its path.
func (s *Service) TakeOver(ctx context.Context, owner intent.Path, action intent.Action, from, confirm, actor string) (intent.Accepted, error) {
	other, err := takeoverFrom(owner, from)
	if err != nil {
		return intent.Accepted{}, err
	}
	return s.accept(ctx, owner, request{action: action, takeover: other}, confirm, actor)
}

// takeoverFrom is the path of the group whose names another is to take over.
func takeoverFrom(owner intent.Path, from string) (intent.Path, error) {
	parts := strings.Split(from, "/")
	var path intent.Path
	switch {
	case len(parts) == 1:
		path = owner.Parent().Child("deployment-intent-groups", from)
	case len(parts) == 3:
		path = intent.Join("projects", owner.Segment("projects"), "composite-apps", parts[0], parts[1], "deployment-intent-groups", parts[2])
	default:
		path = intent.Path(strings.TrimPrefix(strings.TrimPrefix(from, "/"), "v2/"))
	}
	refuse := func(why string) (intent.Path, error) {
		return "", &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("query parameter takeover: %q %s", from, why)}
	}
	switch {
	case slices.Contains(parts, "") && len(parts) <= 3 || path.Segment("deployment-intent-groups") != path.Name() || path.Segment("projects") == "":
		return refuse("is no deployment intent group; give its name, app/version/name, or its path")
	case path.Segment("projects") != owner.Segment("projects"):
		return refuse("is of another project; names are taken over within a project")
	case path == owner:
		return refuse("is the group itself; name the one that gives its names up")
	}
	return path, nil
}

// keeping is a group without the names that it has yielded.
func keeping(g plan.Group, yielded []Yield) plan.Group {
	if len(yielded) == 0 {
		return g
	}
	taken := takers(yielded)
	var bindings []plan.Binding
	for _, b := range g.Bindings {
		b.Hosts = slices.DeleteFunc(slices.Clone(b.Hosts), func(h plan.Host) bool { return taken[digestOf(b, h.Name)] != "" })
		if len(b.Hosts) > 0 {
			bindings = append(bindings, b)
		}
	}
	g.Bindings = bindings
	return g
}

// GivenUp is a name of a group's release that another group has taken over.
type GivenUp struct {
	Name string
	To   intent.Path
	Free bool // that group is deployed no longer: an update publishes the name again
}

// givenUp are the names of a release that others have taken over, in its order.
func (s *Service) givenUp(ctx context.Context, l Lifecycle, g plan.Group) ([]GivenUp, error) {
	taken, free := takers(l.Yielded), map[intent.Path]bool{}
	for _, y := range l.Yielded {
		taker, err := s.storedLifecycle(ctx, y.To)
		if err != nil {
			return nil, err
		}
		free[y.To] = !taker.deployed()
	}
	var names []GivenUp
	for _, b := range g.Bindings {
		for _, host := range b.Hosts {
			if to := taken[digestOf(b, host.Name)]; to != "" {
				names = append(names, GivenUp{host.Name, to, free[to]})
			}
		}
	}
	return names, nil
}

// checkTakeover refuses to take names over that cannot be without a gap, and to
// give names that others have taken over.
func (s *Service) checkTakeover(ctx context.Context, p *proposal) error {
	d := p.draft
	if p.action == intent.Terminate || d.group.Path == "" {
		return nil
	}
	if err := s.checkYielded(ctx, p); err != nil || p.takeover == "" {
		return err
	}
	if _, err := s.Documents.Get(ctx, p.takeover); err != nil {
		return err
	}
	names, refused, err := s.common(ctx, d.group, p.takeover)
	if err != nil {
		return err
	}
	asked := d.asked()
	for _, r := range refused {
		d.failName(asked[r.name], r.why)
	}
	p.taken = names
	if p.given, err = s.givenNow(ctx, p.takeover, names); err != nil {
		return err
	}
	if len(names) > 0 {
		d.warn("%s gives up %s once it is published by %s", p.takeover, few(names), d.group.Path)
	} else if len(refused) == 0 {
		d.fail(d.group.Path, "", "takeover: %s gives none of the names of this group", p.takeover)
	}
	return nil
}

// givenNow is what a group publishes at present of some names.
func (s *Service) givenNow(ctx context.Context, group intent.Path, names []string) (map[nameKey][]string, error) {
	pointer, err := s.Contexts.Current(ctx, groupOwner(group))
	if err != nil {
		return nil, err
	}
	objects, err := s.Contexts.Objects(ctx, pointer)
	if err != nil {
		return nil, err
	}
	all := map[nameKey][]string{}
	for _, o := range objects {
		if o.Kind == endpoints.Kind {
			collectNames(o.JSON, all)
		}
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	maps.DeleteFunc(all, func(key nameKey, _ []string) bool { return !wanted[key.name] })
	return all, nil
}

// checkYielded refuses names that others have taken over from the group, and
// still give. The others it may have again.
func (s *Service) checkYielded(ctx context.Context, p *proposal) error {
	if len(p.lifecycle.Yielded) == 0 {
		return nil
	}
	taken, asked := takers(p.lifecycle.Yielded), p.draft.asked()
	standing := map[intent.Path]bool{"": false, p.takeover: false}
	for _, b := range p.draft.group.Bindings {
		for _, host := range b.Hosts {
			to := taken[digestOf(b, host.Name)]
			if _, known := standing[to]; !known {
				l, err := s.storedLifecycle(ctx, to)
				if err != nil {
					return err
				}
				standing[to] = l.deployed()
			}
			p.regains = p.regains || to != "" && !standing[to]
			if standing[to] {
				p.draft.failName(asked[host.Name], fmt.Sprintf("%q was taken over by %s; leave it out, or take it back with ?takeover=%s", host.Name, to, to))
			}
		}
	}
	return nil
}

// warnOfGivers warns, where a group is to be terminated, of groups that have given
// names up to it and still ask for them.
func (s *Service) warnOfGivers(ctx context.Context, p *proposal) error {
	if p.action != intent.Terminate {
		return nil
	}
	group := p.draft.group.Path
	return s.eachLifecycle(ctx, string(p.draft.in.projectPath())+"/", func(other intent.Path, l Lifecycle) error {
		if l.deployed() && slices.ContainsFunc(l.Yielded, func(y Yield) bool { return y.To == group }) {
			p.view.Warnings = append(p.view.Warnings, fmt.Sprintf("%s still asks for names that it has given up to this group, and publishes them again when it is updated after this", other))
		}
		return nil
	})
}

// refused is a name that cannot be taken over.
type refused struct{ name, why string }

// common are the names of a group that another one gives at the same
// external-dns, and those of which it does so at others.
func (s *Service) common(ctx context.Context, g plan.Group, from intent.Path) (names []string, not []refused, err error) {
	l, err := s.storedLifecycle(ctx, from)
	if err != nil || !l.deployed() {
		return nil, nil, err
	}
	release, err := s.loadRelease(ctx, l.ContextID)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs, seen := publishers(g), publishers(l.placed(release.Group)), nameSet{}
	for _, b := range bidsOf(g) {
		at, both := theirs[b.key.Name]
		again := seen[b.key.Name]
		seen[b.key.Name] = true
		switch {
		case !both || again || b.key.Name != b.host:
		case subset(at, ours[b.key.Name]):
			names = append(names, b.key.Name)
		default:
			not = append(not, refused{b.key.Name, fmt.Sprintf("%q cannot be taken over from %s: it is published there by %s, here by %s; use the same records and clusters", b.key.Name, from, list(at), list(ours[b.key.Name]))})
		}
	}
	return names, not, nil
}

// publishers are the external-dns of a group's names, by the name.
func publishers(g plan.Group) map[string][]Use {
	all := map[string][]Use{}
	for _, b := range g.Bindings {
		for _, host := range b.Hosts {
			use := Use{Record: recordPath(g, b), Scope: b.Scope, Cluster: b.Cluster}
			if !slices.Contains(all[host.Name], use) {
				all[host.Name] = append(all[host.Name], use)
			}
		}
	}
	return all
}

func subset(some, of []Use) bool {
	return !slices.ContainsFunc(some, func(u Use) bool { return !slices.Contains(of, u) })
}

func list(uses []Use) string {
	var out []string
	for _, u := range uses {
		out = append(out, fmt.Sprintf("record %q on %s", u.Record.Name(), u.Cluster))
	}
	return strings.Join(out, " and ")
}

// takeNames has the group that names are taken over from yield those that are
// in the clusters as this group gives them. done says that it has yielded all.
func (s *Service) takeNames(ctx context.Context, group intent.Path, l Lifecycle) (done bool, err error) {
	if l.Taking == "" || !l.Settled {
		return false, nil
	}
	if !l.deployed() {
		return true, nil
	}
	release, err := s.loadRelease(ctx, l.ContextID)
	if err != nil {
		return false, err
	}
	ours := l.placed(release.Group)
	names, _, err := s.common(ctx, ours, l.Taking)
	if err != nil || len(names) == 0 {
		return err == nil, err
	}
	published, err := s.publishedNames(ctx, group)
	if err != nil {
		return false, err
	}
	yields, waiting := map[string][]digest{}, nameSet{}
	for _, b := range ours.Bindings {
		for _, host := range b.Hosts {
			yields[host.Name] = append(yields[host.Name], digestOf(b, host.Name))
			if !published[placedName{host.Name, b.Record, b.Scope, b.Cluster}] {
				waiting[host.Name] = true // for an address
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return waiting[name] })
	var ready []digest
	for _, name := range names {
		ready = append(ready, yields[name]...)
	}
	if applied, err := s.applied(ctx, group, l); err != nil || !applied {
		return false, err
	}
	return false, s.yield(ctx, l.Taking, group, names, ready)
}

// placedName is a name in one external-dns' DNSEndpoints.
type placedName struct {
	name, record string
	scope        intent.Scope
	cluster      string
}

// publishedNames are those in the DNSEndpoints of a group, which have been
// applied.
func (s *Service) publishedNames(ctx context.Context, group intent.Path) (map[placedName]bool, error) {
	objects, err := s.currentEndpoints(ctx, group)
	if err != nil {
		return nil, err
	}
	all := map[placedName]bool{}
	for _, o := range objects {
		labels, sets := endpoints.Read(o.JSON)
		for _, set := range sets {
			if len(set.Targets) > 0 {
				all[placedName{set.Host, labels[bundle.LabelRecord], intent.Scope(labels[bundle.LabelScope]), o.Cluster}] = true
			}
		}
	}
	return all, nil
}

// yield has a group give up names to another one, and look at once at what is left
// to it.
func (s *Service) yield(ctx context.Context, group, to intent.Path, names []string, taken []digest) error {
	l, err := s.storedLifecycle(ctx, group)
	if err != nil {
		return err
	}
	before := takers(l.Yielded)
	taken = slices.DeleteFunc(taken, func(name digest) bool { return before[name] == to })
	if len(taken) == 0 || !l.deployed() {
		return nil
	}
	l.Yielded = yielding(l.Yielded, to, taken)
	l.record(intent.Event{Time: s.Now().UTC(), Actor: intent.Itself, Action: l.Wanted, Revision: l.Seq, Outcome: "yielded",
		Message: fmt.Sprintf("%s, to %s", few(names), to)})
	if _, err := s.swap(ctx, group, l); err != nil {
		return err
	}
	s.wake(group)
	return nil
}

func yielding(before []Yield, to intent.Path, taken []digest) []Yield {
	all := slices.Clone(before)
	at := slices.IndexFunc(all, func(y Yield) bool { return y.To == to })
	if at < 0 {
		all, at = append(all, Yield{To: to}), len(all)
	}
	all[at].Names = slices.Clip(all[at].Names)
	for _, name := range taken {
		all[at].Names = append(all[at].Names, name[:]...)
	}
	return all
}
