package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/handover"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/ledger"
	"github.com/signpost-dns/signpost/pkg/observed"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
)

// Abandon lets go of a cluster that never comes back, until its document is
// deleted, and answers what is left behind there: it is drained, nobody serves
// it, and nobody waits for it. It is idempotent. Conflict when a name would be
// left without any address, unless forced, and NotFound when there is no such
// cluster.
func (s *Service) Abandon(ctx context.Context, cluster intent.Path, force bool, actor string) ([]intent.LeftBehind, error) {
	if err := s.drainCluster(ctx, cluster, force, actor); err != nil {
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
	left, err := s.leftBehind(ctx, name)
	if err != nil {
		return nil, err
	}
	s.Logger.InfoContext(ctx, "cluster is abandoned", "cluster", name, "leftBehind", len(left), "forced", force, "actor", actor)
	s.tellOf(ctx, cluster, intent.Abandon, actor)
	return left, s.eachGroup(ctx, cluster, func(group intent.Path, _ Lifecycle) { s.wake(group) })
}

func (s *Service) leftBehind(ctx context.Context, cluster string) ([]intent.LeftBehind, error) {
	ids, err := s.Ledger.LeftBehind(ctx, cluster)
	left := make([]intent.LeftBehind, 0, len(ids))
	for _, id := range ids {
		left = append(left, intent.LeftBehind{Kind: id.Kind, Namespace: id.Namespace, Name: id.Name})
	}
	return left, err
}

// Abandoned says since when a cluster is abandoned, nil when it is not. With
// the document that was abandoned, the abandonment ends: whoever finds that
// lifts it, and the name starts over.
func (s *Service) Abandoned(ctx context.Context, cluster intent.Path) (*intent.Abandoned, error) {
	a, err := s.Ledger.Abandoned(ctx, intent.ClusterOf(cluster).String())
	if a == nil || err != nil {
		return nil, err
	}
	doc, err := s.Documents.Get(ctx, cluster)
	switch {
	case err != nil && intent.CodeOf(err) != intent.NotFound:
		return nil, err
	case err == nil && doc.UID == a.UID:
		return &a.Abandoned, nil
	}
	s.Logger.InfoContext(ctx, "the document of an abandoned cluster is gone", "cluster", a.Cluster)
	return nil, s.Ledger.Lift(ctx, *a, observed.Forget(a.Cluster), handover.Forget(a.Cluster))
}

// abandoned says whether a cluster ("provider+cluster") is.
func (s *Service) abandoned(ctx context.Context, cluster string) (bool, error) {
	ref, _ := intent.ParseCluster(cluster)
	a, err := s.Abandoned(ctx, ref.Path())
	return a != nil, err
}

// unattended says whether the external-dns of a record may run on where nobody can
// end it: on its cluster, which is abandoned, or in a home that is, and that the
// record has left before its external-dns was seen to end there.
func (s *Service) unattended(ctx context.Context, record plan.Record, scope intent.Scope, cluster string) (bool, error) {
	all, err := s.Ledger.Abandonments(ctx)
	if err != nil {
		return false, err
	}
	for _, a := range all {
		abandoned, err := s.abandoned(ctx, a.Cluster)
		if err != nil {
			return false, err
		}
		switch {
		case !abandoned:
		case a.Cluster == cluster:
			return true, nil
		case scope == intent.Public:
			left, err := s.Ledger.LeftBehind(ctx, a.Cluster)
			runs := bundle.ID{
				Cluster: a.Cluster, Group: "apps", Kind: "Deployment",
				Namespace: record.Project.Namespace, Name: provider.DeploymentName(record.Name, scope),
			}
			if err != nil || slices.Contains(left, runs) {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// LiftAbandoned ends the abandonment of clusters whose documents are gone, or
// are others by now.
func (s *Service) LiftAbandoned(ctx context.Context) error {
	all, err := s.Ledger.Abandonments(ctx)
	for _, a := range all {
		_, liftErr := s.abandoned(ctx, a.Cluster)
		err = errors.Join(err, liftErr)
	}
	return err
}

const abandonedRemedy = "is abandoned: nobody serves it; place this elsewhere, or delete the cluster's document and register it again"

// checkAbandoned refuses clusters that nobody serves, where Signpost pushes
// something.
func (s *Service) checkAbandoned(ctx context.Context, d *draft) error {
	all, err := s.Ledger.Abandonments(ctx)
	if err != nil {
		return err
	}
	pushed := reached(d.group)
	for _, a := range all {
		if !pushed[a.Cluster] {
			continue
		}
		abandoned, err := s.abandoned(ctx, a.Cluster)
		if err != nil {
			return err
		}
		if ref, _ := intent.ParseCluster(a.Cluster); abandoned {
			d.fail(ref.Path(), "", "cluster %s %s", a.Cluster, abandonedRemedy)
		}
	}
	return nil
}

// deadHome refuses a home that nobody serves for what is deployed of a record.
func (s *Service) deadHome(ctx context.Context, p *recordProposal) ([]intent.Field, error) {
	if !p.before.Deployed || p.frozen.Home == nil {
		return nil, nil
	}
	home := p.frozen.Home.String()
	abandoned, err := s.abandoned(ctx, home)
	if !abandoned || err != nil {
		return nil, err
	}
	return []intent.Field{{Pointer: string(p.frozen.Path) + "#/spec/deployOn", Detail: fmt.Sprintf("cluster %s %s", home, abandonedRemedy)}}, nil
}

// leaveBehind tells in words where changes would delete objects and nobody
// does.
func (s *Service) leaveBehind(ctx context.Context, changes []bundle.Change) ([]string, error) {
	var clusters, out []string
	for _, c := range changes {
		if c.Action == bundle.Delete {
			clusters = append(clusters, c.ID.Cluster)
		}
	}
	slices.Sort(clusters)
	for _, cluster := range slices.Compact(clusters) {
		abandoned, err := s.abandoned(ctx, cluster)
		if err != nil {
			return nil, err
		}
		if abandoned {
			out = append(out, fmt.Sprintf("cluster %s is abandoned: nothing is deleted there, and names that its external-dns has published stay", cluster))
		}
	}
	return out, nil
}
