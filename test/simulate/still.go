package simulate

import (
	"context"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Bounds of virtual time, for suspensions.
const (
	stillWithin = 60 * time.Second // once nothing goes wrong any more, a suspension holds
	stillFor    = 30 * time.Second // how long it is looked at: several scans and probes
)

// suspending is in the spec of a group that is suspended.
const suspending = `{"suspend":true,`

// suspend suspends a group or resumes it, with another edition of its manifests.
func (u *users) suspend(group intent.Path, yes bool) {
	u.edition++
	text := spec(appOf(group), 1+u.edition)
	if yes {
		text = suspending + text[1:]
	}
	u.edit(group, text, cloudOf(group))
}

// suspended are the deployed groups whose documents suspend them.
func (w *world) suspended() []intent.Path {
	var out []intent.Path
	lifecycles := oracle{world: w}.lifecycles()
	for _, group := range w.groups() {
		if deployed(lifecycles[group]) && strings.Contains(w.body(group), suspending) {
			out = append(out, group)
		}
	}
	return out
}

// keepStill checks that in the clusters nothing of suspended groups changes,
// whatever others do, and resumes them.
func (w *world) keepStill() {
	if !w.profile.operators || !w.run(w.users.done, convergeWithin) || len(w.suspended()) == 0 {
		return
	}
	never := func() bool { return false }
	w.run(never, stillWithin)
	w.changeAddresses()
	w.deleteByHand()
	groups := w.suspended()
	before := w.held(groups)
	for _, group := range groups {
		w.users.request(group, intent.Update)
	}
	w.run(never, stillFor)
	after := w.held(groups)
	for id, was := range before {
		if now := after[id]; now != was {
			w.breaks("I3", "%s is of a suspended group and changed from %v to %v", id, was, now)
		}
	}
	for _, group := range groups {
		w.users.edition++
		w.users.put(group, spec(appOf(group), 1+w.users.edition), cloudOf(group))
	}
}

// held are the objects of suspended groups as they are in the clusters, the
// zero value for those that are missing.
func (w *world) held(groups []intent.Path) map[bundle.ID]cluster.Version {
	out := map[bundle.ID]cluster.Version{}
	contexts := appcontext.NewStore(w.kv, time.Now)
	for _, group := range groups {
		p, err := contexts.Current(context.Background(), appcontext.Owner(group))
		if err != nil {
			w.breaks("I2", "the pointer of %s: %v", group, err)
			continue
		}
		objects, err := contexts.Objects(context.Background(), p)
		if err != nil {
			w.breaks("I2", "the context of %s: %v", group, err)
		}
		for _, o := range objects {
			if o.Kind == "Namespace" || o.Kind == "CustomResourceDefinition" {
				continue // others want them, too
			}
			out[o.ID] = cluster.Version{}
			if live := w.sites[o.Cluster].Live(o.ID); live != nil {
				out[o.ID] = live.Version
			}
		}
	}
	return out
}
