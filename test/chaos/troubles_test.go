package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/faults/link"
)

// trouble is one thing that fails, and works again.
type trouble struct {
	name       string
	begin, end func(ctx context.Context) error
}

// lane is a row of troubles, one after the other. What may fail in one lane does
// not in another.
type lane struct {
	name   string
	choose func(r *rand.Rand) trouble
}

func (s *site) lanes() []lane {
	return []lane{
		{"replicas", func(r *rand.Rand) trouble { return s.troubleOf(r, s.replicas[r.IntN(len(s.replicas))]) }},
		{"etcd", func(r *rand.Rand) trouble { return troubleOfMember(r, s.members[r.IntN(len(s.members))]) }},
		{"clusters", func(r *rand.Rand) trouble { return troubleOfCluster(r, s.clusters[r.IntN(len(s.clusters))]) }},
	}
}

// rage lets things fail until a time has passed, the same for the same seed. All
// work again when it returns.
func (s *site) rage(seed uint64, during time.Duration, lanes ...lane) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), during)
	defer cancel()
	var running sync.WaitGroup
	for n, l := range lanes {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		running.Go(func() {
			for ctx.Err() == nil {
				s.suffer(ctx, l, l.choose(r), hold(r))
				pause(ctx, time.Duration(r.IntN(3000))*time.Millisecond)
			}
		})
	}
	running.Wait()
	require.False(s, s.Failed())
}

// hold is how long a trouble lasts: mostly some seconds, at times longer than a
// lease.
func hold(r *rand.Rand) time.Duration {
	const lease = 15 * time.Second
	if r.IntN(5) == 0 {
		return lease + time.Duration(r.IntN(6000))*time.Millisecond
	}
	return time.Duration(500+r.IntN(6000)) * time.Millisecond
}

func (s *site) suffer(ctx context.Context, l lane, t trouble, during time.Duration) {
	s.Logf("%s %s: %s, %s", time.Now().Format("15:04:05.0"), l.name, t.name, during.Round(time.Millisecond))
	if err := t.begin(s.Context()); err != nil {
		s.Errorf("%s does not begin: %v", t.name, err)
	}
	pause(ctx, during)
	if err := t.end(s.Context()); err != nil {
		s.Errorf("%s does not end: %v", t.name, err)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (s *site) troubleOf(r *rand.Rand, of *replica) trouble {
	switch r.IntN(6) {
	case 0:
		return trouble{"kill -9 " + of.Name, nothing(of.Kill), of.restart}
	case 1:
		return trouble{"SIGTERM " + of.Name, func(context.Context) error { return of.Stop(patience) }, of.restart}
	case 2:
		return stopped(of.Name, of.PID)
	case 3:
		return wrong(r, "one link of "+of.Name, of.links[r.IntN(len(of.links))])
	default:
		return wrong(r, "all links of "+of.Name, of.links...)
	}
}

func troubleOfMember(r *rand.Rand, of *member) trouble {
	name := "etcd member at " + of.URL
	switch r.IntN(4) {
	case 0:
		return trouble{"kill -9 " + name, nothing(of.Kill), of.Start}
	case 1:
		return stopped(name, of.PID)
	default:
		return wrong(r, "peers of "+name, of.peers)
	}
}

func troubleOfCluster(r *rand.Rand, of *cluster) trouble {
	switch r.IntN(5) {
	case 0:
		return trouble{"kill -9 " + of.Name, nothing(of.Stop), of.Start}
	case 1:
		return stopped(of.Name, of.PID)
	default:
		return wrong(r, "link to "+of.Name, of.link)
	}
}

func nothing(do func()) func(context.Context) error {
	return func(context.Context) error { do(); return nil }
}

// stopped stops a process in the middle of what it does.
func stopped(name string, pid func() int) trouble {
	signal := func(what syscall.Signal) func(context.Context) error {
		return func(context.Context) error { return syscall.Kill(pid(), what) }
	}
	return trouble{"SIGSTOP " + name, signal(syscall.SIGSTOP), signal(syscall.SIGCONT)}
}

// wrong puts the same fault into links.
func wrong(r *rand.Rand, name string, links ...*link.Link) trouble {
	set := func(f link.Fault) func(context.Context) error {
		return func(context.Context) error {
			var errs []error
			for _, l := range links {
				errs = append(errs, l.Set(f))
			}
			return errors.Join(errs...)
		}
	}
	heal := set(link.Fault{})
	switch r.IntN(6) {
	case 0:
		return trouble{name + " cut", set(link.Cut()), heal}
	case 1:
		return trouble{name + " cut forth", set(link.Fault{Forth: true}), heal}
	case 2:
		return trouble{name + " cut back", set(link.Fault{Back: true}), heal}
	case 3:
		return trouble{name + " refused", set(link.Fault{Refuse: true}), heal}
	case 4:
		reset := nothing(func() {
			for _, l := range links {
				l.Reset()
			}
		})
		return trouble{name + " reset", reset, reset}
	default:
		latency := time.Duration(20+r.IntN(400)) * time.Millisecond
		return trouble{fmt.Sprintf("%s slow by %s", name, latency), set(link.Fault{Latency: latency}), heal}
	}
}
