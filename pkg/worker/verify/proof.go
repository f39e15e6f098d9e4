package verify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	dnsverify "github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// proof is what is known of the names of one DNSEndpoint. There may be very many, so that what is a byte stands together.
type proof struct {
	key string // the DNSEndpoint, "namespace/name"
	*way
	presence
	leaving bool // it has gone: its names are to go
	removed bool // what has gone was removed from DNS by the built-in publisher, so it does not come any more
	done    bool // nothing else is expected of the answers
	logged  bool // the log knows that a name is somebody else's

	want     *state.Wanted // the DNSEndpoint as it is wanted, or was wanted last; nil: it was not since it was recalled
	recalled given         // what the DNSEndpoint gave, while there is no want
	cause    time.Time     // when the observation was made that the names follow from; zero: not known, or told

	asks    []uint64          // hashes of the questions, ordered by name and type
	renewed map[nameKey]bool  // names whose question has changed since they were asked for
	began   time.Time         // since when these are asked
	asked   time.Time         // when they were asked last; zero: not yet
	gone    time.Time         // since when no server answers what leaves; zero: one may
	answers *observed.Answers // nil: nothing is known yet; not changed once it is handed over
	handed  *observed.Answers // those that the observer was given
	turn    turn
}

// way is how the names of an external-dns are verified. Its proofs share it, and it is not changed any more.
type way struct {
	mark    state.Mark
	how     *appcontext.Verify // nil: there is no external-dns
	servers []netip.AddrPort   // empty: those of the zone
}

// presence is how a DNSEndpoint, and the external-dns that publishes it, are there.
type presence struct {
	there  bool // the DNSEndpoint is wanted
	going  bool // it is being deleted
	paused bool // nothing is to be asked now
	orphan bool // it has gone, and so has the external-dns that published it
}

// How long the names of a DNSEndpoint that has gone are kept in mind: once they
// have gone themselves, and at most.
const (
	goneFor    = 10 * time.Minute
	leavingFor = cluster.RemovedFor
)

// over tells whether nobody waits any more to hear of names that leave.
func (p *proof) over(now time.Time) bool {
	return now.Sub(p.began) > leavingFor || !p.gone.IsZero() && now.Sub(p.gone) > goneFor
}

// names are those that the DNSEndpoint gives, or gave last. They are read whenever they are needed: there may be very many.
func (p *proof) names() given {
	if p.want == nil {
		return p.recalled
	}
	return namesOf(p.want.Publishes())
}

// questions makes the questions about the names, ordered by name and type. published is what all DNSEndpoints of the
// external-dns give to their names. An answer is right when it has all of that, and a
// name need not lose what others go on to give.
func (p *proof) questions(names, published given) []dnsverify.Question {
	var questions []dnsverify.Question
	for _, name := range names {
		key := name.nameKey
		q := dnsverify.Question{Name: key.name, Type: key.kind, Leaving: p.leaving}
		if p.how != nil {
			q.Owner, q.TXT, q.Aliases = p.how.Owner, p.how.Mark(key.name, key.kind), p.how.Aliases
		}
		if p.leaving {
			still := published.get(key).all()
			targets := slices.DeleteFunc(name.sets.all(), func(target string) bool { return slices.Contains(still, target) })
			if len(targets) == 0 {
				continue
			}
			q.Sets = [][]string{targets}
		} else {
			for _, one := range published.get(key) {
				q.Sets = append(q.Sets, sets{one}.all())
			}
		}
		questions = append(questions, q)
	}
	return questions
}

// hashOf is the same for the same questions.
func hashOf(q dnsverify.Question) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", q))
	return binary.LittleEndian.Uint64(sum[:])
}

// updateQuestions takes up that the questions may be others. Hashes of them are kept, and they are made again when
// they are asked. The names are as of questions.
func (p *proof) updateQuestions(leaving bool, names, published given, now time.Time) {
	left := p.leaving
	p.leaving = leaving
	questions := p.questions(names, published)
	asks := make([]uint64, len(questions))
	for n, q := range questions {
		asks[n] = hashOf(q)
	}
	if left == leaving && !p.began.IsZero() && slices.Equal(p.asks, asks) {
		return
	}
	p.renewChanged(questions, asks)
	p.doubt(names, now)
	p.asks, p.began, p.asked, p.done, p.gone = asks, now, time.Time{}, false, time.Time{}
	p.removed = false
	if p.answers != nil && !p.answers.Gone.IsZero() {
		again := *p.answers
		again.Gone = time.Time{}
		p.answers = &again
	}
}

// cameBack tells whether a DNSEndpoint has changed more than once since it was taken up, and is as it was then.
func (p *proof) cameBack(want *state.Wanted) bool {
	return p.want != nil && p.want.Digest == want.Digest && want.Stages != ledger.Decision{} && p.want.Stages != want.Stages
}

// askedBefore tells whether a server was asked before a DNSEndpoint was written, and not since. Such an answer is of before.
func (p *proof) askedBefore(written time.Time) bool {
	return !p.asked.IsZero() && p.answers != nil && slices.ContainsFunc(p.answers.Names, func(n observed.NameAnswer) bool {
		return len(n.Answers) > 0 && dnsverify.Asked(n.Answers).Before(written)
	})
}

// renewChanged notes which questions change, given their hashes. An answer that was right before is a new one then, also
// if the question comes back before it was asked.
func (p *proof) renewChanged(next []dnsverify.Question, asks []uint64) {
	if p.asks == nil {
		return // the answers that were recalled are about these questions
	}
	for n, q := range next {
		if !slices.Contains(p.asks, asks[n]) {
			p.renew(given{}.with(nameKey{q.Name, q.Type}, ""))
		}
	}
}

// renew notes that answers to some names are of before.
func (p *proof) renew(names given) {
	if p.renewed == nil {
		p.renewed = map[nameKey]bool{}
	}
	for _, name := range names {
		p.renewed[name.nameKey] = true
	}
}

// doubt takes back answers of before that are about the targets of now, if the DNSEndpoint itself has changed. The targets
// went and came back before anybody asked.
func (p *proof) doubt(names given, now time.Time) {
	ofBefore := func(n observed.NameAnswer) bool {
		key := nameKey{n.Name, n.Type}
		return p.renewed[key] && n.Verdict != string(dnsverify.NotAsked) && slices.Equal(n.Targets, names.get(key).all())
	}
	if p.leaving || !p.began.IsZero() || p.answers == nil || !slices.ContainsFunc(p.answers.Names, ofBefore) {
		return
	}
	again := *p.answers
	again.Names = slices.Clone(again.Names)
	for n, one := range again.Names {
		if ofBefore(one) {
			one.Verdict, one.Message, one.Since, one.Answers = string(dnsverify.NotAsked), dnsverify.AskedAgain, now.UTC(), nil
			again.Names[n] = one
		}
	}
	p.answers = &again
}

// restart begins anew with other servers: what those answered that the record no
// longer names does not count any more.
func (p *proof) restart(now time.Time) {
	p.began, p.asked, p.done, p.gone = now, time.Time{}, false, time.Time{}
	if p.answers == nil {
		return
	}
	none := &observed.Answers{Project: p.mark.Project, Record: p.mark.Record, Scope: p.mark.Scope}
	for _, n := range p.answers.Names {
		none.Names = append(none.Names, observed.NameAnswer{
			Name: n.Name, Type: n.Type, Targets: n.Targets, Verdict: string(dnsverify.NotAsked),
			Message: "the record's servers have changed, and were not asked yet", Since: now.UTC(),
		})
	}
	p.answers = none
}

// hosts are the names, each once.
func (p *proof) hosts() []string {
	var out []string
	for _, name := range p.names() {
		out = append(out, name.name)
	}
	return slices.Compact(out)
}

func compareNames(a, b nameKey) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
}

// due answers how long it takes until the questions are to be asked, 0 for now.
func (p *proof) due(now time.Time) time.Duration {
	switch {
	case p.paused, p.leaving && p.done:
		return verifyRarely
	case p.asked.IsZero() && p.removed:
		return 0
	case p.asked.IsZero():
		return max(0, p.began.Add(verifySoonest).Sub(now))
	case p.done:
		return max(0, p.asked.Add(verifyRarely).Sub(now))
	}
	gap := min(max(p.asked.Sub(p.began)/patienceShare, verifySoonest), verifyRarely)
	return max(0, p.asked.Add(gap).Sub(now))
}

// ask asks all of the questions about the names. Findings are worth nothing if ctx ended early.
func (p *proof) ask(ctx context.Context, names given, questions []dnsverify.Question, verifier Verifier, clock pace.Clock) {
	found := &observed.Answers{Project: p.mark.Project, Record: p.mark.Record, Scope: p.mark.Scope}
	done, seen := true, true
	for _, q := range questions {
		f, known := knownAnswer(p.how, p.servers)
		if !known {
			f = verifier.Verify(ctx, q, p.servers)
		}
		if ctx.Err() != nil {
			return
		}
		done = done && settled(q, f.Verdict)
		n := p.nameAnswer(q, f, names.get(nameKey{q.Name, q.Type}).all(), clock.Now().UTC())
		found.Names, seen = append(found.Names, n), seen && n.Seen
	}
	p.asked, p.done = clock.Now(), done && (seen || p.removed || !p.leaving)
	if p.leaving {
		p.gone = since(p.gone, done, p.asked)
	}
	if p.leaving && p.done {
		found.Gone = p.gone.UTC()
	}
	p.answers, p.renewed = found, nil
}

// since is when something that is so began: before, or else now; zero when it is
// not so.
func since(before time.Time, is bool, now time.Time) time.Time {
	switch {
	case !is:
		return time.Time{}
	case before.IsZero():
		return now
	}
	return before
}

// matches tells whether all names are answered as they were published.
func (p *proof) matches() bool {
	return p.answers != nil && !slices.ContainsFunc(p.answers.Names, func(n observed.NameAnswer) bool { return n.Verdict != string(dnsverify.Matches) })
}

// settled tells whether no other answer is expected.
func settled(q dnsverify.Question, v dnsverify.Verdict) bool {
	if q.Leaving {
		return v == dnsverify.Gone
	}
	return v == dnsverify.Matches || v == dnsverify.Alias || v == dnsverify.Hidden
}

// nameAnswer is what was found of a name, with the targets that this DNSEndpoint
// gives to it.
func (p *proof) nameAnswer(q dnsverify.Question, f dnsverify.Finding, targets []string, now time.Time) observed.NameAnswer {
	n := observed.NameAnswer{
		Name: q.Name, Type: q.Type, Targets: targets,
		Verdict: string(f.Verdict), Message: f.Message, Since: now, Answers: f.Answers,
	}
	for _, a := range f.Answers {
		n.Seen = n.Seen || slices.ContainsFunc(a.Targets, func(target string) bool { return slices.Contains(n.Targets, target) })
	}
	if p.answers == nil {
		return n
	}
	for _, before := range p.answers.Names {
		if before.Name != n.Name || before.Type != n.Type || !slices.Equal(before.Targets, n.Targets) {
			continue
		}
		n.Seen = n.Seen || before.Seen
		if before.Verdict == n.Verdict && !p.renewed[nameKey{n.Name, n.Type}] {
			n.Since = before.Since
		}
	}
	return n
}

// log tells the log of names that are somebody else's, once, and when that has
// ended.
func (p *proof) log(ctx context.Context, logger *slog.Logger) {
	foreign := ""
	if p.answers != nil {
		for _, n := range p.answers.Names {
			if n.Verdict == string(dnsverify.Foreign) {
				foreign = state.Join(foreign, n.Name+" "+n.Type+": "+n.Message)
			}
		}
	}
	switch {
	case foreign != "" && !p.logged:
		logger.WarnContext(ctx, "a name belongs to somebody else", "project", p.mark.Project, "record", p.mark.Record, "message", foreign)
	case foreign == "" && p.logged:
		logger.InfoContext(ctx, "names no longer belong to somebody else", "project", p.mark.Project, "record", p.mark.Record)
	}
	p.logged = foreign != ""
}
