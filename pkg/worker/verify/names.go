// Package verify has the names that one cluster publishes verified by asking the
// authoritative servers.
package verify

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	dnsverify "github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// Verifier asks authoritative servers, those of the name's zone where none are
// given. It is safe for concurrent use.
type Verifier interface {
	Verify(ctx context.Context, q dnsverify.Question, servers []netip.AddrPort) dnsverify.Finding
}

// Names has the names of one cluster's DNSEndpoints verified. It has a goroutine of its
// own, so that servers that do not answer hold up nothing else (I7). It needs nothing of
// the cluster, and goes on while that cannot be reached.
type Names struct {
	cluster  *state.Cluster
	verifier Verifier
	store    *observed.Store
	proofs   map[string]*proof // by DNSEndpoint, "namespace/name"; nil before what is stored was read
	recalled bool              // what was stored is among the proofs, and was not compared with what is asked yet
	how      map[state.Mark]*appcontext.Verify
	ways     map[state.Mark]*way // those that proofs share
	sharers  sharers             // the proofs, by their names
	gone     map[string]*proof   // those of DNSEndpoints that are not wanted
	schedule schedule
}

// New makes Names of which nothing is known yet. Nothing is asked without a
// Verifier.
func New(of *state.Cluster, verifier Verifier, store *observed.Store) *Names {
	return &Names{cluster: of, verifier: verifier, store: store, ways: map[state.Mark]*way{}, sharers: newSharers(), gone: map[string]*proof{}}
}

// Rhythm of the questions: soon after a change, and the more rarely the longer
// nothing comes of it.
const (
	verifySoonest   = time.Second
	verifyRarely    = 5 * time.Minute
	patienceShare   = 4   // a question waits for this part of the time since the change
	questionsAtOnce = 100 // that are asked before the findings are told
	endpointsAtOnce = 8   // DNSEndpoints that are asked for at a time
)

// Run asks whenever something has changed or a question is due, until ctx ends.
func (p *Names) Run(ctx context.Context) {
	if p.verifier == nil {
		p.ignore(ctx)
		return
	}
	pace.Loop(ctx, p.cluster.Clock, p.cluster.Signals.Verify, p.step)
}

// ignore asks nothing, until ctx ends.
func (p *Names) ignore(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.cluster.Signals.Verify:
			p.cluster.TakeQuestions()
		}
	}
}

// step asks what is due, and answers when something is again. Its cost follows what has changed and what is due, and
// not how many names there are.
func (p *Names) step(ctx context.Context) time.Duration {
	if !p.cluster.Asks() {
		return verifyRarely // it is called when there is something
	}
	if p.proofs == nil {
		if err := p.recall(ctx); err != nil {
			p.cluster.Logger.WarnContext(ctx, "answers cannot be read", "error", err)
			return pace.RetryLongest
		}
	}
	now := p.cluster.Clock.Now()
	if questions := p.cluster.TakeQuestions(); questions != nil {
		p.follow(questions, now)
	}
	p.forget(now)
	p.confirm(now)
	due := p.schedule.due(now)
	p.ask(ctx, due)
	if ctx.Err() != nil {
		return 0
	}
	p.hand(due)
	now = p.cluster.Clock.Now()
	for _, one := range due {
		p.schedule.set(one, now)
	}
	return p.schedule.wait(now)
}

// recall takes up what an earlier owner of the cluster has found: among it are
// the names of DNSEndpoints that have gone.
func (p *Names) recall(ctx context.Context) error {
	stored, err := p.store.AllAnswers(ctx, p.cluster.Name)
	if err != nil {
		return err
	}
	p.proofs, p.recalled = map[string]*proof{}, true
	for key, a := range stored {
		one := &proof{
			key:     key,
			way:     &way{mark: state.Mark{Namespace: state.NamespaceOf(key), Project: a.Project, Record: a.Record, Scope: a.Scope}},
			answers: &a,
			handed:  &a,
		}
		for _, n := range a.Names {
			one.recalled = one.recalled.with(nameKey{n.Name, n.Type}, "", n.Targets...)
		}
		p.proofs[key], p.gone[key] = one, one
		p.sharers.add(one, one.recalled)
	}
	return nil
}

// forget drops what has gone and was told of.
func (p *Names) forget(now time.Time) {
	for key, one := range p.gone {
		if !one.orphan && (!one.leaving || !one.over(now)) {
			continue
		}
		one.answers = nil
		p.hand([]*proof{one})
		delete(p.proofs, key)
		delete(p.gone, key)
		p.sharers.remove(one, one.names())
		p.schedule.remove(one)
	}
}

// confirm has the built-in publisher say of which DNSEndpoints it has removed the names.
func (p *Names) confirm(now time.Time) {
	own, is := p.cluster.Watches().(cluster.BuiltIn)
	if !is {
		return
	}
	for key, one := range p.gone {
		if one.leaving && !one.paused && !one.removed {
			namespace, name, _ := strings.Cut(key, "/")
			if one.removed = own.Removed(bundle.EndpointID(p.cluster.Name, namespace, name), one.hosts()); one.removed {
				p.schedule.set(one, now)
			}
		}
	}
}

// ask verifies several DNSEndpoints at a time.
func (p *Names) ask(ctx context.Context, due []*proof) {
	var group errgroup.Group
	group.SetLimit(endpointsAtOnce)
	for _, one := range due {
		group.Go(func() error {
			if names := one.names(); ctx.Err() == nil {
				one.ask(ctx, names, one.questions(names, p.published(one, names)), p.verifier, p.cluster.Clock)
			}
			return nil
		})
	}
	_ = group.Wait() // none fails
	for _, one := range due {
		one.log(ctx, p.cluster.Logger)
		if one.matches() {
			p.cluster.Metrics.Reached(metrics.Answered, one.mark.Metric(), one.cause, one.asked)
			one.cause = time.Time{}
		}
	}
}

// hand gives the answers that have changed to the observer, to be stored.
func (p *Names) hand(of []*proof) {
	changed := map[string]*observed.Answers{}
	for _, one := range of {
		if one.answers != one.handed {
			changed[one.key], one.handed = one.answers, one.answers
		}
	}
	p.cluster.SetAnswers(changed)
}

// knownAnswer is what is found without a question; ok is false when there is one to
// be asked.
func knownAnswer(how *appcontext.Verify, servers []netip.AddrPort) (f dnsverify.Finding, ok bool) {
	switch {
	case how.Hidden != "":
		return dnsverify.Finding{Verdict: dnsverify.Hidden, Message: how.Hidden}, true
	case len(servers) == 0 && how.Private != "":
		return dnsverify.Finding{Verdict: dnsverify.NoServers, Message: how.Private + ": give the authoritative servers in the record's verify.servers"}, true
	}
	return dnsverify.Finding{}, false
}
