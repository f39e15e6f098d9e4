package coredns

import (
	"context"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

// transaction gathers what one change does to keys. All puts come before all deletes.
type transaction struct {
	w        *Writer
	name     string
	read     version
	compares []clientv3.Cmp
	puts     []clientv3.Op
	deletes  []clientv3.Op
	touched  map[string]bool // keys that are compared already
	err      error
}

func newTransaction(w *Writer, name string, read version) *transaction {
	return &transaction{w: w, name: name, read: read, touched: map[string]bool{}}
}

// add takes the sets of one type over.
func (t *transaction) add(step publisher.Step) error {
	t.records(step)
	t.mark(step)
	if n := len(t.puts) + len(t.deletes); n > mostKeys {
		return publisher.NoTransaction(step.After, mostKeys)
	}
	return t.err
}

// records puts the targets of a set, each at the key where it is, else at a new one. It removes the keys of other targets.
func (t *transaction) records(step publisher.Step) {
	left := slices.Clone(step.After.Targets)
	for _, e := range t.read.records {
		if e.service.Host == "" || e.service.kind() != step.Type {
			continue
		}
		t.unchanged(e)
		at := slices.Index(left, e.service.Host)
		if at < 0 {
			t.removeHost(e)
			continue
		}
		left = slices.Delete(left, at, at+1)
		if e.service.TTL != uint32(step.After.TTL) {
			changed := e.service
			changed.TTL = uint32(step.After.TTL)
			t.put(e.key, changed)
		}
	}
	for _, target := range left {
		key := keyOf(t.w.prefix, t.name, step.Type, target)
		t.absent(key)
		t.put(key, t.service(service{Host: target, TTL: uint32(step.After.TTL)}))
	}
}

// mark puts the mark of a set, or removes it with the set. It writes the mark even if it stays, because a later change
// that was read before this one then fails.
func (t *transaction) mark(step publisher.Step) {
	held := t.read.marks[step.Type]
	for _, e := range held {
		t.unchanged(e)
	}
	if len(step.After.Targets) == 0 {
		for _, e := range held {
			t.removeText(e)
		}
		return
	}
	text := marks.Text(step.After.Mark)
	if len(held) == 0 {
		key := keyOf(t.w.prefix, t.w.marks.Name(t.name, step.Type), "TXT", "mark")
		t.absent(key)
		t.put(key, t.service(service{Text: text}))
		return
	}
	changed := held[0].service
	changed.Text = text
	t.put(held[0].key, changed)
	for _, e := range held[1:] {
		t.removeText(e)
	}
}

// service completes a new value.
func (t *transaction) service(s service) service {
	s.TargetStrip = 1
	if t.w.strict {
		s.Owner = t.w.marks.Owner()
	}
	return s
}

// removeHost takes the host out of a key, which may hold a text for another name's mark.
func (t *transaction) removeHost(e entry) {
	if e.service.Text == "" {
		t.deletes = append(t.deletes, clientv3.OpDelete(e.key))
		return
	}
	changed := e.service
	changed.Host = ""
	t.put(e.key, changed)
}

func (t *transaction) removeText(e entry) {
	if e.service.Host == "" {
		t.deletes = append(t.deletes, clientv3.OpDelete(e.key))
		return
	}
	changed := e.service
	changed.Text = ""
	t.put(e.key, changed)
}

func (t *transaction) put(key string, s service) {
	text, err := s.encode()
	if err != nil && t.err == nil {
		t.err = fault.Errorf(publisher.Invalid, "%s cannot be encoded: %v", t.name, err)
	}
	t.puts = append(t.puts, clientv3.OpPut(key, text))
}

func (t *transaction) unchanged(e entry) {
	if !t.touched[e.key] {
		t.touched[e.key] = true
		t.compares = append(t.compares, clientv3.Compare(clientv3.ModRevision(e.key), "=", e.revision))
	}
}

func (t *transaction) absent(key string) {
	if !t.touched[key] {
		t.touched[key] = true
		t.compares = append(t.compares, clientv3.Compare(clientv3.CreateRevision(key), "=", 0))
	}
}

func (t *transaction) commit(ctx context.Context) error {
	answer, err := t.w.client.Txn(ctx).If(t.compares...).Then(append(t.puts, t.deletes...)...).Commit()
	if err != nil {
		return t.w.failed("write", err)
	}
	if !answer.Succeeded {
		return fault.Errorf(fault.Stale, "the keys of %s have changed since they were read", t.name)
	}
	return nil
}
