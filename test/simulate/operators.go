package simulate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// operatedOneIn of the seeds has operators, who drain clusters, also
// several at once, suspend groups and move records. The histories of the others do not depend on what operators do.
const operatedOneIn = 5

// drainedList is the document that lists the drained clusters.
const drainedList intent.Path = intent.OperationCollection + "/drained-clusters"

// drainedMark, below a cluster's path, stands for whether it is drained.
const drainedMark = "/drained"

func pathOfSite(name string) intent.Path {
	ref, _ := intent.ParseCluster(name) // the world's names are well formed
	return ref.Path()
}

// operate is what operators do, nothing in a world without them.
func (u *users) operate() []deed {
	if !u.world.profile.operators {
		return nil
	}
	return []deed{
		{5, "drain", u.drain},
		{3, "undrain", u.undrain},
		{5, "suspend", func() { u.suspend(u.group(), true) }},
		{2, "resume", func() { u.suspend(u.group(), false) }},
		{5, "move", u.move},
		{5, "failover", u.failOver},
	}
}

func (u *users) drain() {
	at, force := u.offering(), u.world.random.IntN(2) == 0
	u.change(at+drainedMark, version{"drained"}, func(ctx context.Context, p *process) error {
		return p.service.Drain(ctx, at, intent.DrainOptions{Force: force, Actor: "ann"})
	})
}

func (u *users) undrain() {
	at := u.offering()
	u.change(at+drainedMark, version{}, func(ctx context.Context, p *process) error {
		return p.service.Undrain(ctx, at, intent.DrainOptions{Actor: "ann"})
	})
}

// move asks for another home of a record, and updates it a little later.
func (u *users) move() {
	at, _ := intent.ParseCluster(u.world.somewhere().name)
	u.edit(lab, fmt.Sprintf(`{"deployOn":%s,%s`, encode(at), record("lab.example", "sync")[1:]), at.Path())
	u.world.after(longestPauseBetween/2*time.Millisecond, "update record", func() { u.updateRecord(lab) })
}

// offering draws a cluster that has Services.
func (u *users) offering() intent.Path {
	return pathOfSite([]string{berlin, paris}[u.world.random.IntN(2)])
}

// stored is what is stored under a path.
func (u *users) stored(path intent.Path) (now version) {
	if at, is := strings.CutSuffix(string(path), drainedMark); is {
		if u.world.drained()[intent.ClusterOf(intent.Path(at)).String()] {
			now.body = "drained"
		}
		return now
	}
	now.body = u.world.body(path)
	return now
}

// drained are the clusters that the stored list says are drained.
func (w *world) drained() map[string]bool {
	var list state.DrainedClusters
	w.read(drainedList, &list)
	out := map[string]bool{}
	for name, cluster := range list {
		if cluster.Undrained == nil {
			out[name] = true
		}
	}
	return out
}

// moves tells whether a record is on its way to another home, which waits for
// both.
func (w *world) moves() bool {
	for _, record := range []intent.Path{lab, corp} {
		var l state.RecordLifecycle
		if w.read(intent.Join(intent.LifecycleCollection, string(record)), &l) && l.Moving {
			return true
		}
	}
	return false
}

// noteDrained remembers until when clusters were drained.
func (w *world) noteDrained(op kv.Op) {
	if pathOf(op.Key) != drainedList {
		return
	}
	now := w.drained()
	for name := range w.withheld {
		if !now[name] && w.withheld[name].IsZero() {
			w.withheld[name] = time.Now()
		}
	}
	for name := range now {
		w.withheld[name] = time.Time{}
	}
}

// withholds tells whether a cluster is drained, or was a short time ago.
func (w *world) withholds(name string) bool {
	until, ever := w.withheld[name]
	return ever && (until.IsZero() || time.Since(until) < stale)
}
