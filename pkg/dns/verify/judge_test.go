package verify

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	first, second = "192.0.2.53:53", "192.0.2.54:53"
	ours, theirs  = "sp-1", "somebody"
)

func www(sets ...[]string) Question {
	return Question{Name: "www.lab.example", Type: "A", Sets: sets, Owner: ours, TXT: "a-www.lab.example"}
}

// says is what a server answers that speaks for the zone.
func says(values ...string) Reply {
	return Reply{Server: first, At: time.Unix(1000, 0).UTC(), Rcode: noError, Authoritative: true, Values: values, TTL: 30}
}

func (r Reply) with(change func(*Reply)) Reply { change(&r); return r }

func (q Question) changed(change func(*Question)) Question { change(&q); return q }

func silent(err error) Reply { return Reply{Server: first, Err: err} }

func TestVerdicts(t *testing.T) {
	one, both := www([]string{"203.0.113.10"}), www([]string{"203.0.113.10", "203.0.113.20"})
	weighted := www([]string{"203.0.113.10"}, []string{"203.0.113.20", "203.0.113.21"})
	alias := Question{Name: "www.lab.example", Type: "CNAME", Sets: [][]string{{"lb.cloud.example"}}}
	leaving := both.changed(func(q *Question) { q.Leaving = true })
	nowhere := says().with(func(r *Reply) { r.Rcode = noName })
	for _, c := range []struct {
		reason  string
		q       Question
		reply   Reply
		want    Verdict
		status  string
		message string
	}{
		{"the target", one, says("203.0.113.10"), Matches, "True", ""},
		{"the targets in another order", both, says("203.0.113.20", "203.0.113.10"), Matches, "True", ""},
		{"one of several sets", weighted, says("203.0.113.20", "203.0.113.21"), Matches, "True", ""},
		{"an alias, as it was published", alias, says("lb.cloud.example"), Matches, "True", ""},

		{"another target", one, says("203.0.113.99"), Differs, "False", "answers 203.0.113.99 in place of 203.0.113.10"},
		{"a target is missing", both, says("203.0.113.10"), Differs, "False", "answers 203.0.113.10 in place of 203.0.113.10, 203.0.113.20"},
		{"a target too many", one, says("203.0.113.10", "203.0.113.99"), Differs, "False", "answers 203.0.113.10, 203.0.113.99 in place of"},
		{"parts of two sets", weighted, says("203.0.113.10", "203.0.113.20"), Differs, "False", "in place of 203.0.113.10 or 203.0.113.20, 203.0.113.21"},
		{"an alias in place of addresses", one, says().with(func(r *Reply) { r.CNAME = "elsewhere.example" }), Differs, "False", "answers elsewhere.example"},
		{"no such name", one, nowhere, NotThere, "False", "has no A record for www.lab.example (NXDOMAIN)"},
		{"nothing of the type", one, says(), NotThere, "False", "has no A record for www.lab.example (NOERROR)"},
		{"a CNAME that is not there", alias, says(), NotThere, "False", "has no CNAME record"},

		{"another external-dns' name", one, says("203.0.113.99").with(func(r *Reply) { r.Marked, r.Owner = true, theirs }), Foreign, "False", `belongs to another external-dns, with txt-owner-id "somebody"`},
		{"nobody's name", one, says("203.0.113.99").with(func(r *Reply) { r.Marked = true }), Foreign, "False", "somebody else's: no record at a-www.lab.example says"},
		{"our own name, late", one, says("203.0.113.99").with(func(r *Reply) { r.Marked, r.Owner = true, ours }), Differs, "False", "answers 203.0.113.99 in place of"},

		{"no answer", one, silent(errors.New("no answer by UDP within 2s")), Unreachable, "Unknown", "does not answer: no answer by UDP within 2s"},
		{"an address of the machine itself", one, silent(fmt.Errorf("dial: %w", errLocal)), Forbidden, "Unknown", "--allow-local-verify"},
		{"a server that will not", one, Reply{Server: first, Rcode: "REFUSED", Authoritative: true}, Refused, "Unknown", "answers REFUSED"},
		{"a server that cannot", one, Reply{Server: first, Rcode: "SERVFAIL"}, Refused, "Unknown", "answers SERVFAIL"},
		{"a resolver", one, says("203.0.113.10").with(func(r *Reply) { r.Authoritative = false }), NotAuthoritative, "Unknown", "is not authoritative"},
		{"a provider's own alias", alias.changed(func(q *Question) { q.Aliases = true }), says(), Alias, "Unknown", "addresses of its own"},

		{"leaving: a target is still answered", leaving, says("203.0.113.20", "203.0.113.99"), StillThere, "Unknown", "still answers 203.0.113.20"},
		{"leaving: another external-dns has the target, too", leaving, says("203.0.113.20").with(func(r *Reply) { r.Marked, r.Owner = true, theirs }), Foreign, "False", `belongs to another external-dns, with txt-owner-id "somebody"`},
		{"leaving: nobody says whose the target is", leaving, says("203.0.113.20").with(func(r *Reply) { r.Marked = true }), StillThere, "Unknown", "no record at a-www.lab.example says"},
		{"leaving: it is ours", leaving, says("203.0.113.20").with(func(r *Reply) { r.Marked, r.Owner = true, ours }), StillThere, "Unknown", "still answers 203.0.113.20"},
		{"leaving: no such name any more", leaving, nowhere, Gone, "Unknown", ""},
		{"leaving: somebody else's by now", leaving, says("203.0.113.99"), Gone, "Unknown", ""},
		{"leaving: a server does not answer", leaving, silent(errors.New("lost")), Unreachable, "Unknown", "lost"},
		{"leaving: a server does not speak for the zone", leaving, nowhere.with(func(r *Reply) { r.Authoritative = false }), NotAuthoritative, "Unknown", "is not authoritative"},
		{"leaving: a server refuses", leaving, Reply{Server: first, Rcode: "REFUSED"}, Refused, "Unknown", "REFUSED"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			f := Judge(c.q, []Reply{c.reply})
			assert.Equal(t, c.want, f.Verdict)
			assert.Equal(t, c.status, f.Verdict.Status())
			require.Len(t, f.Answers, 1)
			assert.Contains(t, f.Answers[0].Message, c.message)
			assert.Equal(t, c.message == "", f.Answers[0].Message == "", "a message is what is wrong")
			assert.True(t, strings.HasPrefix(f.Message, first), "the user is told by which server: %s", f.Message)
			assert.Equal(t, c.reply.Rcode, f.Answers[0].Rcode)
			assert.Equal(t, c.reply.At, f.Answers[0].At)
		})
	}
}

func TestAllServersMustAgree(t *testing.T) {
	q := www([]string{"203.0.113.10"})
	right, wrong := says("203.0.113.10"), says("203.0.113.99").with(func(r *Reply) { r.Server = second })
	dead := silent(errors.New("lost")).with(func(r *Reply) { r.Server = second })
	for _, c := range []struct {
		reason  string
		replies []Reply
		want    Verdict
		message string
	}{
		{"both do", []Reply{right, right.with(func(r *Reply) { r.Server = second })}, Matches, "each of 2 servers answers 203.0.113.10"},
		{"one is behind", []Reply{right, wrong}, Differs, second + " answers 203.0.113.99"},
		{"one is dead", []Reply{right, dead}, Unreachable, second + " does not answer"},
		{"one is dead and one wrong: what is known counts", []Reply{dead, wrong}, Differs, second + " answers"},
		{"there is none", nil, NoServers, "no server"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			f := Judge(q, c.replies)
			assert.Equal(t, c.want, f.Verdict)
			assert.Contains(t, f.Message, c.message)
			assert.Len(t, f.Answers, len(c.replies))
		})
	}
}

func TestANameHasLeftWhenNoServerAnswersItsTargets(t *testing.T) {
	t.Parallel()
	q := www([]string{"203.0.113.10"}).changed(func(q *Question) { q.Leaving = true })
	gone, there := says(), says("203.0.113.10").with(func(r *Reply) { r.Server = second })
	assert.Equal(t, Gone, Judge(q, []Reply{gone, gone}).Verdict)
	assert.Equal(t, StillThere, Judge(q, []Reply{gone, there}).Verdict)
	assert.Equal(t, Unreachable, Judge(q, []Reply{gone, silent(errors.New("lost"))}).Verdict, "a server that does not answer removes nothing (I6)")
	assert.Equal(t, NoServers, Judge(q, nil).Verdict)
}

// TestWhatIsStoredIsBounded: a server may answer as much as it likes.
func TestWhatIsStoredIsBounded(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("203.0.%d.%d", i/250, i%250))
	}
	f := Judge(www([]string{"203.0.113.10"}), []Reply{says(many...).with(func(r *Reply) { r.Marked, r.Owner = true, strings.Repeat("x", 10_000) })})
	assert.Len(t, f.Answers[0].Targets, mostTargets)
	assert.Less(t, len(f.Message), 2*longestText)
	assert.LessOrEqual(t, len(f.Answers[0].Message), longestText+len("…"))
	assert.Contains(t, f.Message, "and 992 more")
}

// TestTheOrderOfRepliesDoesNotDecide: the verdict is of the set of replies.
func TestTheOrderOfRepliesDoesNotDecide(t *testing.T) {
	t.Parallel()
	replies := []Reply{
		says("203.0.113.10"), says("203.0.113.99"), says(), silent(errors.New("lost")), silent(errLocal),
		says("203.0.113.99").with(func(r *Reply) { r.Marked = true }), {Rcode: "REFUSED"}, {Rcode: noError},
	}
	for range 200 {
		some := replies[:1+rand.IntN(len(replies))]
		shuffled := slices.Clone(some)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for _, leaving := range []bool{false, true} {
			q := www([]string{"203.0.113.10"}).changed(func(q *Question) { q.Leaving = leaving })
			assert.Equal(t, Judge(q, some).Verdict, Judge(q, shuffled).Verdict)
		}
	}
}
