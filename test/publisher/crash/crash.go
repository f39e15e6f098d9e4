// Package crash kills the built-in publisher before and after each of its writes: to Signpost's own etcd, and to a DNS
// server.
package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/builtin"
)

// Server is a DNS server whose names are published.
type Server struct {
	Zone     string
	Owner    string
	Open     func() publisher.Writer
	Stranger string                        // a name of somebody else, without a mark
	Unmark   func(t *testing.T, of string) // removes the mark of a name of type A, as a server that had taken one half would leave it
}

// AtEachWrite tells the story of one name with a death before and after each write. The next publisher leaves all as it should be.
func AtEachWrite(t *testing.T, s Server) {
	t.Helper()
	first := newStory(t, s, "whole", 0, false)
	first.tell()
	writes := int(first.writes.Load())
	const least = 15 // fence, records, names, and the removals
	require.Greater(t, writes, least)
	t.Logf("%d writes", writes)
	for n := range writes {
		for _, after := range []bool{false, true} {
			label := fmt.Sprintf("%d-%s", n+1, map[bool]string{false: "before", true: "after"}[after])
			t.Run(label, func(t *testing.T) { newStory(t, s, label, n+1, after).tell() })
		}
	}
}

// patience is how long a publisher may take for one change.
const patience = time.Minute

var errKilled = errors.New("the process is dead")

// story is one name on its way, and the processes that publish it.
type story struct {
	*testing.T
	server Server
	store  *kvtest.Fake
	name   string
	ahead  atomic.Int64 // nanoseconds that the clock is ahead
	writes atomic.Int64
	dies   int64 // at which write; 0: never
	after  bool  // the write is made before the process dies
	opened int   // changes of the settings

	mu   sync.Mutex
	last string // the write at which a process has died
}

func newStory(t *testing.T, s Server, label string, dies int, after bool) *story {
	return &story{T: t, server: s, store: kvtest.NewFake(), name: "c" + label + "." + s.Zone, dies: int64(dies), after: after}
}

// process is one publisher.
type process struct {
	*story
	*builtin.Target
	watches cluster.Watches
	builtIn cluster.BuiltIn // the watches
	told    chan struct{}
	dead    chan struct{}
	killed  atomic.Bool
}

func (s *story) begin() *process {
	p := &process{story: s, told: make(chan struct{}, 1), dead: make(chan struct{})}
	p.Target = builtin.New("_publisher.shop+lab", builtin.Settings{
		KV: mortal{s.store, p}, Options: cluster.Options{Installation: "inst-1"},
		Open: func(context.Context, bundle.Publisher) (publisher.Writer, error) {
			return writer{s.server.Open(), p}, nil
		},
		Now: func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) },
	})
	wake := func() {
		select {
		case p.told <- struct{}{}:
		default:
		}
	}
	p.watches = p.Watch(s.Context(), cluster.Notify{Objects: func(...bundle.ID) { wake() }, Addresses: func(string, string) { wake() }, Workloads: wake, Pods: wake, Published: func(...bundle.ID) { wake() }})
	var ok bool
	p.builtIn, ok = p.watches.(cluster.BuiltIn)
	require.True(s, ok)
	return p
}

// write counts a write, and kills the process at one of them.
func (p *process) write(what string, do func() error) error {
	if p.killed.Load() {
		return errKilled
	}
	if p.writes.Add(1) != p.dies {
		return do()
	}
	p.killed.Store(true)
	if p.after {
		_ = do() // nobody hears the answer
	}
	p.mu.Lock()
	p.last = what
	p.mu.Unlock()
	close(p.dead)
	return errKilled
}

// mortal is the etcd as a process sees it.
type mortal struct {
	kv.KV
	p *process
}

func (m mortal) Txn(ctx context.Context, when []kv.Compare, ops ...kv.Op) (done bool, revision int64, err error) {
	failed := m.p.write("etcd", func() error {
		done, revision, err = m.KV.Txn(ctx, when, ops...)
		return err
	})
	return done, revision, failed
}

// writer is the DNS server as a process sees it.
type writer struct {
	publisher.Writer
	p *process
}

func (w writer) Read(ctx context.Context, names []string, types ...string) (map[string]publisher.State, error) {
	if w.p.killed.Load() {
		return nil, errKilled
	}
	return w.Writer.Read(ctx, names, types...)
}

func (w writer) Write(ctx context.Context, change publisher.Change) error {
	return w.p.write("DNS", func() error { return w.Writer.Write(ctx, change) })
}

// until waits for something that the publisher tells; false: it has died.
func (p *process) until(what string, is func(cluster.Publishing) bool) bool {
	p.Helper()
	for late := time.After(patience); !is(p.builtIn.Publishing()); {
		select {
		case <-p.told:
		case <-p.dead:
			return false
		case <-late:
			p.Fatalf("%s: %+v", what, p.builtIn.Publishing())
		}
	}
	return true
}

// apply applies an object as a worker does; false: the process has died.
func (p *process) apply(o bundle.Object) bool {
	p.Helper()
	live, err := p.Get(p.Context(), o.ID)
	require.NoError(p, err)
	if live == nil {
		_, err = p.Create(p.Context(), o)
	} else {
		_, err = p.Apply(p.Context(), o, live.Version)
	}
	if p.killed.Load() {
		return false
	}
	require.NoError(p, err)
	return true
}

// publish brings the name to sets; none: its DNSEndpoint is removed.
func (p *process) publish(sets []publisher.Set) bool {
	p.Helper()
	id := p.endpoint("web", p.name, nil).ID
	if len(sets) > 0 {
		if !p.apply(p.endpoint("web", p.name, sets)) {
			return false
		}
		live, err := p.Get(p.Context(), id)
		require.NoError(p, err)
		return p.until("published", func(cluster.Publishing) bool {
			now, _ := p.builtIn.Published(id)
			return now.UID == live.UID && now.Generation == live.Generation
		})
	}
	live, err := p.Get(p.Context(), id)
	require.NoError(p, err)
	if live != nil {
		err := p.Delete(p.Context(), id, live.Version)
		if p.killed.Load() {
			return false
		}
		require.NoError(p, err)
	}
	return p.until("removed", func(cluster.Publishing) bool {
		item, _, err := p.store.Get(p.Context(), builtin.Prefix+"_publisher.shop+lab/name/"+p.name)
		return err == nil && item == nil
	})
}

// start starts a publisher that may write.
func (s *story) start() *process {
	s.Helper()
	p := s.begin()
	s.opened++
	theirs := []publisher.Set{{Type: "A", TTL: 60, Targets: []string{"192.0.2.66"}}}
	if !p.apply(p.endpoint("theirs", s.server.Stranger, theirs)) || !p.apply(p.settings()) {
		return p
	}
	waits := false
	p.until("ready", func(told cluster.Publishing) bool {
		waits = strings.Contains(told.Waiting, "an earlier publisher may still be writing")
		return waits || !told.Synced.IsZero()
	})
	if waits { // for a lease and a request
		s.ahead.Add(int64(time.Minute))
		s.opened++
		p.apply(p.settings())
		p.until("ready", func(told cluster.Publishing) bool { return !told.Synced.IsZero() })
	}
	return p
}

// tell publishes one state of the name after another. If a process dies, the next one does the same again.
func (s *story) tell() {
	s.Helper()
	p := s.start()
	for n, sets := range s.states() {
		for !p.publish(sets) || p.killed.Load() {
			p.watches.Stop()
			if n == 0 && s.after && s.last == "DNS" {
				s.server.Unmark(s.T, s.name)
			}
			p = s.start()
		}
		s.check(sets)
	}
	if s.dies != 0 && s.writes.Load() >= s.dies {
		require.NotEmpty(s, s.last, "it has died")
	}
	p.watches.Stop()
}

// states are the sets of the name, one after the other, and none at the end.
func (s *story) states() [][]publisher.Set {
	set := func(kind string, targets ...string) publisher.Set {
		return publisher.Set{Name: s.name, Type: kind, TTL: 60, Targets: targets}
	}
	return [][]publisher.Set{
		{set("A", "192.0.2.1")}, {set("A", "192.0.2.2", "192.0.2.3")}, {set("A", "192.0.2.3"), set("AAAA", "2001:db8::1")}, {set("CNAME", "else.example")}, nil,
	}
}

// check reads the name, whose marks have to be there, and the stranger's, who has none.
func (s *story) check(want []publisher.Set) {
	s.Helper()
	w := s.server.Open()
	defer w.Close()
	states, err := w.Read(s.Context(), []string{s.name, s.server.Stranger})
	require.NoError(s, err)
	require.Empty(s, states[s.name].Orphans, "no mark is left without a record")
	require.Len(s, states[s.name].Sets, len(want))
	for _, set := range want {
		got, _ := states[s.name].Set(set.Type)
		require.True(s, publisher.SameRecords(set, got), "%+v, want %+v", got, set)
		require.Equal(s, publisher.Mark{Owner: s.server.Owner, Resource: "crd/shop-dns/web"}, got.Mark)
	}
	strange := states[s.server.Stranger]
	require.Len(s, strange.Sets, 1)
	require.Empty(s, strange.Sets[0].Mark, "the stranger's name stays a stranger's")
	require.NotContains(s, strange.Sets[0].Targets, "192.0.2.66")
}

// settings are the publisher's, whose interval is another one each time.
func (s *story) settings() bundle.Object {
	s.Helper()
	o, err := bundle.New("_publisher.shop+lab", "external-dns", map[string]any{
		"apiVersion": "signpost.dev/v1", "kind": "Publisher", "metadata": map[string]any{"name": "external-dns-lab", "namespace": "shop-dns"},
		"spec": bundle.Publisher{Provider: "any", OwnerID: s.server.Owner, Interval: time.Hour + time.Duration(s.opened)*time.Minute},
	})
	require.NoError(s, err)
	return o
}

// endpoint is a DNSEndpoint that gives sets to a name.
func (s *story) endpoint(object, name string, sets []publisher.Set) bundle.Object {
	s.Helper()
	var endpoints []any
	for _, set := range sets {
		endpoints = append(endpoints, map[string]any{"dnsName": name, "recordType": set.Type, "recordTTL": set.TTL, "targets": set.Targets})
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint",
		"metadata": map[string]any{"name": object, "namespace": "shop-dns", "labels": map[string]string{bundle.LabelRecord: "lab", bundle.LabelScope: "public"}},
		"spec":     map[string]any{"endpoints": endpoints},
	})
	require.NoError(s, err)
	o, err := bundle.Stored("_publisher.shop+lab", "web", text)
	require.NoError(s, err)
	return o
}
