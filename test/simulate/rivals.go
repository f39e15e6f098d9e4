package simulate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// rivalledOneIn of the seeds has a second project, whose group asks for names that
// the groups of the first one ask for, too. The histories of the others do not
// depend on it.
const (
	rivalledOneIn = 5
	mostRivalled  = 3 // the remainder of those seeds
)

// loan is the group of the second project.
const loan intent.Path = "projects/bank/composite-apps/store/v1/deployment-intent-groups/loan"

// contested are the names that all groups may ask for.
func contested() []string { return []string{"www.lab.example", "shared.lab.example"} }

// groups are those of all projects.
func (w *world) groups() []intent.Path {
	if w.profile.rivalled {
		return []intent.Path{prod, test, loan}
	}
	return []intent.Path{prod, test}
}

// policies are those that records are given. What external-dns never takes away
// would stay a project's for ever.
func (w *world) policies() []string {
	if w.profile.rivalled {
		return []string{"sync", "sync"}
	}
	return []string{"sync", "upsert-only"}
}

// rivalry is what rivals do, nothing in a world without.
func (u *users) rivalry() []deed {
	if !u.world.profile.rivalled {
		return nil
	}
	return []deed{
		{14, "rivals ask at once", u.race},
		{14, "a rival leaves", u.handOver},
		{6, "take over", u.takeOver},
	}
}

// Rhythm of rivals.
const (
	soon         = 2 * time.Second // when somebody goes on who has written a document
	stalledOneIn = 3               // of those who claim names
)

// race has a group of each project ask at once for the contested names, and again
// a little later.
func (u *users) race() {
	for _, group := range []intent.Path{[]intent.Path{prod, test}[u.world.random.IntN(2)], loan} {
		u.want(group, contested()...)
		u.world.after(2*soon, "ask again", func() { u.request(group, u.upward(group)) })
	}
}

// stall has a process stand still at times that has just claimed names, or
// confirmed them, for so long that by another one's clock it has given up.
func (w *world) stall(c *call) {
	if w.profile.rivalled && !w.calm && c.point == "claim names" && w.random.IntN(stalledOneIn) == 0 {
		w.trace.add("  ! stalls")
		w.freeze(c.process)
	}
}

// want has a group ask for names.
func (u *users) want(group intent.Path, names ...string) {
	u.edit(www(group), u.world.profile.names(appOf(group), names...))
	u.world.after(soon, "want names", func() { u.request(group, u.upward(group)) })
}

// upward is what brings a group's intents into the clusters.
func (u *users) upward(group intent.Path) intent.Action {
	if deployed(oracle{world: u.world}.lifecycles()[group]) {
		return intent.Update
	}
	return intent.Instantiate
}

// handOver has a group get the contested names, and give them up, in one way or
// another, while one of the other project asks for them again and again.
func (u *users) handOver() {
	w := u.world
	from, to := loan, []intent.Path{prod, test}[w.random.IntN(2)]
	if w.random.IntN(2) == 0 {
		from, to = to, from
	}
	u.want(from, contested()...)
	w.after(3*soon, "hand over", func() {
		if w.random.IntN(2) == 0 {
			w.breakOff(w.sites[hub])
		}
		if w.random.IntN(2) == 0 {
			w.after(soon, "leave", func() { u.request(from, intent.Terminate) })
		} else {
			u.want(from, appOf(from)+".lab.example")
		}
		u.want(to, contested()...)
		for _, later := range []time.Duration{soon / 4, soon, 4 * soon, 8 * soon} {
			w.after(soon+later, "ask again", func() { u.request(to, u.upward(to)) })
		}
	})
}

// takeOver has one group of a project take the names over that it shares with the
// other one.
func (u *users) takeOver() {
	from, to := prod, test
	if u.world.random.IntN(2) == 0 {
		from, to = test, prod
	}
	u.edit(www(to), u.world.profile.names(appOf(to), contested()...))
	u.world.after(soon, "take over", func() {
		action := u.upward(to)
		u.remember(to, action, "take over "+from.Name(), func(ctx context.Context, p *process) (intent.Accepted, error) {
			return p.service.TakeOver(ctx, to, action, from.Name(), "", "ann")
		})
	})
}

// sizeOfYield is how many bytes of its digest stand for a yielded name.
const sizeOfYield = 16

// unyielded is a group without the names that others have taken over from it.
func unyielded(g plan.Group, l state.Lifecycle) plan.Group {
	var kept []plan.Binding
	for _, b := range g.Bindings {
		b.Hosts = slices.DeleteFunc(slices.Clone(b.Hosts), func(h plan.Host) bool {
			digest := sha256.Sum256([]byte(string(b.Scope) + "\n" + b.Record + "\n" + h.Name))
			return slices.ContainsFunc(l.Transferred, func(y state.Transfer) bool {
				for one := range slices.Chunk(y.Names, sizeOfYield) {
					if bytes.Equal(one, digest[:sizeOfYield]) {
						return true
					}
				}
				return false
			})
		})
		if len(b.Hosts) > 0 {
			kept = append(kept, b)
		}
	}
	g.Bindings = kept
	return g
}

// viewed is a host name in a view of DNS.
type viewed struct{ view, host string }

func viewOf(scope intent.Scope, cluster string) string {
	if scope == intent.ClusterScope {
		return cluster
	}
	return "public"
}

// published are the names of a DNSEndpoint, and its project.
func published(o bundle.Object) (project string, names []viewed) {
	head, err := o.Head()
	if err != nil || o.Published == nil {
		return "", nil
	}
	for _, name := range o.Published.Names {
		names = append(names, viewed{viewOf(intent.Scope(o.Published.Scope), o.Cluster), name.Host})
	}
	return head.Labels[bundle.LabelProject], names
}

// endpointOn is a DNSEndpoint of ours as a cluster has it.
func endpointOn(cluster string, content map[string]any) bundle.Object {
	o, err := bundle.Stored(cluster, "", encode(content))
	if err != nil {
		panic(fmt.Sprintf("a DNSEndpoint of ours on %s: %v", cluster, err))
	}
	return o
}

// checkApplied looks at a DNSEndpoint that was written to a cluster.
func (w *world) checkApplied(s *site, id bundle.ID) {
	if content := s.Content(id); content != nil && id.Kind == bundle.EndpointKind && s.ours(id) {
		w.checkNames(endpointOn(s.name, content))
	}
}

// checkNames: no name of a view is published by two projects at a time (I12).
// Whatever becomes current, or is applied, has no name that is in a DNSEndpoint of
// another project in some cluster, also in one that is being deleted: its
// external-dns still publishes that.
func (w *world) checkNames(objects ...bundle.Object) {
	if !w.profile.rivalled {
		return
	}
	for _, o := range objects {
		if o.Kind != bundle.EndpointKind {
			continue
		}
		project, names := published(o)
		for _, other := range w.endpoints() {
			theirs, have := published(other)
			for _, name := range names {
				if theirs != project && slices.Contains(have, name) {
					w.breaks("I12", "%s of view %s is published by %s, and %s is to publish it, too", name.host, name.view, other.ID, o.ID)
				}
			}
		}
	}
}

// endpoints are our DNSEndpoints in all clusters.
func (w *world) endpoints() (all []bundle.Object) {
	for _, name := range w.siteNames() {
		s := w.sites[name]
		for _, id := range s.Objects() {
			if id.Kind == bundle.EndpointKind && s.ours(id) {
				all = append(all, endpointOn(name, s.Content(id)))
			}
		}
	}
	return all
}

// refused tells whether a group has failed because names of its release are
// another project's.
func (o oracle) refused(group intent.Path, l state.Lifecycle) bool {
	if !deployed(l) || l.Failure == "" {
		return false
	}
	mine := o.names(l, l.ContextID)
	for other, theirs := range o.lifecycles() {
		if projectOf(other) == projectOf(group) {
			continue
		}
		has := o.names(theirs, o.world.current(appcontext.Owner(other)))
		if leaves := theirs.Wanted == intent.Terminate && !theirs.Settled; leaves || deployed(theirs) && theirs.Failure == "" {
			has = append(has, o.names(theirs, theirs.ContextID)...)
		}
		if slices.ContainsFunc(mine, func(name viewed) bool { return slices.Contains(has, name) }) {
			return true
		}
	}
	return false
}

// names are those of a release, empty for none, but for what its group has yielded.
func (o oracle) names(l state.Lifecycle, contextID string) (names []viewed) {
	r, err := o.release(contextID)
	if contextID == "" || err != nil {
		return nil
	}
	for _, b := range unyielded(r.Group, l).Bindings {
		for _, host := range b.Hosts {
			names = append(names, viewed{viewOf(b.Scope, b.Cluster), host.Name})
		}
	}
	return names
}

// current is the id of an owner's current context, empty for none.
func (w *world) current(owner appcontext.Owner) string {
	p, err := appcontext.NewStore(w.kv, time.Now).Current(context.Background(), owner)
	if err != nil {
		w.breaks("I2", "the pointer of %s: %v", owner, err)
	}
	return p.ContextID
}

// longestDoubt is how much longer than elsewhere it may take until a name counts as
// gone: that is told by comparing the clocks of two processes.
func (w *world) longestDoubt() time.Duration {
	if w.profile.rivalled {
		return 2 * mostSkew
	}
	return 0
}

// makeRoom terminates the groups of the projects that have names which others were
// refused, and checks that these go on by themselves.
func (w *world) makeRoom() {
	refused := map[intent.Path]bool{}
	for group, l := range (oracle{world: w}).lifecycles() {
		if (oracle{world: w}).refused(group, l) {
			refused[projectOf(group)] = true
		}
	}
	if len(refused) != 1 || w.broken != nil {
		return
	}
	for _, group := range w.groups() {
		if !refused[projectOf(group)] {
			w.users.request(group, intent.Terminate)
		}
	}
	w.run(w.users.done, convergeWithin)
	w.converge("I3", convergeWithin+w.longestDoubt(), "")
}
