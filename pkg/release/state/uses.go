package state

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Users lists the groups whose releases rely on a record.
func (s *Store) Users(ctx context.Context, record intent.Path) ([]intent.Use, error) {
	if _, err := s.Documents.Get(ctx, record); err != nil {
		return nil, err
	}
	out := []intent.Use{}
	err := s.EachGroup(ctx, record, func(group intent.Path, l Lifecycle) {
		use := intent.Use{DeploymentIntentGroup: string(group)}
		for _, u := range l.Uses {
			if u.Record == record && !slices.Contains(use.Clusters, intent.HomeWord(u.Cluster)) {
				use.Clusters = append(use.Clusters, intent.HomeWord(u.Cluster))
			}
		}
		if len(use.Clusters) > 0 {
			out = append(out, use)
		}
	})
	return out, err
}

// UsersOf are the groups that rely on one external-dns, ordered. They are derived from
// the current releases, never counted. It also answers how many groups no longer want the
// external-dns but may still have names that it publishes.
func (s *Store) UsersOf(ctx context.Context, use Use) (users []string, leavers int, err error) {
	err = s.EachGroup(ctx, use.Record, func(group intent.Path, l Lifecycle) {
		switch {
		case slices.Contains(l.Uses, use):
			users = append(users, string(group))
		case slices.Contains(l.Leaving, use):
			leavers++
		}
	})
	return users, leavers, err
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

// GroupsUsing are the deployment intent groups that rely on one external-dns, ordered.
// Names are not among them, and are not read: there may be very many.
func GroupsUsing(ctx context.Context, s *Store, use Use) ([]string, error) {
	var groups []string
	err := each(ctx, s, use.Record, false, func(group intent.Path, l Lifecycle) {
		if slices.Contains(l.Uses, use) {
			groups = append(groups, string(group))
		}
	})
	return groups, err
}

// EachGroup visits the lifecycles of the groups that refer to a record or to a
// cluster, in order of their paths.
func (s *Store) EachGroup(ctx context.Context, to intent.Path, visit func(group intent.Path, l Lifecycle)) error {
	return each(ctx, s, to, true, visit)
}

// each visits the lifecycles of the groups, and of names if asked for, that refer to a
// document. It reads many at once.
func each(ctx context.Context, s *Store, to intent.Path, names bool, visit func(owner intent.Path, l Lifecycle)) error {
	referrers, err := s.Documents.Referrers(ctx, to)
	if err != nil {
		return err
	}
	referrers = slices.DeleteFunc(referrers, func(from intent.Path) bool {
		owner := OwnerOf(from)
		return owner == from || IsRecord(owner) || !names && intent.IsName(owner)
	})
	for some := range slices.Chunk(referrers, kv.MaxOps) {
		docs, err := s.Documents.GetAll(ctx, some)
		if err != nil {
			return err
		}
		for _, doc := range docs {
			l := Lifecycle{Revision: doc.Revision, Schema: doc.Schema}
			if err := json.Unmarshal(doc.Body, &l); err != nil {
				return err
			}
			visit(OwnerOf(doc.Path), l)
		}
	}
	return nil
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
// removes the names: as the record says, else twice its interval and a minute, after
// which it has looked again at an API server that was away. External-dns' coredns
// provider removes one target of a name in each interval. So a name with more targets
// needs an interval for each, and one to spare.
func ReleaseTimeout(r plan.Record, targets int) time.Duration {
	if timeout, err := time.ParseDuration(r.Spec.ReleaseTimeout); err == nil && timeout > 0 {
		return timeout
	}
	rounds := 2
	if r.Spec.Provider == "coredns" {
		rounds = max(rounds, targets+1)
	}
	return time.Duration(rounds)*externaldns.Interval(r.Spec.Parameters, r.Interval) + time.Minute
}
