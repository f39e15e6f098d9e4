package accept

import (
	"cmp"
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
)

// warnOfDeadPublishers warns of publishers of names that change, if they are known not to work. Nobody knows when
// they will, so the plan promises no time for these names.
func warnOfDeadPublishers(ctx context.Context, s *Planner, p *resolve.Proposal) error {
	changing := map[string]bool{} // providers by their names, until they were warned of
	for _, n := range p.View.Names {
		changing[n.Record] = true
	}
	for _, b := range p.Draft.Group.Bindings {
		if !changing[b.Record] {
			continue
		}
		why, err := whyDead(ctx, s, p.Draft.Group.Project.Namespace, b)
		if err != nil {
			return err
		}
		if why == "" {
			continue
		}
		changing[b.Record] = false
		p.Warn("the publisher of provider %s does not work now: %s; names change in DNS when it works again", b.Record, why)
		promiseNothing(p.View.Names, b.Record)
	}
	return nil
}

// whyDead is why the publisher of a binding does not work; empty if it works, and if that is not known.
func whyDead(ctx context.Context, s *Planner, namespace string, b plan.Binding) (string, error) {
	seen, err := s.Observed.Deployment(ctx, b.Cluster, namespace, provider.DeploymentName(b.Record, b.Scope))
	if err != nil || seen == nil || seen.Available {
		return "", err
	}
	reached, err := s.Observed.ReachabilitiesOf(ctx, []string{b.Cluster})
	if err != nil || !reached[b.Cluster].Reachable {
		return "", err
	}
	return cmp.Or(seen.Message, "it is not available"), nil
}

// promiseNothing takes the times out of the changes of a provider's names.
func promiseNothing(names []intent.NameChange, provider string) {
	for n := range names {
		if names[n].Record == provider {
			names[n].AnsweredWithin, names[n].ClientsWithin = "", ""
		}
	}
}
