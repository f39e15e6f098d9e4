package etcd

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap/zapcore"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// safetyPart is the part of a lease's time at whose beginning a holder that
// hears nothing gives it up: the last quarter.
const safetyPart = 4

type lease struct {
	client  *clientv3.Client
	id      clientv3.LeaseID
	stop    context.CancelFunc
	lost    chan struct{}
	loseOne sync.Once
}

var _ kv.Lease = (*lease)(nil)

// Lease implements kv.KV. The lease counts as lost when no keep-alive was
// answered for three quarters of its time, that is before the server lets
// another have it.
func (s *KV) Lease(ctx context.Context, ttlSeconds int) (kv.Lease, error) {
	short, cancel := withDeadline(ctx)
	defer cancel()
	asked := time.Now()
	granted, err := s.client.Grant(short, int64(ttlSeconds))
	if err != nil {
		return nil, failure("grant a lease", err)
	}
	alive, stop := context.WithCancel(ctx)
	answers, err := s.client.KeepAlive(alive, granted.ID)
	if err != nil {
		stop()
		return nil, failure("keep a lease alive", err)
	}
	l := &lease{client: s.client, id: granted.ID, stop: stop, lost: make(chan struct{})}
	trusted := trust(time.Duration(granted.TTL) * time.Second)
	go l.keep(answers, trusted, trusted-time.Since(asked))
	return l, nil
}

// trust returns for how long a holder that hears nothing counts on a lease of a TTL.
func trust(ttl time.Duration) time.Duration { return ttl - ttl/safetyPart }

func (l *lease) ID() int64 { return int64(l.id) }

func (l *lease) Lost() <-chan struct{} { return l.lost }

func (l *lease) Release(ctx context.Context) error {
	l.lose()
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if _, err := l.client.Revoke(ctx, l.id); err != nil {
		return failure("release a lease", err)
	}
	return nil
}

func (l *lease) keep(answers <-chan *clientv3.LeaseKeepAliveResponse, trusted, first time.Duration) {
	defer l.lose()
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case _, ok := <-answers:
			if !ok {
				return
			}
			timer.Reset(trusted)
		case <-timer.C:
			return
		}
	}
}

func (l *lease) lose() {
	l.loseOne.Do(func() {
		close(l.lost)
		l.stop()
	})
}

// death is how the server inside this process ends when it cannot go on, as
// when the disk is full. Left to itself, it would take the process along.
type death struct {
	once sync.Once
	err  error         // why; read after done
	done chan struct{} // closed when the server is dead
}

func newDeath() *death { return &death{done: make(chan struct{})} }

// OnWrite implements zapcore.CheckWriteHook. etcd counts on it that the
// goroutine that logged does not go on: it stays here for ever.
func (d *death) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	d.once.Do(func() {
		d.err = fmt.Errorf("the embedded etcd cannot go on: %s%s", entry.Message, because(fields))
		close(d.done)
	})
	select {}
}

// because is the error among a log line's fields, if there is one.
func because(fields []zapcore.Field) string {
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok {
			return ": " + err.Error()
		}
	}
	return ""
}
