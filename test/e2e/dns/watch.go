package dns

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Watch is a resolver that asks for the addresses (A) of a name again and again.
type Watch struct {
	stop  context.CancelFunc
	ended chan struct{}

	mu   sync.Mutex
	seen []Answer
}

// Answer is what queries in a row were answered.
type Answer struct {
	Code    string   // such as "NOERROR"; of a query that nobody answered the reason
	Targets []string // sorted
	Times   int      // how many queries in a row, at least 1
}

// String is the answer as one line.
func (a Answer) String() string { return fmt.Sprintf("%d× %s %v", a.Times, a.Code, a.Targets) }

const (
	// watchEvery is the time between two queries: that in which etcd applies a write or two.
	watchEvery = 5 * time.Millisecond
	// watchPatience is how long a server on a busy machine may take to answer.
	watchPatience = 20 * time.Second
)

// NewWatch asks the server ("host:port") until Stop is called, once.
func NewWatch(server, name string) *Watch {
	ctx, stop := context.WithCancel(context.Background())
	w := &Watch{stop: stop, ended: make(chan struct{})}
	go w.run(ctx, server, name)
	return w
}

// Stop ends the questions.
func (w *Watch) Stop() {
	w.stop()
	<-w.ended
}

// Seen are the answers so far, in order.
func (w *Watch) Seen() []Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

func (w *Watch) run(ctx context.Context, server, name string) {
	defer close(w.ended)
	every := time.NewTicker(watchEvery)
	defer every.Stop()
	client := &dns.Client{Timeout: watchPatience}
	for {
		w.note(ask(client, server, name))
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

func (w *Watch) note(now Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := len(w.seen) - 1
	if last >= 0 && w.seen[last].Code == now.Code && slices.Equal(w.seen[last].Targets, now.Targets) {
		w.seen[last].Times++
		return
	}
	w.seen = append(w.seen, now)
}

// ask asks once.
func ask(client *dns.Client, server, name string) Answer {
	reply, _, err := client.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA), server)
	if err != nil {
		return Answer{Code: err.Error(), Times: 1}
	}
	a := Answer{Code: dns.RcodeToString[reply.Rcode], Times: 1}
	for _, record := range reply.Answer {
		if address, is := record.(*dns.A); is {
			a.Targets = append(a.Targets, address.A.String())
		}
	}
	slices.Sort(a.Targets)
	return a
}
