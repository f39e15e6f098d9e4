package query

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// claimsAtOnce is how many names are looked up together.
const claimsAtOnce = 500

// Unmanaged returns a page of the sets that the zones of a provider have, and that nobody publishes by Signpost. A page
// has at most limit sets, and begins behind an earlier one. Conflict if the zones cannot be read, Unavailable if their
// servers do not answer now, and Invalid for an after that no page had.
func (s *Reader) Unmanaged(ctx context.Context, record intent.Path, limit int, after string) (intent.UnmanagedPage, error) {
	page := intent.UnmanagedPage{Items: []intent.UnmanagedSet{}}
	behind, err := placeOf(after)
	if err != nil {
		return page, err
	}
	frozen, err := s.frozen(ctx, record)
	if err != nil {
		return page, err
	}
	if s.ListZone == nil {
		return page, &intent.Error{Code: intent.Conflict, Detail: "plans read no zones"}
	}
	of := provider.PublisherOf(plan.Provider{Record: frozen, Scope: intent.Public})
	sets, err := s.ListZone(ctx, record.Segment("projects"), of, after != "")
	if err != nil {
		return page, unreadable(frozen, err)
	}
	judge, err := s.judgeOf(ctx, frozen, of.OwnerID)
	if err != nil {
		return page, err
	}
	sets = sets[sort.Search(len(sets), func(n int) bool { return placed(sets[n]) > behind }):]
	for len(sets) > 0 && len(page.Items) <= limit {
		part := sets[:min(claimsAtOnce, len(sets))]
		sets = sets[len(part):]
		found, err := judge.of(ctx, part)
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, found...)
	}
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		last := page.Items[limit-1]
		page.Continue = base64.RawURLEncoding.EncodeToString([]byte(last.Name + " " + last.Type))
	}
	return page, nil
}

// placed is where a set stands in the order of sets.
func placed(set publisher.Set) string { return set.Name + " " + set.Type }

// placeOf reads where a page ended; empty for the first page.
func placeOf(after string) (string, error) {
	place, err := base64.RawURLEncoding.DecodeString(after)
	if name, kind, is := strings.Cut(string(place), " "); err != nil || after != "" && (!is || name == "" || kind == "") {
		return "", &intent.Error{Code: intent.Invalid, Detail: "it is not the end of a page of records", Err: err}
	}
	return string(place), nil
}

// frozen is a provider as its document says now.
func (s *Reader) frozen(ctx context.Context, record intent.Path) (plan.Record, error) {
	doc, err := s.Documents.Get(ctx, record)
	if err != nil {
		return plan.Record{}, err
	}
	before, err := s.RecordLifecycle(ctx, record)
	if err != nil {
		return plan.Record{}, err
	}
	return s.Freeze(doc, plan.Project{Name: record.Segment("projects")}, before.Record.Home, before)
}

// unreadable says why the zones of a provider cannot be read, and what would allow it.
func unreadable(record plan.Record, err error) error {
	const soon = 5 * time.Second
	detail := "the zones of provider " + record.Name + " cannot be read: " + err.Error()
	failed, known := errors.AsType[*fault.Error](err)
	switch {
	case !known:
		return err
	case failed.Fault == fault.Unreachable:
		return &intent.Error{Code: intent.Unavailable, Detail: detail, RetryAfter: soon, Err: err}
	case failed.Fault == publisher.Invalid && len(inClusterSecrets(record.Spec)) > 0:
		detail += "; give the value of " + strings.Join(inClusterSecrets(record.Spec), ", ") + " here, because Signpost does not read Secrets of clusters"
	}
	return &intent.Error{Code: intent.Conflict, Detail: detail, Err: err}
}

// inClusterSecrets are the credentials of a provider that stand in Secrets of clusters.
func inClusterSecrets(spec intent.Record) []string {
	var names []string
	for _, c := range spec.Credentials {
		if c.ValueRef == "" {
			names = append(names, c.Environment+c.File)
		}
	}
	return names
}

// unmanagedJudge tells which sets of a provider's zones nobody publishes.
type unmanagedJudge struct {
	*Reader

	project  string
	owner    string // the provider's own owner id
	binding  plan.Binding
	coverage externaldns.Coverage
	reverse  bool                   // external-dns makes PTR records of its addresses
	isOthers func(name string) bool // whether it lies in a domain that is granted to others

	// The clusters whose own names the provider publishes with the same owner id; nil: they have ids of their own.
	clusters func() ([]string, error)
}

func (s *Reader) judgeOf(ctx context.Context, record plan.Record, owner string) (unmanagedJudge, error) {
	project := record.Path.Segment("projects")
	isOthers, err := s.Tenancy.Ownership.GrantedToOthers(ctx, project)
	var clusters func() ([]string, error)
	if externaldns.Value(record.Spec.Parameters, "txt-owner-id") != "" {
		clusters = sync.OnceValues(func() ([]string, error) { return s.clustersOf(ctx, record.Path) })
	}
	return unmanagedJudge{
		Reader: s, project: project, owner: owner, isOthers: isOthers, clusters: clusters,
		binding:  plan.Binding{Scope: intent.Public, View: state.PrivateScopes(record.Spec), Prefix: state.KeyPrefix(record.Spec)},
		coverage: externaldns.NewCoverage(record.Spec.Provider, record.Spec.Parameters),
		reverse:  len(externaldns.ReverseZones(externaldns.Record{Provider: record.Spec.Provider, Parameters: record.Spec.Parameters})) > 0,
	}, err
}

// covers tells whether a set may be the provider's business. Other providers of this installation publish what they have
// marked, also for single clusters.
func (s unmanagedJudge) covers(set publisher.Set) bool {
	own := set.Mark.Owner == s.owner
	switch {
	case !s.coverage.Covers(set.Name), slices.ContainsFunc(externaldns.Names(s.binding.Prefix, set.Name), s.isOthers):
		return false
	case !own && strings.HasPrefix(set.Mark.Owner, plan.OwnerID(s.Installation, "")):
		return false
	}
	return set.Type != "PTR" || !own || !s.reverse
}

// of are those of the sets that nobody publishes.
func (s unmanagedJudge) of(ctx context.Context, sets []publisher.Set) ([]intent.UnmanagedSet, error) {
	left, err := s.notGiven(ctx, slices.DeleteFunc(slices.Clone(sets), func(set publisher.Set) bool { return !s.covers(set) }), s.binding)
	if err != nil {
		return nil, err
	}
	if left, err = s.notClusters(ctx, left); err != nil {
		return nil, err
	}
	var out []intent.UnmanagedSet
	for _, set := range left {
		out = append(out, intent.UnmanagedSet{Name: set.Name, Type: set.Type, Values: set.Targets, TTL: set.TTL, Owner: set.Mark.Owner})
	}
	return out, nil
}

// notGiven are those of the sets that nobody publishes in the views of a binding.
func (s unmanagedJudge) notGiven(ctx context.Context, sets []publisher.Set, in plan.Binding) ([]publisher.Set, error) {
	var keys []nameclaim.Key
	for _, set := range sets {
		keys = append(keys, state.KeysIn(in, set.Name)...)
	}
	slices.SortFunc(keys, func(a, b nameclaim.Key) int { return strings.Compare(a.View+" "+a.Name, b.View+" "+b.Name) })
	claims, err := s.Tenancy.Ownership.Names().Read(ctx, slices.Compact(keys))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(sets, func(set publisher.Set) bool {
		given := func(key nameclaim.Key) bool { return s.gives(claims[key], set) }
		return slices.ContainsFunc(state.KeysIn(in, set.Name), given)
	}), nil
}

// notClusters are those of the sets that are not single clusters' own names. With an owner id of its own, the provider
// marks these as it marks public names.
func (s unmanagedJudge) notClusters(ctx context.Context, sets []publisher.Set) ([]publisher.Set, error) {
	own := func(set publisher.Set) bool { return set.Mark.Owner == s.owner }
	if s.clusters == nil || !slices.ContainsFunc(sets, own) {
		return sets, nil
	}
	clusters, err := s.clusters()
	if err != nil {
		return nil, err
	}
	marked := slices.DeleteFunc(slices.Clone(sets), func(set publisher.Set) bool { return !own(set) })
	for _, cluster := range clusters {
		in := plan.Binding{Scope: intent.ClusterScope, Cluster: cluster, Prefix: s.binding.Prefix}
		if marked, err = s.notGiven(ctx, marked, in); err != nil {
			return nil, err
		}
	}
	remains := map[string]bool{}
	for _, set := range marked {
		remains[placed(set)] = true
	}
	return slices.DeleteFunc(sets, func(set publisher.Set) bool { return own(set) && !remains[placed(set)] }), nil
}

// clustersOf are the clusters whose own names a provider publishes.
func (s *Reader) clustersOf(ctx context.Context, record intent.Path) ([]string, error) {
	found := map[string]bool{}
	err := s.EachGroup(ctx, record, func(_ intent.Path, l state.Lifecycle) {
		for _, use := range l.Uses {
			if use.Record == record && use.Scope == intent.ClusterScope {
				found[use.Cluster] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(found)), err
}

// gives tells whether the holders of a claim publish a set. All sets of a name that another project has are that
// project's. In this project, those are published that the provider has marked, and those of the types that the holders
// give addresses by.
func (s unmanagedJudge) gives(claim nameclaim.Claim, set publisher.Set) bool {
	if len(claim.Entries) == 0 {
		return false
	}
	if claim.Project != s.project || set.Mark.Owner == s.owner || strings.HasPrefix(set.Mark.Owner, plan.OwnerID(s.Installation, "")) {
		return true
	}
	return slices.ContainsFunc(claim.Entries, func(e nameclaim.Entry) bool {
		if len(e.Types) == 0 {
			return slices.Contains(publisher.Managed(), set.Type)
		}
		return slices.Contains(e.Types, set.Type)
	})
}
