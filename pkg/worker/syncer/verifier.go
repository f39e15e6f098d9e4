package syncer

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
)

// Verifier asks authoritative servers, those of the name's zone where none are
// given. It is safe for concurrent use.
type Verifier interface {
	Verify(ctx context.Context, q verify.Question, servers []netip.AddrPort) verify.Finding
}

// verifier has the names of one cluster's DNSEndpoints verified. It has a goroutine
// of its own, so that servers that do not answer hold up nothing else (I7), and
// needs nothing of the cluster: it goes on while that cannot be reached.
type verifier struct {
	worker   *clusterWorker
	verifier Verifier
	store    *observed.Store
	seen     *questions        // what was followed last
	proofs   map[string]*proof // by DNSEndpoint, "namespace/name"; nil before what is stored was read
}

func newVerifier(t *clusterWorker, asks Verifier, store *observed.Store) *verifier {
	return &verifier{worker: t, verifier: asks, store: store}
}

// Rhythm of the questions: soon after a change, and the more rarely the longer
// nothing comes of it.
const (
	verifySoonest   = time.Second
	verifyRarely    = 5 * time.Minute
	verifyGap       = 500 * time.Millisecond // at least between two looks
	patienceShare   = 4                      // a question waits for this part of the time since the change
	questionsAtOnce = 100                    // that are asked before the findings are told
)

// verifyNames asks whenever something has changed or a question is due, until ctx ends.
func (t *clusterWorker) verifyNames(ctx context.Context, p *verifier) {
	if p.verifier == nil {
		return
	}
	for {
		wait := p.step(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.clock.After(verifyGap):
		}
		select {
		case <-ctx.Done():
			return
		case <-t.wakeVerifier:
		case <-t.clock.After(wait - verifyGap):
		}
	}
}

// step asks what is due, and answers when something is again.
func (p *verifier) step(ctx context.Context) time.Duration {
	t := p.worker
	t.mu.Lock()
	questions := t.questions
	t.mu.Unlock()
	if questions == nil {
		return verifyRarely // it is called when there is something
	}
	if p.proofs == nil {
		if err := p.recall(ctx); err != nil {
			t.logger.WarnContext(ctx, "answers cannot be read", "error", err)
			return pace.RetryLongest
		}
	}
	now := t.clock.Now()
	if questions != p.seen {
		p.follow(questions, now)
		p.seen = questions
	}
	p.forget(now)
	p.hand()
	due := p.due(now)
	p.ask(ctx, due)
	if ctx.Err() != nil {
		return 0
	}
	p.hand()
	now = t.clock.Now()
	wait := verifyRarely
	for _, one := range p.proofs {
		wait = min(wait, one.due(now))
	}
	return wait
}

// recall takes up what an earlier owner of the cluster has found: among it are
// the names of DNSEndpoints that have gone.
func (p *verifier) recall(ctx context.Context) error {
	stored, err := p.store.AllAnswers(ctx, p.worker.name)
	if err != nil {
		return err
	}
	p.proofs = map[string]*proof{}
	for key, a := range stored {
		one := &proof{
			mark:    mark{namespaceOf(key), a.Project, a.Record, a.Scope},
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

// follow takes up what is to be verified now. What has gone is leaving; while it
// goes, and while it has no external-dns, nothing is asked.
func (p *verifier) follow(now *questions, at time.Time) {
	for key, want := range now.endpoints {
		one := p.proofs[key]
		if one == nil {
			one = &proof{}
			p.proofs[key] = one
		}
		if one.digest != want.digest {
			one.digest, one.names, one.cause = want.digest, namesOf(want.object.Published), want.cause
		}
		one.mark = now.marks[key]
	}
	published := map[mark]map[nameKey]sets{}
	for key := range now.endpoints {
		one := p.proofs[key]
		if published[one.mark] == nil {
			published[one.mark] = map[nameKey]sets{}
		}
		join(published[one.mark], one.names)
	}
	for key, one := range p.proofs {
		_, there := now.endpoints[key]
		one.paused = now.going[key] || now.how[one.mark] == nil
		one.orphan = !there && now.how[one.mark] == nil
		if one.how != nil && now.how[one.mark] != nil && !slices.Equal(one.servers, now.servers[one.mark]) {
			one.restart(at)
		}
		one.how, one.servers = now.how[one.mark], now.servers[one.mark]
		one.updateQuestions(!there && !now.going[key], published[one.mark], at)
	}
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
func (p *verifier) forget(now time.Time) {
	for key, one := range p.proofs {
		if one.orphan || one.leaving && one.over(now) {
			delete(p.proofs, key)
		}
	}
}

// due are those whose turn it is: what has changed last comes first.
func (p *verifier) due(now time.Time) []*proof {
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
func (p *verifier) ask(ctx context.Context, due []*proof) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(askers, len(due)) {
		group.Go(func() {
			for i := next.Add(1); i <= int64(len(due)) && ctx.Err() == nil; i = next.Add(1) {
				due[i-1].ask(ctx, p.verifier, p.worker.clock)
			}
		})
	}
	group.Wait()
	for _, one := range due {
		one.log(ctx, p.worker.logger)
		if one.matches() {
			p.worker.metrics.Answered(one.cause, one.asked)
			one.cause = time.Time{}
		}
	}
}

// hand gives the answers to the observer, to be stored.
func (p *verifier) hand() {
	t := p.worker
	all := map[string]*observed.Answers{}
	for key, one := range p.proofs {
		if one.answers != nil {
			all[key] = one.answers
		}
	}
	t.mu.Lock()
	same := t.answers != nil && maps.Equal(t.answers, all)
	t.answers = all
	t.mu.Unlock()
	if !same {
		wake(t.wakeLook)
	}
}

// knownAnswer is what is found without a question; ok is false when there is one to
// be asked.
func knownAnswer(how *appcontext.Verify, servers []netip.AddrPort) (f verify.Finding, ok bool) {
	switch {
	case how.Hidden != "":
		return verify.Finding{Verdict: verify.Hidden, Message: how.Hidden}, true
	case len(servers) == 0 && how.Private != "":
		return verify.Finding{Verdict: verify.NoServers, Message: how.Private + ": give the authoritative servers in the record's verify.servers"}, true
	}
	return verify.Finding{}, false
}
