// Package namehistory keeps what host names published and were answered with, and why
// that changed. It decides nothing: what is lost is marked, and harms nobody.
package namehistory

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The bounds of the history of one host name in one project.
const (
	mostTurns   = 100
	mostAge     = 30 * 24 * time.Hour
	MostBytes   = 64 << 10
	mostTargets = 50 // of one name and type, in one turn
	mostOwners  = 20 // of which is remembered what they publish

	// flapping is within which time a change that comes back is joined with the one before.
	flapping = 5 * time.Minute
)

// document is the history of one host name in one project, as stored.
type document struct {
	Turns     []intent.NameTurn      `json:"turns"`               // oldest first
	Published map[intent.Path]string `json:"published,omitempty"` // digests of what owners publish after the last turn
}

// add adds the turns of one write, and marks a gap where the last turn of the owner was
// about something else. It returns each turn with its cause, also of those that are joined.
func (d *document) add(changes intent.NameChanges) (turns []intent.NameTurn) {
	owner := changes.Turns[0].Owner
	gap := d.Published[owner] != changes.Before
	for _, turn := range changes.Turns {
		turn.Gap, gap = gap, false
		bound(&turn)
		d.pair(&turn)
		turns = append(turns, turn)
		if !d.join(turn) {
			d.Turns = append(d.Turns, turn)
		}
	}
	d.Published = maps.Clone(d.Published)
	switch {
	case changes.After == "":
		delete(d.Published, owner)
	case d.Published == nil:
		d.Published = map[intent.Path]string{owner: changes.After}
	case len(d.Published) < mostOwners || d.Published[owner] != "":
		d.Published[owner] = changes.After
	}
	return turns
}

// bound leaves out the targets beyond so many.
func bound(turn *intent.NameTurn) {
	turn.Changes = slices.Clone(turn.Changes)
	for n := range turn.Changes {
		c := &turn.Changes[n]
		for _, list := range []*[]string{&c.Added, &c.Removed} {
			if extra := len(*list) - mostTargets; extra > 0 {
				*list, c.LeftOut = (*list)[:mostTargets:mostTargets], c.LeftOut+extra
			}
		}
	}
}

// pair finds out why targets are back: for the end of what had removed them.
func (d *document) pair(turn *intent.NameTurn) {
	if turn.Cause.Reason != intent.CauseAddress {
		return
	}
	var ended *intent.Cause
	for _, c := range turn.Changes {
		for _, target := range c.Added {
			cause := d.removedBy(turn.Owner, c.Type, target)
			if cause == nil || cause.Reason != intent.CauseReadiness && cause.Reason != intent.CauseCluster || ended != nil && ended.Reason != cause.Reason {
				return
			}
			ended = cause
		}
	}
	if ended == nil {
		return
	}
	turn.Cause.Reason, turn.Cause.Cluster = ended.Reason, ended.Cluster
	switch ended.Reason {
	case intent.CauseReadiness:
		turn.Cause.Message = "the Service has ready endpoints again"
	case intent.CauseCluster:
		turn.Cause.Message = "the cluster can be reached again"
	}
}

// removedBy is the cause of the last turn that removed a target, nil if a later one has
// added it, and if none has.
func (d *document) removedBy(owner intent.Path, kind, target string) *intent.Cause {
	for n, turn := range slices.Backward(d.Turns) {
		if turn.Owner != owner {
			continue
		}
		for _, c := range turn.Changes {
			switch {
			case c.Type != kind:
			case slices.Contains(c.Added, target):
				return nil
			case slices.Contains(c.Removed, target):
				return &d.Turns[n].Cause
			}
		}
		if turn.Times > 1 && len(turn.Changes) == 0 { // what it removed has come back
			return &d.Turns[n].Cause
		}
	}
	return nil
}

// join joins a turn with the last one, if that has the same cause and comes back.
func (d *document) join(turn intent.NameTurn) bool {
	if len(d.Turns) == 0 || turn.Gap {
		return false
	}
	last := &d.Turns[len(d.Turns)-1]
	at := last.Time
	if last.Times > 1 {
		at = last.Last
	}
	same := last.Owner == turn.Owner && last.Cause.Reason == turn.Cause.Reason && last.Cause.Cluster == turn.Cause.Cluster
	if !same || turn.Time.Sub(at) > flapping || !comesBack(*last, turn) {
		return false
	}
	last.Changes, last.Times, last.Last, last.Cause.Message = net(last.Changes, turn.Changes), max(last.Times, 1)+1, turn.Time, turn.Cause.Message
	return true
}

// comesBack tells whether a turn is about the targets of the last one.
func comesBack(last, turn intent.NameTurn) bool {
	switch turn.Cause.Reason {
	case intent.CauseReadiness, intent.CauseCluster, intent.CauseFailSafe:
		return true
	case intent.CauseAddress:
		if last.Times > 1 && len(last.Changes) == 0 {
			return true
		}
		touched := map[string]bool{}
		for _, c := range last.Changes {
			for _, target := range slices.Concat(c.Added, c.Removed) {
				touched[c.Type+" "+target] = true
			}
		}
		return slices.ContainsFunc(turn.Changes, func(c intent.TargetChange) bool {
			return slices.ContainsFunc(slices.Concat(c.Added, c.Removed), func(target string) bool { return touched[c.Type+" "+target] })
		})
	}
	return false
}

// net are two changes, one after the other, as one.
func net(first, second []intent.TargetChange) []intent.TargetChange {
	out := slices.Clone(first)
	for _, c := range second {
		at := slices.IndexFunc(out, func(o intent.TargetChange) bool {
			return o.Name == c.Name && o.Type == c.Type && o.Provider == c.Provider
		})
		if at < 0 {
			out = append(out, c)
			continue
		}
		was := out[at]
		out[at].Added = slices.Concat(without(was.Added, c.Removed), without(c.Added, was.Removed))
		out[at].Removed = slices.Concat(without(was.Removed, c.Added), without(c.Removed, was.Added))
		out[at].Answered, out[at].LeftOut = c.Answered, was.LeftOut+c.LeftOut
	}
	return slices.DeleteFunc(out, func(c intent.TargetChange) bool { return len(c.Added)+len(c.Removed)+c.LeftOut == 0 })
}

// without are the targets of a list that another list has not.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(target string) bool { return slices.Contains(other, target) })
}

// hear notes what authoritative servers answer. It reports whether that is news. A right answer is one to the last change
// of each owner, with all of its causes: servers answer what all of them give.
func (d *document) hear(heard intent.NameHeard) bool {
	news, owners := false, map[intent.Path]time.Time{}
	for n, turn := range slices.Backward(d.Turns) {
		m := slices.IndexFunc(turn.Changes, func(c intent.TargetChange) bool { return answers(c, heard.Type) })
		at, known := owners[turn.Owner]
		if m < 0 || known && !latest(turn).Equal(at) {
			continue
		}
		last := len(owners) == 0
		owners[turn.Owner] = latest(turn)
		switch before := heard.Since.Before(latest(turn)); {
		case last && before:
			return false // it is about what was published before
		case last:
			news = d.answer(n, m, heard)
		case !before && heard.Right && turn.Changes[m].Answered.IsZero():
			news = d.answer(n, m, heard) || news
		}
	}
	return news
}

// answers tells whether answers of a type are to a change. Other names are not asked for here, and a TTL is not seen.
func answers(c intent.TargetChange, kind string) bool {
	onlyTTL := c.TTL != nil && len(c.Added)+len(c.Removed)+c.LeftOut == 0
	return c.Type == kind && c.Name == "" && !onlyTTL
}

// answer notes an answer on the last change of its type, or that it is no longer so.
func (d *document) answer(turn, change int, heard intent.NameHeard) bool {
	c := &d.Turns[turn].Changes[change]
	switch {
	case heard.Right && c.Answered.IsZero():
		d.Turns[turn].Changes = slices.Clone(d.Turns[turn].Changes)
		d.Turns[turn].Changes[change].Answered = heard.Since
		return true
	case heard.Right || c.Answered.IsZero() || !heard.Since.After(c.Answered):
		return false // it is known, or has yet to be answered for the first time
	}
	if last := &d.Turns[len(d.Turns)-1]; turn == len(d.Turns)-1 && last.Cause.Reason == intent.CauseAnswers && heard.Since.Sub(c.Answered) <= flapping {
		last.Changes = []intent.TargetChange{{Type: heard.Type}}
		last.Times, last.Last, last.Cause.Message = max(last.Times, 1)+1, heard.Since, heard.Message
		return true
	}
	d.Turns = append(d.Turns, intent.NameTurn{
		Time: heard.Since, Project: heard.Project, Cause: intent.Cause{Reason: intent.CauseAnswers, Message: heard.Message},
		Changes: []intent.TargetChange{{Type: heard.Type}},
	})
	return true
}

// encode bounds the document, and is its JSON.
func (d *document) encode(now time.Time) ([]byte, error) {
	d.Turns = slices.DeleteFunc(d.Turns, func(t intent.NameTurn) bool { return now.Sub(latest(t)) > mostAge })
	d.keep(mostTurns)
	for {
		raw, err := json.Marshal(d)
		if err != nil || len(raw) <= MostBytes || len(d.Turns) == 0 {
			return raw, err
		}
		d.keep(len(d.Turns) * 3 / 4)
	}
}

// keep keeps so many of the newest turns. Earlier releases that have changed no target go first.
func (d *document) keep(most int) {
	extra := len(d.Turns) - most
	if extra <= 0 {
		return
	}
	last := len(d.Turns) - 1
	kept := slices.DeleteFunc(slices.Clone(d.Turns[:last]), func(t intent.NameTurn) bool {
		if extra == 0 || t.Cause.Reason != intent.CauseRelease || len(t.Changes) > 0 {
			return false
		}
		extra--
		return true
	})
	d.Turns = append(kept, d.Turns[last])[extra:]
}

func latest(t intent.NameTurn) time.Time {
	if t.Last.After(t.Time) {
		return t.Last
	}
	return t.Time
}
