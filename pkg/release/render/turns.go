package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// turning is one write of an owner's DNSEndpoints, from which the turns of its host names
// follow.
type turning struct {
	owner    intent.Path
	now      time.Time
	release  *intent.Cause // of a release that becomes current by it; nil: the release stays
	drained  []string      // clusters that were drained before
	transfer []state.Transfer
	list     state.DrainedList
	contents Contents
}

// targets are those of a host name, by name, type and provider.
type targets map[state.NameKey][]string

// Turns are the host names of an owner that change when the context becomes current, each
// with its causes. The step has read the lifecycle l. The context replaces the objects
// before, which belong to another release if released says so.
func (d Desired) Turns(owner intent.Path, l state.Lifecycle, before bundle.Bundle, released bool, now time.Time) []intent.NameChanges {
	t := turning{owner: owner, now: now, drained: l.Drained, transfer: l.Transferred, contents: d.contents}
	if d.Ground != nil {
		t.list = d.Ground.Drained
	}
	if released {
		t.release = releaseCause(l)
	}
	return t.between(before, d.Objects)
}

// FailSafe are the host names of which addresses stay because most clusters fail at once.
func (d Desired) FailSafe(owner intent.Path, now time.Time) []intent.NameChanges {
	if d.contents.frozen == "" {
		return nil
	}
	published := targetsOf(d.Objects)
	var out []intent.NameChanges
	for _, host := range slices.Sorted(maps.Keys(published)) {
		held := func(c address.Choice) bool { return slices.Contains(c.Health, d.contents.frozen) }
		if !slices.ContainsFunc(d.contents.choicesOf(host), held) {
			continue
		}
		out = append(out, stays(owner, host, published[host], intent.Cause{Reason: intent.CauseFailSafe, Message: d.contents.frozen}, now))
	}
	return out
}

// Retained are the host names that stay published, although they have lost their addresses, because too many would go at
// once. The DNSEndpoints of the context have them.
func (d Desired) Retained() map[state.Held]bool {
	kept := map[state.Held]bool{}
	for n, b := range d.contents.bindings {
		for m, h := range b.Hosts {
			if d.contents.Choices[n][m].Kept {
				kept[state.Held{Host: h.Name, Provider: b.Record}] = true
			}
		}
	}
	return kept
}

// TellRetained are the turns of host names that have just begun to stay.
func (d Desired) TellRetained(owner intent.Path, begun []state.Held, now time.Time) []intent.NameChanges {
	published := targetsOf(d.Objects)
	var out []intent.NameChanges
	for _, held := range begun {
		why := fmt.Sprintf("too many names of provider %q would go at once, so this one stays as it is%s", held.Provider, d.contents.absent(held.Host))
		out = append(out, stays(owner, held.Host, published[held.Host], intent.Cause{Reason: intent.CauseHeld, Message: why}, now))
	}
	return out
}

// stays is the turn of a host name whose targets stay for the sake of safety.
func stays(owner intent.Path, host string, published targets, why intent.Cause, now time.Time) intent.NameChanges {
	same := published.digest()
	return intent.NameChanges{Host: host, Before: same, After: same, Turns: []intent.NameTurn{{
		Time: now, Project: owner.Segment("projects"), Owner: owner, Changes: []intent.TargetChange{}, Cause: why,
	}}}
}

// releaseCause is the request that a lifecycle has accepted last.
func releaseCause(l state.Lifecycle) *intent.Cause {
	cause := &intent.Cause{Reason: intent.CauseRelease, Action: l.Wanted, Release: l.Seq, Asked: l.Since}
	for _, e := range slices.Backward(l.Events) {
		if e.Outcome == "accepted" && e.Revision == l.Seq && e.Action == l.Wanted {
			cause.Actor, cause.RequestID, cause.Message = e.Actor, e.RequestID, e.Message
			break
		}
	}
	return cause
}

// between are the changes from one render to the next, ordered by host name.
func (t turning) between(before, after bundle.Bundle) []intent.NameChanges {
	was, is := targetsOf(before), targetsOf(after)
	ttls := t.ttlTurns(before, after)
	hosts := maps.Clone(was)
	maps.Copy(hosts, is)
	if t.release != nil {
		t.contents.addHosts(hosts)
	}
	var out []intent.NameChanges
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		changes := intent.NameChanges{Host: host, Before: was[host].digest(), After: is[host].digest()}
		switch {
		case changes.Before != changes.After:
			changes.Turns = addTTLs(t.turns(host, was[host], is[host]), ttls[host])
		case changes.After != "" && len(ttls[host]) > 0:
			changes.Turns = []intent.NameTurn{{Time: t.now, Project: t.owner.Segment("projects"), Owner: t.owner, Cause: *t.release, Changes: ttls[host]}}
		case changes.After == "":
			changes.Turns = []intent.NameTurn{t.unchanged("no address is known yet")}
		case t.release != nil && intent.IsName(t.owner):
			changes.Turns = []intent.NameTurn{t.unchanged(t.contents.staying(host))}
		default:
			continue
		}
		out = append(out, changes)
	}
	return out
}

// ttlTurns are the changes of TTLs by a release, by host name: of names that stay.
func (t turning) ttlTurns(before, after bundle.Bundle) map[string][]intent.TargetChange {
	if t.release == nil {
		return nil
	}
	was := map[state.NameKey]int64{}
	for _, o := range before {
		collectTTLs(o.Published, was)
	}
	out := map[string][]intent.TargetChange{}
	for _, o := range after {
		if o.Published == nil {
			continue
		}
		seen := map[state.NameKey]bool{}
		for _, n := range o.Published.Names {
			key := state.NameKey{Name: n.Name, Kind: n.Type, Record: o.Published.Record}
			ttl, there := was[key]
			if !there || ttl == n.TTL || seen[key] {
				continue
			}
			seen[key] = true
			out[n.Host] = append(out[n.Host], intent.TargetChange{Name: labelsOf(n), Type: n.Type, Provider: key.Record, TTL: &intent.TTLTurn{Before: ttl, After: n.TTL}})
		}
	}
	return out
}

// labelsOf is the name of a change: empty for the host name itself.
func labelsOf(n bundle.PublishedName) string {
	if n.Name == n.Host {
		return ""
	}
	return n.Name
}

// addTTLs adds changes of TTLs to the turn of the release, which is the only one.
func addTTLs(turns []intent.NameTurn, ttls []intent.TargetChange) []intent.NameTurn {
	if len(turns) == 0 {
		return nil
	}
	for _, ttl := range ttls {
		at := slices.IndexFunc(turns[0].Changes, func(c intent.TargetChange) bool {
			return c.Name == ttl.Name && c.Type == ttl.Type && c.Provider == ttl.Provider
		})
		if at < 0 {
			turns[0].Changes = append(turns[0].Changes, ttl)
			continue
		}
		turns[0].Changes[at].TTL = ttl.TTL
	}
	return turns
}

// unchanged is the turn of a host name that keeps its targets, or has none yet, when a release asks for it.
func (t turning) unchanged(why string) intent.NameTurn {
	cause := *t.release
	cause.Message = strings.TrimPrefix(cause.Message+"; "+why, "; ")
	return intent.NameTurn{Time: t.now, Project: t.owner.Segment("projects"), Owner: t.owner, Cause: cause, Changes: []intent.TargetChange{}}
}

// targetsOf is what objects publish, by host name.
func targetsOf(objects bundle.Bundle) map[string]targets {
	all := map[string]targets{}
	for _, o := range objects {
		if o.Published == nil {
			continue
		}
		for _, n := range o.Published.Names {
			if all[n.Host] == nil {
				all[n.Host] = targets{}
			}
			key := state.NameKey{Name: n.Name, Kind: n.Type, Record: o.Published.Record}
			all[n.Host][key] = slices.Compact(slices.Sorted(slices.Values(append(all[n.Host][key], n.Targets...))))
		}
	}
	return all
}

// digest stands for the targets, empty for none.
func (t targets) digest() string {
	if len(t) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, key := range slices.SortedFunc(maps.Keys(t), state.CompareNames) {
		_, _ = fmt.Fprintln(sum, key.Name, key.Kind, key.Record, t[key])
	}
	const enough = 8 // bytes
	return hex.EncodeToString(sum.Sum(nil)[:enough])
}

// turns are those of one host name, one for each cause.
func (t turning) turns(host string, was, is targets) []intent.NameTurn {
	choices := t.contents.choicesOf(host)
	by := &byCause{of: map[string]*intent.NameTurn{}}
	keys := targets{}
	maps.Copy(keys, was)
	maps.Copy(keys, is)
	ordered := slices.SortedFunc(maps.Keys(keys), state.CompareNames)
	for _, key := range ordered {
		for _, target := range without(was[key], is[key]) {
			c := by.change(t.removed(choices, target), host, key)
			c.Removed = append(c.Removed, target)
		}
	}
	instead := by.only()
	for _, key := range ordered {
		for _, target := range without(is[key], was[key]) {
			cause := t.added(choices, target)
			if cause.Reason == intent.CauseAddress && instead != nil && instead.Reason != intent.CauseAddress {
				cause = *instead // it takes the place of what has gone
			}
			c := by.change(cause, host, key)
			c.Added = append(c.Added, target)
		}
	}
	out := make([]intent.NameTurn, 0, len(by.order))
	for _, turn := range by.order {
		turn.Time, turn.Project, turn.Owner = t.now, t.owner.Segment("projects"), t.owner
		if turn.Cause.Reason == intent.CauseAddress && turn.Cause.Message == "" {
			turn.Cause.Message = t.contents.notOffered(host, turn.Changes)
		}
		out = append(out, *turn)
	}
	return out
}

// without are the targets of one list that the other has not.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(target string) bool { return slices.Contains(other, target) })
}

// byCause collects the turns of a host name, one for each cause.
type byCause struct {
	order []*intent.NameTurn
	of    map[string]*intent.NameTurn
}

// change is where a target of a key is noted that has come or gone for a cause.
func (b *byCause) change(cause intent.Cause, host string, key state.NameKey) *intent.TargetChange {
	id := cause.Reason
	if cause.Reason != intent.CauseAddress { // what a cluster does not offer any more may be in the place of another's
		id += " " + cause.Cluster
	}
	turn := b.of[id]
	if turn != nil && cause.Reason == intent.CauseAddress && cause.Cluster != "" && turn.Cause.Cluster != "" && turn.Cause.Cluster != cause.Cluster {
		id += " " + cause.Cluster // each address under the cluster that offers it
		turn = b.of[id]
	}
	if turn == nil {
		turn = &intent.NameTurn{Cause: cause}
		b.order, b.of[id] = append(b.order, turn), turn
	}
	if turn.Cause.Cluster == "" { // what is offered says more than what is not
		turn.Cause = cause
	}
	name := key.Name
	if name == host {
		name = ""
	}
	at := slices.IndexFunc(turn.Changes, func(c intent.TargetChange) bool {
		return c.Name == name && c.Type == key.Kind && c.Provider == key.Record
	})
	if at < 0 {
		at = len(turn.Changes)
		turn.Changes = append(turn.Changes, intent.TargetChange{Name: name, Type: key.Kind, Provider: key.Record})
	}
	return &turn.Changes[at]
}

// only is the cause, if there is one, and no other.
func (b *byCause) only() *intent.Cause {
	if len(b.order) != 1 {
		return nil
	}
	return &b.order[0].Cause
}

// addHosts adds the host names that have been asked for.
func (c *Contents) addHosts(to map[string]targets) {
	for _, b := range c.bindings {
		for _, h := range b.Hosts {
			if _, there := to[h.Name]; !there {
				to[h.Name] = nil
			}
		}
	}
}

// notOffered says of the targets that a host name loses that no cluster offers them any more, and where its Services are gone.
func (c *Contents) notOffered(host string, changes []intent.TargetChange) string {
	var targets []string
	for _, change := range changes {
		targets = append(targets, change.Removed...)
	}
	slices.Sort(targets)
	return "no cluster offers it " + state.Few(slices.Compact(targets)) + " any more" + c.absent(host)
}

// absent tells where the Services of a host name are gone, as the end of a sentence; empty for nowhere.
func (c *Contents) absent(host string) (text string) {
	for n, b := range c.bindings {
		for m, h := range b.Hosts {
			if absent := c.Choices[n][m].Absent; h.Name == host && len(absent) > 0 {
				text += fmt.Sprintf("; there is no Service %s/%s on %s", b.Namespace, b.Service, state.Few(intent.ClusterWords(absent)))
			}
		}
	}
	return text
}

// staying says of a release that targets of a host name stay, and until when if it has a Service that was not seen yet.
func (c *Contents) staying(host string) string {
	for n, b := range c.bindings {
		for m, h := range b.Hosts {
			if unknown := c.Choices[n][m].Unknown; h.Name == host && len(unknown) > 0 {
				return fmt.Sprintf("its targets stay until it is known what Service %s/%s on %s offers", b.Namespace, b.Service, state.Few(intent.ClusterWords(unknown)))
			}
		}
	}
	return "its targets did not change at once"
}

// choicesOf are the choices for a host name, of all its bindings.
func (c *Contents) choicesOf(host string) []address.Choice {
	var out []address.Choice
	for n, b := range c.bindings {
		for m, h := range b.Hosts {
			if h.Name == host {
				out = append(out, c.Choices[n][m])
			}
		}
	}
	return out
}

// removed is why a target is published no longer.
func (t turning) removed(choices []address.Choice, target string) intent.Cause {
	if t.release != nil {
		return *t.release
	}
	if r := t.rejection(choices, target); r != nil {
		return t.rejected(*r)
	}
	if len(choices) == 0 && len(t.transfer) > 0 {
		return intent.Cause{Reason: intent.CauseTakeover, Message: "another owner publishes the name by now"}
	}
	return intent.Cause{Reason: intent.CauseAddress} // in words when all targets of the turn are known
}

// rejection is why a target does not count; nil: nobody offers it. If several clusters offer it, those that were
// drained before are not the reason that it goes now, but the others.
func (t turning) rejection(choices []address.Choice, target string) (found *intent.Rejection) {
	for _, choice := range choices {
		for _, r := range choice.Rejected {
			if r.Target != target {
				continue
			}
			if r.Code != address.Drained || !slices.Contains(t.drained, r.Cluster) {
				return &r
			}
			if found == nil {
				found = &r
			}
		}
	}
	return found
}

// rejected is the cause that a rejection stands for.
func (t turning) rejected(r intent.Rejection) intent.Cause {
	cause := intent.Cause{Cluster: r.Cluster, Message: r.Reason}
	switch r.Code {
	case address.Drained:
		by := t.list.Clusters[r.Cluster]
		cause.Reason, cause.Actor, cause.Action, cause.Asked = intent.CauseDrain, by.Actor, intent.Drain, by.Since
		cause.Message += by.Because()
	case address.NotReady, address.ProbeFailed:
		cause.Reason = intent.CauseReadiness
	case address.Unreachable:
		cause.Reason = intent.CauseCluster
	case address.Standby, address.NoWeight, address.NotListed:
		cause.Reason = intent.CauseRouting
	default:
		cause.Reason = intent.CauseProvider
	}
	return cause
}

// added is why a target is published from now on.
func (t turning) added(choices []address.Choice, target string) intent.Cause {
	if t.release != nil {
		return *t.release
	}
	for _, choice := range choices {
		for _, s := range choice.Sources {
			if s.Target != target {
				continue
			}
			if by, undrained := t.list.Undrained[s.Cluster]; undrained && slices.Contains(t.drained, s.Cluster) {
				return intent.Cause{
					Reason: intent.CauseUndrain, Cluster: s.Cluster, Message: "the cluster is drained no longer" + by.Undrained.Because(),
					Actor: by.Undrained.Actor, Action: intent.Undrain, Asked: by.Undrained.Since,
				}
			}
			if intent.IsPublisher(s.Cluster) { // the document of the name has the address
				return intent.Cause{Reason: intent.CauseAddress, Message: s.Object + " offers " + target}
			}
			return intent.Cause{Reason: intent.CauseAddress, Cluster: s.Cluster, Message: s.Object + " on " + intent.ClusterWord(s.Cluster) + " offers " + target}
		}
	}
	return intent.Cause{Reason: intent.CauseAddress, Message: target + " is offered"}
}
