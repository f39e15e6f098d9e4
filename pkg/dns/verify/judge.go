package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Verdict is what the answers say of a name, in a word.
type Verdict string

// The verdicts.
const (
	Matches Verdict = "Matches" // all servers answer the targets

	Differs  Verdict = "Differs"  // a server answers other targets
	NotThere Verdict = "NotThere" // a server knows no such name, or nothing of the type
	Foreign  Verdict = "Foreign"  // a server answers what is somebody else's

	NoTargetAddress Verdict = "NoTargetAddress" // of a CNAME: the name that it leads to does not exist

	NotAsked         Verdict = "NotAsked"         // no server was asked yet
	NoServers        Verdict = "NoServers"        // it is not known whom to ask
	Forbidden        Verdict = "Forbidden"        // a server's address may not be asked
	Unreachable      Verdict = "Unreachable"      // a server does not answer
	Refused          Verdict = "Refused"          // a server answers that it will not, or cannot
	NotAuthoritative Verdict = "NotAuthoritative" // a server answers what others have told it
	Alias            Verdict = "Alias"            // the DNS provider answers addresses of its own in place of a CNAME
	Hidden           Verdict = "Hidden"           // what is published does not show in answers

	StillThere Verdict = "StillThere" // of a leaving name: a server answers its targets
	Gone       Verdict = "Gone"       // of a leaving name: no server answers them any more
)

// Status is the verdict as that of a condition: True, False or Unknown.
func (v Verdict) Status() string {
	switch v {
	case Matches:
		return "True"
	case Differs, NotThere, Foreign, NoTargetAddress:
		return "False"
	}
	return "Unknown"
}

// Reply is what one server said.
type Reply struct {
	Server        string    // address and port
	At            time.Time // UTC, when it was asked
	Err           error     // there was no answer, and the rest but Server and At is empty
	Rcode         string    // as in NOERROR
	Authoritative bool      // the server speaks for the zone
	Values        []string  // of the type that was asked for, canonical, ordered
	CNAME         string    // the name is an alias of this one
	TTL           uint32    // of Values or CNAME, in seconds

	Zone   string // of the server, in which it looked for Values and found none; empty: not known
	NoGoal bool   // of a CNAME: the server has no such name as its target

	AbsentFor time.Duration // how long resolvers may keep that there are no Values; 0: not known

	Marked bool   // Owner is known
	Owner  string // whose external-dns has made the name; empty: none has
}

// Finding is a judgement with what it rests on.
type Finding struct {
	Verdict Verdict
	Message string          // in words for the user
	Answers []intent.Answer // of the servers, in the order in which they were given
}

// Response codes that say something of a name, and what is refused by dialling.
const (
	noError = "NOERROR"
	noName  = "NXDOMAIN"
)

var errLocal = errors.New("is an address of the machine itself or its link, which Signpost does not ask unless it is started with --allow-local-verify")

// Judge says what the replies make of the question. The worst of them counts: a
// name matches only if every server answers it so.
func Judge(q Question, replies []Reply) Finding {
	f := Finding{Verdict: NoServers, Message: "there is no server to ask"}
	if len(replies) > 0 {
		f = Finding{Verdict: Matches}
		if q.Leaving {
			f.Verdict = Gone
		}
		f.Message = q.agreed(replies)
	}
	for _, r := range replies {
		verdict, wrong := q.judge(r)
		if verdict.Worse(f.Verdict) {
			f.Verdict, f.Message = verdict, r.Server+" "+wrong
		}
		f.Answers = append(f.Answers, r.answer(wrong))
	}
	return f
}

// Worse tells whether a verdict is worse than another. A known fault is worse than an
// unknown answer, and a fault that waiting cannot cure is the worst.
func (v Verdict) Worse(than Verdict) bool { return v.rank() > than.rank() }

func (v Verdict) rank() int {
	return slices.Index([]Verdict{Matches, Gone, NotAsked, Alias, NotAuthoritative, Unreachable, Refused, Forbidden, NoServers, NoTargetAddress, NotThere, Differs, StillThere, Foreign}, v)
}

// agreed says what all of the servers answer.
func (q Question) agreed(replies []Reply) string {
	who := replies[0].Server
	if len(replies) > 1 {
		who = fmt.Sprintf("each of %d servers", len(replies))
	}
	if q.Leaving {
		return who + " no longer answers the targets"
	}
	return who + " answers " + list(replies[0].Values)
}

// judge judges one reply; wrong is empty when nothing is.
func (q Question) judge(r Reply) (verdict Verdict, wrong string) {
	switch {
	case errors.Is(r.Err, errLocal):
		return Forbidden, errLocal.Error()
	case r.Err != nil:
		return Unreachable, "does not answer: " + r.Err.Error()
	case r.Rcode != noError && r.Rcode != noName:
		return Refused, "answers " + r.Rcode
	case !r.Authoritative:
		return NotAuthoritative, "is not authoritative for the name"
	case q.Leaving:
		return q.judgeLeaving(r)
	case len(r.Values) > 0 && slices.ContainsFunc(q.Sets, func(set []string) bool { return same(set, r.Values) }):
		if r.NoGoal {
			return NoTargetAddress, fmt.Sprintf("answers %s, and its target has no address: there is no such name", list(r.Values))
		}
		return Matches, ""
	case len(r.said()) == 0 && q.Type == "CNAME" && q.Aliases && r.Rcode == noError:
		return Alias, "may answer addresses of its own where the CNAME was published"
	case len(r.said()) == 0 && r.NoGoal:
		return NoTargetAddress, fmt.Sprintf("has no CNAME record for %s (%s), and its target %s has no address: there is no such name", q.Name, r.Rcode, q.goal())
	case len(r.said()) == 0:
		return NotThere, fmt.Sprintf("has no %s record for %s (%s)", q.Type, q.Name, r.Rcode)
	case r.Marked && r.Owner == "":
		return Foreign, fmt.Sprintf("answers %s, which is somebody else's: no record at %s says that external-dns has made it", list(r.said()), q.TXT)
	case r.Marked && r.Owner != q.Owner:
		return Foreign, fmt.Sprintf("answers %s, which belongs to another external-dns, with txt-owner-id %q", list(r.said()), clip(r.Owner))
	}
	return Differs, fmt.Sprintf("answers %s in place of %s", list(r.said()), q.wanted())
}

func (q Question) judgeLeaving(r Reply) (Verdict, string) {
	var still []string
	for _, value := range r.Values {
		if slices.ContainsFunc(q.Sets, func(set []string) bool { return slices.Contains(set, value) }) {
			still = append(still, value)
		}
	}
	switch {
	case len(still) == 0:
		return Gone, ""
	case r.Marked && r.Owner == "":
		return StillThere, fmt.Sprintf("still answers %s, and no record at %s says that external-dns has made it,", list(still), q.TXT)
	case r.Marked && r.Owner != q.Owner:
		return Foreign, fmt.Sprintf("answers %s, which belongs to another external-dns, with txt-owner-id %q", list(still), clip(r.Owner))
	}
	return StillThere, "still answers " + list(still)
}

// contested tells whether it matters whose the answer is: it is none of what was
// published, or stays when that has gone.
func (q Question) contested(r Reply) bool {
	verdict, _ := q.judge(r)
	return (verdict == Differs || verdict == StillThere) && q.Owner != "" && q.TXT != ""
}

// goal is the target of a CNAME; empty if it has several.
func (q Question) goal() string {
	if q.Type != "CNAME" || len(q.Sets) != 1 || len(q.Sets[0]) != 1 {
		return ""
	}
	return q.Sets[0][0]
}

// wanted says what was to be answered.
func (q Question) wanted() string {
	var sets []string
	for _, set := range q.Sets {
		sets = append(sets, list(set))
	}
	return strings.Join(sets, " or ")
}

// said is what a server has of a name: values of the type, or an alias.
func (r Reply) said() []string {
	if len(r.Values) == 0 && r.CNAME != "" {
		return []string{r.CNAME}
	}
	return r.Values
}

// The limits of a stored answer.
const (
	mostTargets = 50
	longestText = 300
)

func (r Reply) answer(wrong string) intent.Answer {
	said := r.said()
	return intent.Answer{
		Server: r.Server, At: r.At, Rcode: r.Rcode, Targets: said[:min(len(said), mostTargets)], TTL: int64(r.TTL), Message: clip(wrong),
	}
}

func clip(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "") + "…"
}

// same tells whether two lists hold the same, in any order.
func same(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}

// list shows the first of some targets.
func list(targets []string) string {
	const shown = 8
	text := strings.Join(targets[:min(len(targets), shown)], ", ")
	if more := len(targets) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return clip(text)
}
