package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// revertedWithin is when a failover is reverted, if it is, in milliseconds.
const revertedWithin = 20000

// failOver drains clusters and undrains others in one step, as a preview has told. Half of
// the failovers are reverted later.
func (u *users) failOver() {
	var spec intent.FailoverSpec
	may := map[intent.Path]version{}
	for _, name := range []string{berlin, paris} {
		at := pathOfSite(name)
		switch u.world.random.IntN(3) {
		case 0:
			spec.Drain.Clusters = append(spec.Drain.Clusters, listed(name))
			may[at+drainedMark] = version{"drained"}
		case 1:
			spec.Undrain.Clusters = append(spec.Undrain.Clusters, listed(name))
			may[at+drainedMark] = version{}
		}
	}
	force, later := u.world.random.IntN(2) == 0, u.world.random.IntN(2) == 0
	pause := time.Duration(u.world.random.IntN(revertedWithin)) * time.Millisecond
	u.moveNames("fail over", may, func(ctx context.Context, p *process) (intent.FailoverRecord, error) {
		preview, err := p.service.PreviewFailover(ctx, spec, intent.FailoverOptions{Actor: "ann"})
		if err != nil {
			return intent.FailoverRecord{}, err
		}
		return p.service.FailOver(ctx, spec, intent.FailoverOptions{Confirm: preview.Token, Force: force, Actor: "ann"})
	}, func(done intent.FailoverRecord) {
		if later {
			u.world.after(pause, "revert", func() { u.revert(done) })
		}
	})
}

// revert undoes a failover, as far as nobody else has changed its clusters since.
func (u *users) revert(of intent.FailoverRecord) {
	may := map[intent.Path]version{}
	for _, name := range of.Drained {
		may[pathOfSite(name)+drainedMark] = version{}
	}
	for _, name := range of.Undrained {
		may[pathOfSite(name)+drainedMark] = version{"drained"}
	}
	u.moveNames("revert "+of.ID, may, func(ctx context.Context, p *process) (intent.FailoverRecord, error) {
		return p.service.Revert(ctx, of.ID, intent.FailoverOptions{Force: true, Actor: "ann"})
	}, func(intent.FailoverRecord) {})
}

// listed is a cluster as lists of clusters name it.
func listed(name string) string { return strings.Replace(name, "+", "/", 1) }

// moveNames asks for a failover that may drain and undrain some clusters. Nobody else does so
// meanwhile.
func (u *users) moveNames(what string, may map[intent.Path]version, do func(ctx context.Context, p *process) (intent.FailoverRecord, error), then func(done intent.FailoverRecord)) {
	paths := slices.Sorted(maps.Keys(may))
	if slices.ContainsFunc(paths, func(path intent.Path) bool { return u.busy[path] > 0 }) || len(u.world.living()) == 0 {
		return
	}
	for _, path := range paths {
		u.busy[path]++
		if u.written[path] == nil {
			u.written[path] = []version{{}}
		}
	}
	var done intent.FailoverRecord
	u.ask(fmt.Sprint(what, " ", paths), func(ctx context.Context, p *process) (err error) {
		done, err = do(ctx, p)
		return err
	}, func(err error) {
		for _, path := range paths {
			u.busy[path]--
			if err != nil && unknown(err) {
				u.written[path] = append(u.written[path], may[path])
			}
		}
		if err != nil {
			return
		}
		for _, name := range slices.Concat(done.Drained, done.Undrained) {
			path := pathOfSite(name) + drainedMark
			u.written[path] = []version{may[path]}
		}
		then(done)
	})
}
