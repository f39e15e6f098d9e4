package tenancy

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// CheckQuotas fails a proposal that would have its project publish more names, run more
// external-dns or have more objects than its quotas allow. A project that takes no more
// than it has is not refused: a quota may be lowered below what there is. Releases that
// are accepted at the same time do not see each other, and may go beyond by as many as
// there are. Nothing is to be made of a proposal that is TooLarge.
func (s *Keeper) CheckQuotas(ctx context.Context, p *resolve.Proposal) error {
	if p.AppContext != "" || state.IsCloud(p.Draft.In.Owner.Path) {
		return nil
	}
	objects, err := s.checkObjects(ctx, p)
	if err != nil {
		return err
	}
	quotas := p.Draft.In.Project.Spec.Quotas.Or(s.Quotas)
	before, after := taken{}, taken{names: CountNames(p.Draft.Group), objects: objects.after, uses: p.Draft.Uses}
	if p.Lifecycle.Deployed() {
		before = taken{names: p.Lifecycle.Names, objects: objects.before, uses: p.Lifecycle.Uses}
	}
	if !after.exceeds(before) || quotas.Names == nil && quotas.ExternalDNS == nil && quotas.Objects == nil {
		return nil
	}
	others, err := s.otherGroups(ctx, p.Draft.In)
	if err != nil {
		return err
	}
	checkQuota(p.Draft, quotas.Names, others.names+before.names, others.names+after.names, "/spec/quotas/names", "publish %d names")
	checkQuota(p.Draft, quotas.ExternalDNS, others.running(before), others.running(after), "/spec/quotas/externalDNS", "run %d external-dns")
	if checkQuota(p.Draft, quotas.Objects, others.objects+before.objects, others.objects+after.objects, "/spec/quotas/objects", "have %d objects in clusters") {
		p.TooLarge = true
	}
	return nil
}

// checkQuota fails a draft that takes more than a quota, and more than before.
func checkQuota(d *resolve.Draft, quota *int, before, after int, pointer, does string) (exceeded bool) {
	if quota == nil || after <= max(*quota, before) {
		return false
	}
	d.Fail(d.In.ProjectPath(), pointer, "project %s would "+does+", but may have %d: remove objects or names, or have an admin raise the project's quota",
		d.In.ProjectPath().Name(), after, *quota)
	return true
}

// CountNames is how many names a group publishes.
func CountNames(g plan.Group) int {
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
	names, objects int
	uses           []state.Use
}

// exceeds tells whether it is more than was taken before, in anything.
func (t taken) exceeds(before taken) bool {
	return t.names > before.names || t.objects > before.objects || len(state.Without(t.uses, before.uses)) > 0
}

// running is how many external-dns run for what is taken by all of these.
func (t taken) running(also taken) int {
	return len(state.Without(slices.Concat(t.uses, also.uses), nil))
}

// otherGroups is what the project's groups have that are deployed, but for the
// owner of the inputs.
func (s *Keeper) otherGroups(ctx context.Context, in *inputs.Inputs) (taken, error) {
	var all taken
	err := s.EachLifecycle(ctx, string(in.ProjectPath())+"/", func(owner intent.Path, l state.Lifecycle) error {
		if owner != in.Owner.Path && !state.IsCloud(owner) && l.Deployed() {
			all.names, all.objects, all.uses = all.names+l.Names, all.objects+l.Objects, append(all.uses, l.Uses...)
		}
		return nil
	})
	return all, err
}
