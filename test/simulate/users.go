package simulate

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// users write documents and post requests, and remember what they were
// answered.
type users struct {
	world    *world
	busy     map[intent.Path]int
	written  map[intent.Path][]version // what a document may be, the acknowledged one first
	requests map[intent.Path][]*request
	asked    int
	answered int
	planned  bool
	edition  int
}

// version is a document's body, empty when it does not exist.
type version struct{ body string }

// request is one that was posted for a group.
type request struct {
	action   intent.Action
	began    int // order of beginnings and ends
	ended    int // 0 while it is under way, or its outcome is unknown
	acked    bool
	revision int64
	body     string // of the document that it brings, of a name
}

func newUsers(w *world) *users {
	return &users{world: w, busy: map[intent.Path]int{}, written: map[intent.Path][]version{}, requests: map[intent.Path][]*request{}}
}

// done tells whether the script is over and everybody has been answered.
func (u *users) done() bool { return u.planned && u.asked == u.answered && len(u.world.events) == 0 }

func body(path intent.Path, spec string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":%s}`, path.Name(), spec)
}

func write(path intent.Path, spec string, refs ...intent.Path) intent.Write {
	if parent := path.Parent(); parent != "" {
		refs = append(refs, parent)
	}
	return intent.Write{Path: path, Refs: refs, Body: []byte(body(path, spec))}
}

// put writes a document before the world begins.
func (u *users) put(path intent.Path, spec string, refs ...intent.Path) {
	if _, err := etcd.New(u.world.kv).Put(context.Background(), write(path, spec, refs...)); err != nil {
		panic(err)
	}
	u.written[path] = []version{{body(path, spec)}}
}

// ask has somebody ask one of the replicas.
func (u *users) ask(what string, do func(ctx context.Context, p *process) error, then func(err error)) {
	living := u.world.living()
	if len(living) == 0 {
		return
	}
	p := living[u.world.random.IntN(len(living))]
	u.world.trace.add(what + " on " + p.name)
	u.asked++
	nth := fmt.Sprint(u.asked) // tells apart who asks the same at once
	u.world.running.Go(func() {
		ctx, cancel := context.WithTimeout(tracing.With(context.Background(), "user", nth), patience)
		defer cancel()
		err := do(ctx, p)
		u.world.mu.Lock()
		defer u.world.mu.Unlock()
		u.answered++
		then(err)
	})
}

// patience is how long a user waits for an answer.
const patience = 30 * time.Second

// edit writes a document; one at a time.
func (u *users) edit(path intent.Path, spec string, refs ...intent.Path) {
	u.change(path, version{body(path, spec)}, func(ctx context.Context, p *process) error {
		_, err := p.documents.Put(ctx, write(path, spec, refs...))
		return err
	})
}

// remove deletes a document, if it may be.
func (u *users) remove(path intent.Path) {
	u.change(path, version{}, func(ctx context.Context, p *process) error {
		return p.documents.Delete(ctx, path, intent.Always())
	})
}

func (u *users) change(path intent.Path, to version, do func(ctx context.Context, p *process) error) {
	if u.busy[path] > 0 {
		return
	}
	u.busy[path]++
	if u.written[path] == nil {
		u.written[path] = []version{{}}
	}
	u.ask("write "+string(path), do, func(err error) {
		u.busy[path]--
		switch {
		case err == nil:
			u.written[path] = []version{to}
		case unknown(err):
			u.written[path] = append(u.written[path], to)
		}
	})
}

func post(ctx context.Context, s *release.Service, group intent.Path, action intent.Action) (intent.Accepted, error) {
	switch action {
	case intent.Update:
		return s.Update(ctx, group, "", "ann")
	case intent.Rollback:
		return s.Rollback(ctx, group, 0, "", "ann")
	case intent.Terminate:
		return s.Terminate(ctx, group, false, "", "ann")
	}
	return s.Instantiate(ctx, group, "", "ann")
}

// unknown tells whether a request may have had its effect all the same.
func unknown(err error) bool {
	code := intent.CodeOf(err)
	return code == intent.Unavailable || code == ""
}

// request posts an action for a group.
func (u *users) request(group intent.Path, action intent.Action) {
	u.remember(group, action, string(action)+" "+group.Name(), func(ctx context.Context, p *process) (intent.Accepted, error) {
		return post(ctx, p.service, group, action)
	})
}

// remember asks for an action of a group or a name, and keeps what was answered.
func (u *users) remember(group intent.Path, action intent.Action, what string, do func(ctx context.Context, p *process) (intent.Accepted, error)) *request {
	r := &request{action: action, began: u.asked + u.answered}
	u.requests[group] = append(u.requests[group], r)
	u.ask(what, func(ctx context.Context, p *process) error {
		accepted, err := do(ctx, p)
		r.revision = accepted.Revision
		return err
	}, func(err error) {
		switch {
		case err == nil:
			r.ended, r.acked = u.asked+u.answered, true
		case !unknown(err):
			u.requests[group] = slices.DeleteFunc(u.requests[group], func(other *request) bool { return other == r })
		}
	})
	return r
}

// planTwice asks one replica twice for a plan. It says the same, byte by byte
// (I8).
func (u *users) planTwice(group intent.Path, action intent.Action) {
	u.ask("plan "+group.Name(), func(ctx context.Context, p *process) error {
		before := u.world.kv.Revision()
		first, err := p.service.Plan(ctx, group, action, 0)
		if err != nil {
			return err
		}
		second, err := p.service.Plan(ctx, group, action, 0)
		if err == nil && u.world.kv.Revision() == before && !reflect.DeepEqual(first, second) {
			u.world.breaks("I8", "two plans of %s differ:\n%v\n%v", group, first, second)
		}
		return err
	}, func(error) {})
}

func (u *users) updateRecord(record intent.Path) {
	u.ask("update "+string(record), func(ctx context.Context, p *process) error {
		_, err := p.service.UpdateRecord(ctx, record, "", "", "ann")
		return err
	}, func(error) {})
}

// status asks where a group stands. It says nothing that was not so (I6).
func (u *users) status(group intent.Path) {
	u.ask("status of "+group.Name(), func(ctx context.Context, p *process) error {
		snap, err := p.service.Snapshot(ctx, group)
		if err == nil {
			u.checkStatus(snap)
		}
		return err
	}, func(error) {})
}

func (u *users) checkStatus(snap query.Snapshot) {
	told := status.Of(snap)
	wanted := map[string]bundle.Object{}
	for _, o := range snap.Objects {
		wanted[o.Cluster+" "+o.Kind+" "+o.Namespace+" "+o.Name] = o
	}
	for _, c := range told.Clusters {
		s := u.world.sites[c.ClusterRef.String()]
		for _, r := range c.Resources {
			o, is := wanted[s.name+" "+r.Kind+" "+r.Namespace+" "+r.Name]
			if is && r.Status == "Applied" && r.Kind != "Namespace" && r.Kind != "CustomResourceDefinition" && !s.applied[o.ID][o.Digest()] {
				u.world.breaks("I6", "status says that %s is Applied, which it never was", o.ID)
			}
		}
	}
	for _, name := range told.Names {
		for _, source := range name.Sources {
			kept := strings.HasPrefix(source.Field, render.AsBefore)
			if source.Kind != string(address.Fixed) && !kept && !u.world.sites[source.Cluster].ever(source.Target) {
				u.world.breaks("I6", "status says that %s offers %s, which it never did", source.Cluster, source.Target)
			}
		}
	}
	if told.State == intent.Instantiated && snap.Committed {
		for _, o := range snap.Objects {
			if s := u.world.sites[o.Cluster]; len(s.applied[o.ID]) == 0 && o.Kind != "Namespace" && o.Kind != "CustomResourceDefinition" && o.Kind != "DNSEndpoint" {
				u.world.breaks("I6", "status says Instantiated, and %s was never applied", o.ID)
			}
		}
	}
}

// check compares what is stored with what was acknowledged (I1).
func (u *users) check() {
	for _, path := range slices.Sorted(maps.Keys(u.written)) {
		now := u.stored(path)
		if !slices.Contains(u.written[path], now) {
			u.world.breaks("I1", "%s is %q, and acknowledged was %v", path, now.body, u.written[path])
		}
	}
	for group, l := range (oracle{world: u.world}).lifecycles() {
		u.checkRequests(group, l)
		if group == front {
			u.checkDocument(l)
		}
	}
}

// checkRequests: what a group's lifecycle wants was asked for, and nothing
// else was acknowledged afterwards.
func (u *users) checkRequests(group intent.Path, l state.Lifecycle) {
	gone := l.Wanted == intent.Terminate
	explained := false
	for _, r := range u.requests[group] {
		if r.acked && r.revision > l.Seq && group != front { // a name that is deleted and made anew begins at revision 1
			u.world.breaks("I1", "%s is at revision %d, and %d was acknowledged", group, l.Seq, r.revision)
		}
		if (r.action == intent.Terminate) != gone {
			continue
		}
		overruled := slices.ContainsFunc(u.requests[group], func(q *request) bool {
			return q.acked && (q.action == intent.Terminate) != gone && r.ended > 0 && q.began >= r.ended
		})
		explained = explained || !overruled
	}
	if l.Seq > 0 && !explained {
		text := encode(l)
		u.world.breaks("I1", "%s wants %s, which nobody asked for last: %s", group, l.Wanted, text)
	}
}
