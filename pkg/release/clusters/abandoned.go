package clusters

import (
	"context"
	"errors"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// Abandon gives up a cluster that never comes back, until its document is deleted, and
// answers the objects that stay there. The cluster is drained, no worker serves it, and
// nothing waits for it. It is idempotent. Conflict when a name would be left without any
// address, unless forced, and NotFound when there is no such cluster.
func (s *Operator) Abandon(ctx context.Context, cluster intent.Path, force bool, actor string) ([]intent.LeftBehind, error) {
	if _, err := s.drainCluster(ctx, cluster, intent.DrainOptions{Force: force, Actor: actor}, nil); err != nil {
		return nil, err
	}
	doc, err := s.Documents.Get(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if _, err := s.Abandoned(ctx, cluster); err != nil {
		return nil, err
	}
	name := intent.ClusterOf(cluster).String()
	err = s.Ledger.Abandon(ctx, ledger.Abandonment{
		Abandoned: intent.Abandoned{Since: s.Now().UTC(), Actor: actor}, Cluster: name, UID: doc.UID,
	})
	if err != nil {
		return nil, err
	}
	left, err := s.orphans(ctx, name)
	if err != nil {
		return nil, err
	}
	s.Logger.InfoContext(ctx, "cluster is abandoned", "cluster", name, "leftBehind", len(left), "forced", force, "actor", actor)
	s.Tell(ctx, cluster, intent.Event{Time: s.Now().UTC(), Actor: actor, RequestID: intent.By(ctx).RequestID, Action: intent.Abandon, Outcome: "completed"})
	return left, s.EachGroup(ctx, cluster, func(group intent.Path, _ state.Lifecycle) { s.Wake(group) })
}

func (s *Operator) orphans(ctx context.Context, cluster string) ([]intent.LeftBehind, error) {
	ids, err := s.Ledger.LeftBehind(ctx, cluster)
	left := make([]intent.LeftBehind, 0, len(ids))
	for _, id := range ids {
		left = append(left, intent.LeftBehind{Kind: id.Kind, Namespace: id.Namespace, Name: id.Name})
	}
	return left, err
}

// LiftAbandoned ends the abandonment of clusters whose documents are gone, or
// are others by now.
func (s *Operator) LiftAbandoned(ctx context.Context) error {
	all, err := s.Ledger.Abandonments(ctx)
	for _, a := range all {
		_, liftErr := s.IsAbandoned(ctx, a.Cluster)
		err = errors.Join(err, liftErr)
	}
	return err
}
