package state

import (
	"cmp"
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Users returns a page of the groups and names whose releases rely on a record, in order.
// The page has at most limit of them, and begins behind an earlier one. The cost follows
// the limit. Invalid for a wrong after.
func (s *Store) Users(ctx context.Context, record intent.Path, limit int, after string) (intent.UsePage, error) {
	page := intent.UsePage{Items: []intent.Use{}}
	last, err := base64.RawURLEncoding.DecodeString(after)
	if err != nil || len(last) > 0 && !strings.HasPrefix(string(last), "projects/") {
		return page, &intent.Error{Code: intent.Invalid, Detail: "it is not the end of a page of users", Err: err}
	}
	if _, err := s.Documents.Get(ctx, record); err != nil {
		return page, err
	}
	more := false
	const beside = 2 // one that is not on the page, and the lifecycle of the provider
	err = eachAfter(ctx, s, record, behind(intent.Path(last)), limit+beside, func(owner intent.Path, l Lifecycle) bool {
		use := intent.Use{DeploymentIntentGroup: string(owner), Clusters: homesOf(l, record)}
		if len(use.Clusters) == 0 {
			return true
		}
		if more = len(page.Items) == limit; !more {
			page.Items = append(page.Items, use)
		}
		return !more
	})
	if more {
		page.Continue = base64.RawURLEncoding.EncodeToString([]byte(page.Items[limit-1].DeploymentIntentGroup))
	}
	return page, err
}

// homesOf are the clusters whose external-dns of a record an owner uses.
func homesOf(l Lifecycle, record intent.Path) (homes []string) {
	for _, u := range l.Uses {
		if word := intent.HomeWord(u.Cluster); u.Record == record && !slices.Contains(homes, word) {
			homes = append(homes, word)
		}
	}
	return homes
}

// mostUsers is how many users of an external-dns are read: one more than are told of, and
// one that may be left out. A page of referrers has them all, and the lifecycle of the
// provider.
const (
	mostUsers  = provider.ListedUsers + 2
	pageOfUses = mostUsers + 1
)

// FirstUsers are the first groups and names that rely on one external-dns, ordered. They
// are derived from the current releases, never counted. Without any user, leaving tells
// whether owners that no longer want the external-dns may still have names that it
// publishes. The cost does not grow with the number of users.
func (s *Store) FirstUsers(ctx context.Context, use Use) (users []string, leaving bool, err error) {
	err = each(ctx, s, use.Record, pageOfUses, func(owner intent.Path, l Lifecycle) (more bool) {
		switch {
		case slices.Contains(l.Uses, use):
			users = append(users, string(owner))
		case slices.Contains(l.Leaving, use):
			leaving = true
		}
		return len(users) < mostUsers
	})
	return users, leaving, err
}

// Used tells whether a release relies on a record.
func Used(ctx context.Context, s *Store, record intent.Path) (used bool, err error) {
	err = each(ctx, s, record, pageOfUses, func(_ intent.Path, l Lifecycle) (more bool) {
		used = slices.ContainsFunc(l.Uses, func(u Use) bool { return u.Record == record })
		return !used
	})
	return used, err
}

// Deployed are the groups with a current release that refer to a record or to a
// cluster.
func (s *Store) Deployed(ctx context.Context, to intent.Path) (map[intent.Path]Lifecycle, error) {
	groups := map[intent.Path]Lifecycle{}
	err := s.EachGroup(ctx, to, func(group intent.Path, l Lifecycle) {
		if l.Deployed() {
			groups[group] = l
		}
	})
	return groups, err
}

// DeployedOn are the groups and names with a current release that have addresses of clusters
// ("provider+cluster"), or their external-dns there. Names that choose clusters by labels refer
// to none: their app contexts tell. All contexts are read for that.
func DeployedOn(ctx context.Context, s *Store, clusters ...string) (map[intent.Path]Lifecycle, error) {
	owners := map[intent.Path]Lifecycle{}
	for _, cluster := range clusters {
		refer, err := s.Deployed(ctx, intent.ClusterPath(cluster))
		if err != nil {
			return nil, err
		}
		maps.Copy(owners, refer)
	}
	pointers, _, err := s.Contexts.Pointers(ctx)
	if err != nil {
		return nil, err
	}
	var choosing []intent.Path
	for _, p := range pointers {
		name := intent.Path(p.Owner)
		asks := func(cluster string) bool { return len(p.Services[cluster]) > 0 }
		if _, known := owners[name]; !known && intent.IsName(name) && slices.ContainsFunc(clusters, asks) {
			choosing = append(choosing, LifecyclePath(name))
		}
	}
	for paths := range slices.Chunk(choosing, kv.MaxOps) {
		docs, err := s.Documents.GetAll(ctx, paths)
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			l, err := ReadLifecycle(doc)
			if err != nil {
				return nil, err
			}
			if l.Deployed() {
				owners[OwnerOf(doc.Path)] = l
			}
		}
	}
	return owners, nil
}

// EachRelease visits the releases of deployed groups, in order of their paths. A release
// that is gone is left out, because others have followed it meanwhile.
func (s *Store) EachRelease(ctx context.Context, groups map[intent.Path]Lifecycle, visit func(l Lifecycle, g plan.Group)) error {
	for paths := range slices.Chunk(slices.Sorted(maps.Keys(groups)), kv.MaxOps) {
		var ids []string
		for _, path := range paths {
			ids = append(ids, groups[path].ContextID)
		}
		releases, err := s.LoadReleases(ctx, ids)
		if err != nil {
			return err
		}
		for _, path := range paths {
			if release, there := releases[groups[path].ContextID]; there {
				visit(groups[path], release.Group)
			}
		}
	}
	return nil
}

// lifecyclesAtOnce is how many lifecycles are in memory at once. Each page of them costs etcd a look at all referrers.
const lifecyclesAtOnce = 500

// EachGroup visits the lifecycles of the groups that refer to a record or to a
// cluster, in order of their paths.
func (s *Store) EachGroup(ctx context.Context, to intent.Path, visit func(group intent.Path, l Lifecycle)) error {
	return each(ctx, s, to, lifecyclesAtOnce, func(owner intent.Path, l Lifecycle) bool { visit(owner, l); return true })
}

// EachUser visits the paths of the groups and names that refer to a record, in order, a page at a time.
func EachUser(ctx context.Context, s *Store, record intent.Path, visit func(owners []intent.Path)) error {
	return eachReferrer(ctx, s, record, beforeLifecycles, intent.PageItems, func(lifecycles []intent.Path) (bool, error) {
		owners := make([]intent.Path, len(lifecycles))
		for n, path := range lifecycles {
			owners[n] = OwnerOf(path)
		}
		visit(owners)
		return true, nil
	})
}

// UsersBehind are the first groups and names that use a record's public scope, in order, behind one of them, and no more than
// limit. An empty path is before all of them.
func UsersBehind(ctx context.Context, s *Store, record, last intent.Path, limit int) (map[intent.Path]Lifecycle, error) {
	users := map[intent.Path]Lifecycle{}
	err := eachAfter(ctx, s, record, behind(last), limit+1, func(owner intent.Path, l Lifecycle) bool {
		if l.UsesPublic(record) {
			users[owner] = l
		}
		return len(users) < limit
	})
	return users, err
}

// UsesPublic tells whether the owner uses a record's public scope.
func (l *Lifecycle) UsesPublic(record intent.Path) bool {
	return slices.ContainsFunc(l.Uses, func(u Use) bool { return u.Record == record && u.Scope == intent.Public })
}

// each visits the lifecycles of the groups and names that refer to a document, in order,
// until visit wants no more. It reads them in pages.
func each(ctx context.Context, s *Store, to intent.Path, page int, visit func(owner intent.Path, l Lifecycle) (more bool)) error {
	return eachAfter(ctx, s, to, beforeLifecycles, page, visit)
}

// eachAfter visits those behind a lifecycle.
func eachAfter(ctx context.Context, s *Store, to, after intent.Path, page int, visit func(owner intent.Path, l Lifecycle) (more bool)) error {
	return eachReferrer(ctx, s, to, after, page, func(lifecycles []intent.Path) (bool, error) {
		docs, err := s.Documents.GetAll(ctx, lifecycles)
		if err != nil {
			return false, err
		}
		for _, doc := range docs {
			l, err := ReadLifecycle(doc)
			if err != nil {
				return false, err
			}
			if !visit(OwnerOf(doc.Path), l) {
				return false, nil
			}
		}
		return true, nil
	})
}

// behind is the lifecycle behind which the owners after one begin; empty: all owners.
func behind(last intent.Path) intent.Path {
	if last == "" {
		return beforeLifecycles
	}
	return LifecyclePath(last)
}

// beforeLifecycles comes before the paths of all lifecycles.
const beforeLifecycles = intent.Path(intent.LifecycleCollection + "/")

// eachReferrer visits pages of the lifecycles behind a path that refer to a document, except
// those of providers.
func eachReferrer(ctx context.Context, s *Store, to, after intent.Path, page int, visit func(lifecycles []intent.Path) (more bool, err error)) error {
	for {
		found, err := s.Documents.ReferrersAfter(ctx, to, after, page)
		if err != nil || len(found) == 0 {
			return err
		}
		last := len(found) < page
		after = found[len(found)-1]
		lifecycles := slices.DeleteFunc(found, func(from intent.Path) bool {
			owner := OwnerOf(from)
			last = last || owner == from // lifecycles are together
			return owner == from || IsRecord(owner)
		})
		if len(lifecycles) > 0 {
			if more, err := visit(lifecycles); err != nil || !more {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

// CompareUses orders uses by provider, scope, then cluster.
func CompareUses(a, b Use) int {
	return cmp.Or(cmp.Compare(a.Record, b.Record), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Cluster, b.Cluster))
}

// The texts about owner ids.
const (
	OwnerIDParameter = "txt-owner-id"
	AtOwnerID        = "/spec/external-dns-parameters/" + OwnerIDParameter

	GeneratedForm = "has the form of Signpost's generated owner ids, and may belong to another provider; remove it"
)

// Seen names a use as far as who asks may know of it.
func (u Use) Seen(ctx context.Context) string {
	record := intent.By(ctx).Names(u.Record)
	if record == string(u.Record) {
		return record + " on " + u.Cluster
	}
	return record
}

// OwnOwnerID is the owner id that a record's user has set, if any.
func OwnOwnerID(r intent.Record) string {
	return externaldns.Value(r.Parameters, OwnerIDParameter)
}

// UseOf is the external-dns in a cluster that publishes names of a group.
func UseOf(group intent.Path, cluster string, p *bundle.Published) Use {
	record := intent.Join("projects", group.Segment("projects"), "dns-update-records", p.Record)
	return Use{Record: record, Scope: intent.Scope(p.Scope), Cluster: cluster}
}

// ReleaseTimeout is how long an external-dns outlives the last DNSEndpoint, so that it
// removes the names. If the record does not say, it is twice its interval and a minute.
// By then external-dns has looked again at an API server that was away. With coredns,
// it removes one target of a name in each interval. So a name with more targets needs an
// interval for each, and one to spare. Signpost's own publisher has time to take
// over from one that was killed, even if the record allows less.
func ReleaseTimeout(r plan.Record, targets int) time.Duration {
	timeout := releaseTimeout(r, targets)
	if r.Spec.DeployOn.BuiltIn() {
		return max(timeout, publisherTakeover)
	}
	return timeout
}

// publisherTakeover is the least time for a publisher to remove names. It may write after
// 25 seconds (ADR 0061), and needs two requests, to read the zone and to write.
const publisherTakeover = 45 * time.Second

func releaseTimeout(r plan.Record, targets int) time.Duration {
	if timeout, err := time.ParseDuration(r.Spec.ReleaseTimeout); err == nil && timeout > 0 {
		return timeout
	}
	rounds := 2
	if externaldns.RemovesSlowly(r.Spec.Provider) {
		rounds = max(rounds, targets+1)
	}
	return time.Duration(rounds)*externaldns.Interval(r.Spec.Parameters, r.Interval) + time.Minute
}
