package status

import (
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// prove adds what authoritative servers answered, and the condition that follows. Their
// answers about other targets say nothing of the present ones (I6).
func (p publication) prove(s *intent.NameStatus) {
	snap := p.snap
	c := condition(snap, "Verified", "Unknown", string(verify.NotAsked), "the authoritative servers were not asked yet")
	c.LastTransitionTime = later(c.LastTransitionTime, snap.Current)
	answer := p.answerTo(*s)
	s.Stages = p.stages(answer)
	switch {
	case answer != nil && verify.Verdict(answer.Verdict).OfBefore(p.changed(), answer.Answers):
		c.Message = verify.AskedAgain
		c.LastTransitionTime = later(c.LastTransitionTime, p.changed())
	case answer != nil:
		c = condition(snap, "Verified", verify.Verdict(answer.Verdict).Status(), answer.Verdict, answer.Message)
		c.LastTransitionTime = answer.Since
		s.Answers = answer.Answers
	case len(s.Targets) == 0:
		c.Message = "there is no target that authoritative servers could answer"
	}
	s.Conditions = append(slices.Clone(s.Conditions), c)
}

// changed is when the binding's DNSEndpoint was last changed in its home, or that is asked for; zero if that is not known.
func (p publication) changed() time.Time {
	if p.entry.Stages == nil {
		return time.Time{}
	}
	stages := p.entry.Stages.Times()
	return later(stages.Observed, stages.Written)
}

// stages are when the last change of the binding's DNSEndpoint came how far, and since when a name is answered. Of a type
// that the change left alone, that may be earlier.
func (p publication) stages(answer *observed.NameAnswer) *intent.Stages {
	if p.entry.Stages == nil {
		return nil
	}
	s := p.entry.Stages.Times()
	if p.put() {
		s.Published = later(p.seen.At, s.Written) // the publisher may be faster than the note that the DNSEndpoint is there
	}
	if answer != nil && answer.Verdict == string(verify.Matches) {
		s.Answered = answer.Since
	}
	return &s
}

// answerTo is what they said of a name and type with its targets of now, nil for
// nothing.
func (p publication) answerTo(s intent.NameStatus) *observed.NameAnswer {
	names := p.by.Answers[p.id.Name].Names
	at := slices.IndexFunc(names, func(n observed.NameAnswer) bool {
		return n.Name == s.Name && n.Type == s.Type && slices.EqualFunc(n.Targets, s.Targets, sameTarget)
	})
	if at < 0 {
		return nil
	}
	return &names[at]
}

// sameTarget tells whether two targets are one: that of an SRV record may end in
// a dot.
func sameTarget(a, b string) bool { return strings.TrimSuffix(a, ".") == strings.TrimSuffix(b, ".") }
