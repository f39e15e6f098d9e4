package release

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
)

// relative is a name that somebody holds above or below one that is bid for, in the
// etcd of a CoreDNS that answers the upper one with both.
type relative struct {
	bid     bid
	tree    string // the prefix of the keys of the bid
	key     nameclaim.Key
	project string
	by      nameclaim.Entry
}

// below tells whether the name that is bid for is the lower one.
func (r relative) below() bool { return strings.HasSuffix(r.bid.key.Name, "."+r.key.Name) }

// upper and lower are the two names.
func (r relative) upper() string {
	if r.below() {
		return r.key.Name
	}
	return r.bid.key.Name
}

func (r relative) lower() string {
	if r.below() {
		return r.bid.key.Name
	}
	return r.key.Name
}

// family are the relatives of bids, and those bids that have too many to judge.
type family struct {
	relatives []relative
	many      []bid
}

// familyOf reads who holds names above or below those that are bid for: by the names
// above each, and by the tree below it.
func (s *Service) familyOf(ctx context.Context, c *claimants, bids []bid) (family, error) {
	bids = slices.DeleteFunc(slices.Clone(bids), func(b bid) bool { return len(b.trees) == 0 })
	if len(bids) == 0 {
		return family{}, nil
	}
	planted, err := s.treePlanted(ctx)
	if err != nil {
		return family{}, err
	}
	keys := keysOf(bids)
	below, many, err := s.names().Below(ctx, planted, keys)
	if err != nil {
		return family{}, err
	}
	around := map[nameclaim.Key][]nameclaim.Key{}
	var all []nameclaim.Key
	for _, key := range keys {
		around[key] = slices.Concat(key.Above(), below[key])
		all = append(all, around[key]...)
	}
	slices.SortFunc(all, compareKeys)
	claims, err := s.names().Read(ctx, slices.Compact(all))
	if err != nil {
		return family{}, err
	}
	var out family
	for _, b := range bids {
		if slices.Contains(many, b.key) {
			out.many = append(out.many, b)
		}
		for _, tree := range b.trees {
			for _, key := range around[b.key] {
				by, held, err := c.holder(ctx, key, claims[key], tree)
				if err != nil {
					return family{}, err
				}
				if held {
					out.relatives = append(out.relatives, relative{bid: b, tree: tree, key: key, project: claims[key].Project, by: by})
				}
			}
		}
	}
	return out, nil
}

// holder is an entry by which a claim is held through a record that keeps names in
// the same etcd as one with a prefix does; one that is published, if there is such.
func (s *claimants) holder(ctx context.Context, key nameclaim.Key, claim nameclaim.Claim, prefix string) (by nameclaim.Entry, held bool, err error) {
	for _, e := range claim.Entries {
		theirs, err := s.prefix(ctx, e.Through)
		if err != nil {
			return by, false, err
		}
		if held && !e.Lasts() || !oneEtcd(prefix, theirs) || !externaldns.MayBeWhole(theirs, key.Name) {
			continue
		}
		is, err := s.of(ctx, key)(e)
		if err != nil {
			return by, false, err
		}
		if is {
			by, held = e, true
		}
	}
	return by, held, nil
}

// oneEtcd tells whether keys with one prefix may lie above or below those with another
// one. Where two records reach their etcd, their documents do not tell: one server has
// several addresses, and one address leads to several servers.
func oneEtcd(one, other string) bool {
	return one != "" && other != "" && (strings.HasPrefix(one, other) || strings.HasPrefix(other, one))
}

// prefix is where in etcd the names of a record are, as it is deployed or, before
// that, as it is stored; empty: they are no keys, or the record is gone.
func (s *claimants) prefix(ctx context.Context, record intent.Path) (string, error) {
	if known, ok := s.prefixes[record]; ok || !IsRecord(record) {
		return known, nil
	}
	l, err := s.recordLifecycle(ctx, record)
	if err != nil {
		return "", err
	}
	spec := l.Record.Spec
	if !l.Deployed {
		doc, err := s.Documents.Get(ctx, record)
		if intent.CodeOf(err) == intent.NotFound {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		stored, err := intent.Of[intent.Record](doc)
		if err != nil {
			return "", err
		}
		spec = stored.Spec
	}
	s.prefixes[record] = keyPrefix(spec)
	return s.prefixes[record], nil
}

// checkSubtrees refuses names that CoreDNS would answer together with names of
// another project, above or below them, and warns of those that are published so
// already, or are all of one project.
func (s *Service) checkSubtrees(ctx context.Context, p *proposal, bids []bid) error {
	c, project := s.claimants(), p.draft.group.Project.Name
	all, err := s.familyOf(ctx, c, bids)
	if err != nil || len(all.relatives)+len(all.many) == 0 {
		p.draft.warnOfSubtrees(ctx, project, bids, nil)
		return err
	}
	granted, err := s.grants(ctx)
	if err != nil {
		return err
	}
	asked := p.draft.asked()
	var shared []relative
	for _, r := range all.relatives {
		mayShare, err := s.mayShare(ctx, c, granted, project, r, p.claims)
		if err != nil {
			return err
		}
		if mayShare {
			shared = append(shared, r)
			continue
		}
		p.draft.failName(asked[r.bid.host], r.refusal(ctx))
	}
	for _, b := range all.many {
		known, err := c.publishedIn(ctx, project, b, b.trees, p.claims)
		if err != nil {
			return err
		}
		if !known && !granted.to(project, b.judged()) {
			p.draft.failName(asked[b.host], fmt.Sprintf("more than %d names lie below %s, and CoreDNS would answer it with them: whose they are is not judged; give the intent another name, or have an administrator grant %s to the project (spec.domains)", nameclaim.MostBelow, b.seen(), b.judged()))
		}
	}
	p.draft.warnOfSubtrees(ctx, project, bids, shared)
	return nil
}

// mayShare tells whether a name may be answered together with a relative: one of the
// project's own, one that domains are granted for, or one that was so before.
func (s *Service) mayShare(ctx context.Context, c *claimants, granted grants, project string, r relative, claims map[nameclaim.Key]nameclaim.Claim) (bool, error) {
	if r.project == project || granted.prefer(r.bid.judged(), project, r.project) {
		return true, nil
	}
	return c.publishedIn(ctx, project, r.bid, []string{r.tree}, claims)
}

// rivals are the bids that may not be answered together with a relative of another
// project, as far as its entry counts. It is asked once the bids are claimed: of two
// projects that claim an upper and a lower name at once, the later one sees the other.
func (s *Service) rivals(ctx context.Context, project string, bids []bid, claims map[nameclaim.Key]nameclaim.Claim, counts func(nameclaim.Entry) bool) ([]string, error) {
	c := s.claimants()
	all, err := s.familyOf(ctx, c, bids)
	if err != nil || len(all.relatives) == 0 {
		return nil, err
	}
	granted, err := s.grants(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range all.relatives {
		mayShare, err := s.mayShare(ctx, c, granted, project, r, claims)
		if err != nil {
			return nil, err
		}
		if !mayShare && counts(r.by) {
			out = append(out, r.bid.String())
		}
	}
	return out, nil
}

// besideOthers refuses to have names that are published otherwise become keys of an
// etcd, where they would be answered together with names of other projects.
func (s *Service) besideOthers(ctx context.Context, p *recordProposal) ([]intent.Field, error) {
	prefix := keyPrefix(p.frozen.Spec)
	if !p.before.Deployed || prefix == "" || keyPrefix(p.before.Record.Spec) != "" {
		return nil, nil
	}
	users, err := s.deployed(ctx, p.frozen.Path)
	if err != nil {
		return nil, err
	}
	var out []intent.Field
	for _, path := range slices.Sorted(maps.Keys(users)) {
		g, err := s.before(ctx, users[path])
		if intent.CodeOf(err) == intent.NotFound {
			continue // many have followed it meanwhile
		}
		if err != nil {
			return nil, err
		}
		for n := range g.Bindings {
			if g.Bindings[n].Prefix = ""; recordPath(g, g.Bindings[n]) == p.frozen.Path {
				g.Bindings[n].Prefix = prefix
			}
		}
		names, err := s.rivals(ctx, g.Project.Name, bidsOf(g), nil, func(nameclaim.Entry) bool { return true })
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			out = append(out, intent.Field{
				Pointer: string(p.frozen.Path) + "#/spec/provider",
				Detail:  fmt.Sprintf("%s of %s: names above or below are another project's, and CoreDNS answers a name with all names below it; make a record with that provider, and associate it", few(names), path),
			})
		}
	}
	return out, nil
}

// publishedIn tells whether a project publishes a name already, as keys below each of
// some prefixes.
func (s *claimants) publishedIn(ctx context.Context, project string, b bid, trees []string, claims map[nameclaim.Key]nameclaim.Claim) (bool, error) {
	key := nameclaim.Key{View: b.key.View, Name: b.host} // which has a claim also where an earlier Signpost made it
	if claims[key].Project != project {
		return false, nil
	}
	in := map[string]bool{}
	for _, e := range claims[key].Entries {
		if !e.Lasts() {
			continue
		}
		prefix, err := s.prefix(ctx, e.Through)
		if err != nil {
			return false, err
		}
		held, err := s.of(ctx, key)(e)
		if err != nil {
			return false, err
		}
		in[prefix] = in[prefix] || held
	}
	return !slices.ContainsFunc(trees, func(tree string) bool { return !in[tree] }), nil
}

// judged is the name of a bid by which domains judge it.
func (b bid) judged() string {
	return strings.TrimPrefix(externaldns.SeenAs(b.prefix, b.host).Name, "*.")
}

// refusal says why a name cannot be had beside a relative, and which grant would
// change that.
func (r relative) refusal(ctx context.Context) string {
	whose := "another project's"
	if intent.By(ctx).Sees(r.project) {
		whose = fmt.Sprintf("project %q's", r.project)
	}
	grant := r.bid.judged()
	if r.below() {
		return fmt.Sprintf("%s lies below %q, which is %s: CoreDNS answers that with all names below it; give the intent another name, or have an administrator grant %s to this project alone (spec.domains)", r.bid.seen(), r.key.Name, whose, grant)
	}
	return fmt.Sprintf("%s lies above %q, which is %s: CoreDNS would answer it with that, too; give the intent another name, or have an administrator grant %s to this project alone (spec.domains)", r.bid.seen(), r.key.Name, whose, grant)
}

// mostWarnings is how many names a plan warns of one by one.
const mostWarnings = 10

// warnOfSubtrees says what resolvers get for names that CoreDNS answers together
// with others: those of the draft itself, and those that are held elsewhere.
func (d *draft) warnOfSubtrees(ctx context.Context, project string, bids []bid, held []relative) {
	own, below := map[nameclaim.Key]bool{}, map[string]nameSet{}
	for _, b := range bids {
		own[b.key] = len(b.trees) > 0
	}
	add := func(upper, lower string) {
		if below[upper] == nil {
			below[upper] = nameSet{}
		}
		below[upper][lower] = true
	}
	for _, b := range bids {
		for _, above := range b.key.Above() {
			if own[b.key] && own[above] {
				add(above.Name, b.key.Name)
			}
		}
	}
	for _, r := range held {
		if !own[r.key] {
			add(r.upper(), r.lower()+r.whose(ctx, project))
		}
	}
	for n, upper := range slices.Sorted(maps.Keys(below)) {
		if n == mostWarnings {
			d.warn("so it is with %d more names", len(below)-n)
			break
		}
		d.warn("resolvers that ask for %s get the addresses of %s, too: CoreDNS answers a name with all names below it", upper, few(slices.Sorted(maps.Keys(below[upper]))))
	}
}

// whose says of a relative of another project that it is one.
func (r relative) whose(ctx context.Context, project string) string {
	switch {
	case r.project == project:
		return ""
	case intent.By(ctx).Sees(r.project):
		return fmt.Sprintf(" (%s is project %q's)", r.key.Name, r.project)
	}
	return fmt.Sprintf(" (%s is another project's)", r.key.Name)
}
