package state

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// SetPace chooses how often the external-dns of a record looks, where the record does not
// say. A deployed external-dns keeps its pace until the record is updated: an upgrade of
// Signpost rolls nothing. A pace that was chosen by the size of the zone stays while that
// is not known.
func SetPace(r *plan.Record, size int, before RecordLifecycle) {
	pace := externaldns.PaceOf(r.Spec.Provider, r.Spec.ExtraArgs, size)
	r.Events, r.Interval = pace.Events, pace.Interval
	if same := before.Record.UID == r.UID && before.Record.Spec.Provider == r.Spec.Provider; same && size == 0 {
		r.Interval = before.Record.Interval
	}
}

// ZoneSize is how many names the external-dns of a record read from the DNS provider when
// it was last asked. Of several external-dns the largest number counts; 0 if none is
// known.
func (s *Store) ZoneSize(ctx context.Context, record plan.Record) (int, error) {
	pointers, err := s.Contexts.Below(ctx, appcontext.ProviderOwners(string(record.Path)))
	if err != nil {
		return 0, err
	}
	size := 0
	for _, p := range pointers {
		_, scope, cluster, _ := p.Owner.Provider()
		seen, err := s.Observed.Deployment(ctx, cluster, record.Project.Namespace, provider.DeploymentName(record.Name, intent.Scope(scope)))
		if err != nil {
			return 0, err
		}
		if seen != nil && seen.Sync != nil {
			size = max(size, seen.Sync.Names)
		}
	}
	return size, nil
}

// homeOf is the cluster ("provider+cluster") of a record's home; empty where it has none.
func homeOf(r plan.Record) string {
	if r.Home == nil {
		return ""
	}
	return r.Home.String()
}

// TellAnswers says of the names that come or change how soon their external-dns
// tells the DNS provider of it. When a name goes, depends on how many targets it has.
func TellAnswers(names []intent.NameChange, records map[string]plan.Record) {
	within := map[string]string{}
	for name, r := range records {
		if wait := provider.AnswerWithin(plan.Provider{Record: r, Scope: intent.Public, Cluster: homeOf(r)}); wait > 0 {
			within[name] = wait.String()
		}
	}
	for i, n := range names {
		if (n.Action == "create" || n.Action == "update") && len(n.Targets) > 0 {
			names[i].AnsweredWithin = within[n.Record]
		}
	}
}
