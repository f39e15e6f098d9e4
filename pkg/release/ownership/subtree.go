package ownership

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// family are the relatives of requests, and those requests that have too many to judge.
type family struct {
	relatives []resolve.Relative
	many      []resolve.ClaimRequest
	none      []kv.Compare // conditions that hold as long as there are no claims above or below, if there are none; nil else
}

// familyOf reads who holds names above or below those that are asked for: by the names
// above each, and by the tree below it.
func (s *Registry) familyOf(ctx context.Context, c *claimHolders, requests []resolve.ClaimRequest) (family, error) {
	requests = slices.DeleteFunc(slices.Clone(requests), func(b resolve.ClaimRequest) bool { return len(b.Trees) == 0 })
	if len(requests) == 0 {
		return family{}, nil
	}
	keys := keysOf(requests)
	lower, err := s.Names().Below(ctx, keys)
	if err != nil {
		return family{}, err
	}
	around := map[nameclaim.Key][]nameclaim.Key{}
	var all []nameclaim.Key
	for _, key := range keys {
		around[key] = slices.Concat(key.Above(), lower.Names[key])
		all = append(all, around[key]...)
	}
	slices.SortFunc(all, resolve.CompareKeys)
	claims, err := s.Names().Read(ctx, slices.Compact(all))
	if err != nil {
		return family{}, err
	}
	var out family
	if len(claims)+len(lower.Many) == 0 {
		out.none = nameclaim.Unrelated(keys, lower.Revision)
	}
	for _, b := range requests {
		if slices.Contains(lower.Many, b.Key) {
			out.many = append(out.many, b)
		}
		for _, tree := range b.Trees {
			for _, key := range around[b.Key] {
				by, held, err := c.holder(ctx, key, claims[key], tree)
				if err != nil {
					return family{}, err
				}
				if held {
					out.relatives = append(out.relatives, resolve.Relative{Request: b, Tree: tree, Key: key, Project: claims[key].Project, By: by})
				}
			}
		}
	}
	return out, nil
}

// holder is an entry that makes a claim a key of the same etcd as those below a prefix,
// if possible a published one. The entry says where its name is a key,
// because the provider may be changed.
func (s *claimHolders) holder(ctx context.Context, key nameclaim.Key, claim nameclaim.Claim, prefix string) (by nameclaim.Entry, held bool, err error) {
	for _, e := range claim.Entries {
		if held && !e.Lasts() || !slices.ContainsFunc(e.Trees, func(theirs string) bool { return oneEtcd(prefix, theirs) }) {
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
// one. The documents of two records do not tell whether they reach one etcd: a server may
// have several addresses, and an address several servers.
func oneEtcd(one, other string) bool {
	return strings.HasPrefix(one, other) || strings.HasPrefix(other, one)
}

// checkSubtrees refuses names that CoreDNS would answer together with names of another
// project, above or below them. It warns of names that are already published so, or that
// all belong to one project.
func (s *Registry) checkSubtrees(ctx context.Context, p *resolve.Proposal, requests []resolve.ClaimRequest) error {
	c, project := s.claimHolders(), p.Draft.Group.Project.Name
	all, err := s.familyOf(ctx, c, requests)
	p.Unrelated = all.none
	if err != nil || len(all.relatives)+len(all.many) == 0 {
		warnOfSubtrees(ctx, p.Draft, project, requests, nil)
		return err
	}
	granted, err := s.grants(ctx)
	if err != nil {
		return err
	}
	asked := p.Draft.Asked()
	var shared []resolve.Relative
	for _, r := range all.relatives {
		mayShare, err := s.mayShare(ctx, c, granted, project, r, p.Claims)
		if err != nil {
			return err
		}
		if mayShare {
			shared = append(shared, r)
			continue
		}
		FailName(p.Draft, asked[r.Request.Host], r.Refusal(ctx))
	}
	for _, b := range all.many {
		known, err := c.publishedIn(ctx, project, b, b.Trees, p.Claims)
		if err != nil {
			return err
		}
		if !known && !granted.to(project, b.Judged()) {
			FailName(p.Draft, asked[b.Host], fmt.Sprintf("more than %d names lie below %s, and CoreDNS would answer it with them, so their owners are not checked; choose another host name, or have an administrator grant %s to the project (spec.domains)", nameclaim.MostBelow, b.Seen(), b.Judged()))
		}
	}
	warnOfSubtrees(ctx, p.Draft, project, requests, shared)
	return nil
}

// mayShare tells whether a name may be answered together with a relative. The relative is
// one of the project's own, one that domains are granted for, or one that was so before.
func (s *Registry) mayShare(ctx context.Context, c *claimHolders, granted grants, project string, r resolve.Relative, claims map[nameclaim.Key]nameclaim.Claim) (bool, error) {
	if r.Project == project || granted.prefer(r.Request.Judged(), project, r.Project) {
		return true, nil
	}
	return c.publishedIn(ctx, project, r.Request, []string{r.Tree}, claims)
}

// rivals are the requests that may not be answered together with a relative of another
// project, as far as its entry counts. It is asked once the requests are claimed. If two
// projects claim an upper and a lower name at once, the later one sees the other.
func (s *Registry) rivals(ctx context.Context, project string, requests []resolve.ClaimRequest, claims map[nameclaim.Key]nameclaim.Claim, counts func(nameclaim.Entry) bool) ([]string, error) {
	c := s.claimHolders()
	all, err := s.familyOf(ctx, c, requests)
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
		if !mayShare && counts(r.By) {
			out = append(out, r.Request.String())
		}
	}
	return out, nil
}

// publishedIn tells whether a project publishes a name already, as a key below each of
// some prefixes.
func (s *claimHolders) publishedIn(ctx context.Context, project string, b resolve.ClaimRequest, trees []string, claims map[nameclaim.Key]nameclaim.Claim) (bool, error) {
	claim := claims[b.Key]
	if claim.Project != project {
		return false, nil
	}
	in := map[string]bool{}
	for _, e := range claim.Entries {
		if !e.Lasts() || len(e.Trees) == 0 {
			continue
		}
		held, err := s.of(ctx, b.Key)(e)
		if err != nil {
			return false, err
		}
		for _, tree := range e.Trees {
			in[tree] = in[tree] || held
		}
	}
	return !slices.ContainsFunc(trees, func(tree string) bool { return !in[tree] }), nil
}

// warnOfSubtrees says what resolvers get for names that CoreDNS answers together with
// others: the names of the draft itself, and names that other groups hold.
func warnOfSubtrees(ctx context.Context, d *resolve.Draft, project string, requests []resolve.ClaimRequest, held []resolve.Relative) {
	own, below := map[nameclaim.Key]bool{}, map[string]state.NameSet{}
	for _, b := range requests {
		own[b.Key] = len(b.Trees) > 0
	}
	add := func(upper, lower string) {
		if below[upper] == nil {
			below[upper] = state.NameSet{}
		}
		below[upper][lower] = true
	}
	for _, b := range requests {
		for _, above := range b.Key.Above() {
			if own[b.Key] && own[above] {
				add(above.Name, b.Key.Name)
			}
		}
	}
	for _, r := range held {
		if !own[r.Key] {
			add(r.Upper(), r.Lower()+r.OwnerNote(ctx, project))
		}
	}
	for n, upper := range slices.Sorted(maps.Keys(below)) {
		if n == resolve.MostWarnings {
			d.Warn("the same holds for %d more names", len(below)-n)
			break
		}
		d.Warn("resolvers that ask for %s get the addresses of %s, too: CoreDNS answers a name with all names below it", upper, state.Few(slices.Sorted(maps.Keys(below[upper]))))
	}
}
