// Package verify has the names that one cluster publishes verified by asking the
// authoritative servers.
package verify

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
	seen     *state.Questions  // what was followed last
	proofs   map[string]*proof // by DNSEndpoint, "namespace/name"; nil before what is stored was read
}

// New makes Names of which nothing is known yet. Nothing is asked without a
// Verifier.
func New(of *state.Cluster, verifier Verifier, store *observed.Store) *Names {
	return &Names{cluster: of, verifier: verifier, store: store}
}

// Rhythm of the questions: soon after a change, and the more rarely the longer
// nothing comes of it.
const (
	verifySoonest   = time.Second
	verifyRarely    = 5 * time.Minute
	verifyGap       = 500 * time.Millisecond // at least between two looks
	patienceShare   = 4                      // a question waits for this part of the time since the change
	questionsAtOnce = 100                    // that are asked before the findings are told
	endpointsAtOnce = 8                      // DNSEndpoints that are asked for at a time
)

// Run asks whenever something has changed or a question is due, until ctx ends.
func (p *Names) Run(ctx context.Context) {
	if p.verifier == nil {
		return
	}
	for {
		wait := p.step(ctx)
		select {
		case <-ctx.Done():
			return
		case <-p.cluster.Clock.After(verifyGap):
		}
		select {
		case <-ctx.Done():
			return
		case <-p.cluster.Signals.Verify:
		case <-p.cluster.Clock.After(wait - verifyGap):
		}
	}
}

// step asks what is due, and answers when something is again.
func (p *Names) step(ctx context.Context) time.Duration {
	if p.cluster.Snapshot().Questions == nil {
		return verifyRarely // it is called when there is something
	}
	if p.proofs == nil {
		if err := p.recall(ctx); err != nil {
			p.cluster.Logger.WarnContext(ctx, "answers cannot be read", "error", err)
			return pace.RetryLongest
		}
	}
	now, questions := p.cluster.Clock.Now(), p.cluster.TakeQuestions()
	if questions != p.seen {
		p.follow(questions, now)
		p.seen = questions
	}
	p.forget(now)
	p.confirm()
	p.hand()
	due := p.due(now)
	p.ask(ctx, due)
	if ctx.Err() != nil {
		return 0
	}
	p.hand()
	now = p.cluster.Clock.Now()
	wait := verifyRarely
	for _, one := range p.proofs {
		wait = min(wait, one.due(now))
	}
	return wait
}

// recall takes up what an earlier owner of the cluster has found: among it are
// the names of DNSEndpoints that have gone.
func (p *Names) recall(ctx context.Context) error {
	stored, err := p.store.AllAnswers(ctx, p.cluster.Name)
	if err != nil {
		return err
	}
	p.proofs = map[string]*proof{}
	for key, a := range stored {
		one := &proof{
			mark:    state.Mark{Namespace: state.NamespaceOf(key), Project: a.Project, Record: a.Record, Scope: a.Scope},
			names:   map[nameKey]sets{},
			answers: &a,
		}
		for _, n := range a.Names {
			one.names[nameKey{n.Name, n.Type}] = sets{"": n.Targets}
		}
		p.proofs[key] = one
	}
	return nil
}

// follow takes up what is to be verified now. A DNSEndpoint that has gone is leaving.
// While it goes, and while it has no external-dns, nothing is asked.
func (p *Names) follow(now *state.Questions, at time.Time) {
	for _, all := range []map[string]*state.Wanted{now.Passed, now.Endpoints} {
		for key, want := range all {
			p.wanted(key, want, now.Mark(key))
		}
	}
	published := map[state.Mark]map[nameKey]sets{}
	for key := range now.Endpoints {
		one := p.proofs[key]
		if published[one.mark] == nil {
			published[one.mark] = map[nameKey]sets{}
		}
		join(published[one.mark], one.names)
	}
	for key, one := range p.proofs {
		_, there := now.Endpoints[key]
		one.paused = now.Going[key] || now.How[one.mark] == nil
		one.orphan = !there && now.How[one.mark] == nil
		if one.how != nil && now.How[one.mark] != nil && !slices.Equal(one.servers, now.Servers[one.mark]) {
			one.restart(at)
		}
		one.how, one.servers = now.How[one.mark], now.Servers[one.mark]
		one.updateQuestions(!there && !now.Going[key], published[one.mark], at)
	}
}

// wanted takes up a DNSEndpoint as it is, or was last.
func (p *Names) wanted(key string, want *state.Wanted, mark state.Mark) {
	one := p.proofs[key]
	if one == nil {
		one = &proof{}
		p.proofs[key] = one
	}
	if one.digest != want.Digest {
		one.digest, one.names, one.cause = want.Digest, namesOf(want.Object.Published), want.Stages.Observed
	}
	one.mark = mark
}

// join adds what a DNSEndpoint gives to its names to what others give to them.
func join(all, more map[nameKey]sets) {
	for key, given := range more {
		if all[key] == nil {
			all[key] = sets{}
		}
		for id, targets := range given {
			all[key][id] = append(all[key][id], targets...)
		}
	}
}

// forget drops what has gone and was told of.
func (p *Names) forget(now time.Time) {
	for key, one := range p.proofs {
		if one.orphan || one.leaving && one.over(now) {
			delete(p.proofs, key)
		}
	}
}

// confirm has the built-in publisher say of which DNSEndpoints it has removed the names.
func (p *Names) confirm() {
	own, is := p.cluster.Watches().(cluster.BuiltIn)
	if !is {
		return
	}
	for key, one := range p.proofs {
		if one.leaving && !one.paused && !one.removed {
			namespace, name, _ := strings.Cut(key, "/")
			one.removed = own.Removed(bundle.EndpointID(p.cluster.Name, namespace, name), one.hosts())
		}
	}
}

// due are those whose turn it is: what has changed last comes first.
func (p *Names) due(now time.Time) []*proof {
	var due []*proof
	for _, key := range slices.Sorted(maps.Keys(p.proofs)) {
		if one := p.proofs[key]; one.due(now) <= 0 {
			due = append(due, one)
		}
	}
	slices.SortStableFunc(due, func(a, b *proof) int { return cmp.Or(order(a.done)-order(b.done), b.began.Compare(a.began)) })
	count := 0
	for n, one := range due {
		if count += len(one.questions); count > questionsAtOnce && n > 0 {
			return due[:n]
		}
	}
	return due
}

func order(last bool) int {
	if last {
		return 1
	}
	return 0
}

// ask verifies several DNSEndpoints at a time.
func (p *Names) ask(ctx context.Context, due []*proof) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(endpointsAtOnce, len(due)) {
		group.Go(func() {
			for i := next.Add(1); i <= int64(len(due)) && ctx.Err() == nil; i = next.Add(1) {
				due[i-1].ask(ctx, p.verifier, p.cluster.Clock)
			}
		})
	}
	group.Wait()
	for _, one := range due {
		one.log(ctx, p.cluster.Logger)
		if one.matches() {
			p.cluster.Metrics.Reached(metrics.Answered, one.mark.Metric(), one.cause, one.asked)
			one.cause = time.Time{}
		}
	}
}

// hand gives the answers to the observer, to be stored.
func (p *Names) hand() {
	all := map[string]*observed.Answers{}
	for key, one := range p.proofs {
		if one.answers != nil {
			all[key] = one.answers
		}
	}
	p.cluster.SetAnswers(all)
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
