package state

import (
	"context"
	"time"

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

// deciding is how long Signpost takes, at most, from a changed address to its DNSEndpoint.
const deciding = time.Second

// TellAnswers says how soon the external-dns of names that come or change tells the DNS
// provider, and how soon clients follow. It names the marks of new names. When a name goes, depends on how many targets it has.
func TellAnswers(names []intent.NameChange, records map[string]plan.Record) {
	within := map[string]time.Duration{}
	for name, r := range records {
		within[name] = provider.AnswerWithin(plan.Provider{Record: r, Scope: intent.Public, Cluster: homeOf(r)})
	}
	for i, n := range names {
		names[i].Mark = markOf(n, records[n.Record])
		wait := within[n.Record]
		if wait == 0 || n.Action != "create" && n.Action != "update" || len(n.Targets) == 0 {
			continue
		}
		kept := externaldns.UsualTTL(records[n.Record].Spec.Parameters)
		ttl := n.TTL
		if len(n.Before) > 0 { // resolvers have the record of before; 0 is the usual TTL
			ttl = n.TTLBefore
		}
		if ttl > 0 {
			kept = time.Duration(ttl) * time.Second
		}
		names[i].AnsweredWithin, names[i].ClientsWithin = wait.String(), (deciding + wait + kept).String()
	}
}

// markOf is the name of the TXT record that the publisher of a new name writes beside it; empty if it writes none.
func markOf(n intent.NameChange, r plan.Record) string {
	shown := externaldns.Shown(externaldns.Record{Provider: r.Spec.Provider, Parameters: r.Spec.Parameters}, r.OwnerID)
	if n.Action != "create" || shown.Owner == "" {
		return ""
	}
	return shown.Mark(n.Name, n.Type)
}
