package tenancy

import (
	"context"

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
//
// It reads the project's Count. Only if that reaches a quota, it reads all lifecycles of
// the project.
func (s *Keeper) CheckQuotas(ctx context.Context, p *resolve.Proposal) error {
	if p.AppContext != "" || state.IsCloud(p.Draft.In.Owner.Path) {
		return nil
	}
	objects, err := s.checkObjects(ctx, p)
	if err != nil {
		return err
	}
	quotas := p.Draft.In.Project.Spec.Quotas.Or(s.Quotas)
	before, after := resolve.Taken{}, resolve.Taken{Names: CountNames(p.Draft.Group), Objects: objects.after, Uses: p.Draft.Uses}
	if p.Lifecycle.Deployed() {
		before = resolve.Taken{Names: p.Lifecycle.Names, Objects: objects.before, Uses: p.Lifecycle.Uses}
	}
	more := after.Beyond(before)
	p.Unbounded = quotas.Names == nil && quotas.ExternalDNS == nil && quotas.Objects == nil
	if p.Unbounded || more.Nothing() {
		return nil
	}
	if p.Count, err = s.readCount(ctx, p.Draft.In.ProjectPath()); err != nil || p.Count.Item != nil && p.Count.Has.With(more).Within(quotas) {
		return err
	}
	others, err := s.otherGroups(ctx, p.Draft.In)
	if err != nil {
		return err
	}
	before, after = others.With(before), others.With(after)
	p.Count.Has, p.Count.Exact = before, true
	checkQuota(p.Draft, quotas.Names, before.Names, after.Names, "/spec/quotas/names", "publish %d names")
	checkQuota(p.Draft, quotas.ExternalDNS, len(before.Uses), len(after.Uses), "/spec/quotas/externalDNS", "run %d external-dns")
	if checkQuota(p.Draft, quotas.Objects, before.Objects, after.Objects, "/spec/quotas/objects", "have %d objects in clusters") {
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

// otherGroups is what the project's groups have that are deployed, but for the
// owner of the inputs.
func (s *Keeper) otherGroups(ctx context.Context, in *inputs.Inputs) (resolve.Taken, error) {
	var all resolve.Taken
	err := s.EachLifecycle(ctx, string(in.ProjectPath())+"/", func(owner intent.Path, l state.Lifecycle) error {
		if owner != in.Owner.Path {
			all = all.With(takenBy(owner, l))
		}
		return nil
	})
	return all, err
}

// takenBy is what an owner has of its project's quotas.
func takenBy(owner intent.Path, l state.Lifecycle) resolve.Taken {
	if state.IsCloud(owner) || !l.Deployed() {
		return resolve.Taken{}
	}
	return resolve.Taken{Names: l.Names, Objects: l.Objects, Uses: l.Uses}
}
