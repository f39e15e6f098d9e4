package release

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// checkQuotas fails a proposal that would have its project publish more names,
// or run more external-dns, than its quotas allow. Who takes no more than they
// have is not refused: a quota may be lowered below what there is. Releases
// that are accepted at the same time do not see each other, and may go beyond
// by as many as there are.
func (s *Service) checkQuotas(ctx context.Context, p *proposal) error {
	quotas := p.draft.in.project.Spec.Quotas.Or(s.Quotas)
	if quotas.Names == nil && quotas.ExternalDNS == nil || p.appContext != "" || IsCloud(p.draft.in.owner.Path) {
		return nil
	}
	names, before := countNames(p.draft.group), 0
	if p.lifecycle.deployed() {
		before = p.lifecycle.Names
	}
	if names <= before && len(without(p.draft.uses, p.lifecycle.Uses)) == 0 {
		return nil
	}
	others, err := s.otherGroups(ctx, p.draft.in)
	if err != nil {
		return err
	}
	p.draft.quota(quotas.Names, others.names+before, others.names+names, "/spec/quotas/names", "publish %d names")
	now := len(without(slices.Concat(others.uses, p.lifecycle.Uses), nil))
	then := len(without(slices.Concat(others.uses, p.draft.uses), nil))
	p.draft.quota(quotas.ExternalDNS, now, then, "/spec/quotas/externalDNS", "run %d external-dns")
	return nil
}

// quota fails a draft that takes more than a quota, and more than before.
func (d *draft) quota(quota *int, before, after int, pointer, does string) {
	if quota == nil || after <= max(*quota, before) {
		return
	}
	d.fail(d.in.projectPath(), pointer, "project %s would "+does+", and may %d: take away what is not needed, or have an admin raise the project's quota",
		d.in.projectPath().Name(), after, *quota)
}

// countNames is how many names a group publishes.
func countNames(g plan.Group) int {
	names := map[string]bool{}
	for _, binding := range g.Bindings {
		for _, host := range binding.Hosts {
			names[host.Name] = true
		}
	}
	return len(names)
}

// taken is what groups have of a project's quotas. A name that two of them
// publish counts for each.
type taken struct {
	names int
	uses  []Use
}

// otherGroups is what the project's groups have that are deployed, but for the
// owner of the inputs.
func (s *Service) otherGroups(ctx context.Context, in *inputs) (taken, error) {
	var all taken
	err := s.eachLifecycle(ctx, string(in.projectPath())+"/", func(owner intent.Path, l Lifecycle) error {
		if owner != in.owner.Path && !IsCloud(owner) && l.deployed() {
			all.names, all.uses = all.names+l.Names, append(all.uses, l.Uses...)
		}
		return nil
	})
	return all, err
}
