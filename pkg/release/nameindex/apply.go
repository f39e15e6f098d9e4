package nameindex

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// remove drops an owner and its rows, and the DNSEndpoints that nobody needs any more.
func (t *tables) remove(path intent.Path) { t.forgetFrom(t.withdraw(path)) }

// withdraw drops an owner and answers its rows, which are gone.
func (t *tables) withdraw(path intent.Path) []*row {
	o := t.owners[path]
	if o == nil {
		return nil
	}
	for _, r := range o.rows {
		r.gone, t.left = true, true
		for _, e := range r.from {
			e.users--
		}
	}
	t.there -= len(o.rows)
	delete(t.owners, path)
	return o.rows
}

// forgetFrom drops the DNSEndpoints of rows that are gone, as far as nobody needs them.
func (t *tables) forgetFrom(rows []*row) {
	for _, r := range rows {
		for _, e := range r.from {
			t.forget(e)
		}
	}
}

// put takes up an owner in place of what was known of it, with the host names that its
// release gives.
func (t *tables) put(path intent.Path, l *state.Lifecycle, g plan.Group) {
	defer t.forgetFrom(t.withdraw(path)) // afterwards: as a rule, it has the same DNSEndpoints again
	o := &owner{path: intent.Path(strings.Clone(string(path))), project: t.texts.Shared(path.Segment("projects")), state: l.State(), message: strings.Clone(cmp.Or(l.Failure, l.Unaccepted())), drained: t.clusterNames(l.Drained), foreign: t.clusterNames(l.Foreign)}
	t.owners[o.path] = o
	type key struct {
		host, provider string
		scope          intent.Scope
	}
	rows := map[key]*row{}
	for _, b := range g.Bindings {
		e := t.endpointOf(g, b)
		all := t.clusterNames(b.Sources)
		o.readLacks(g, b, e, all)
		for _, host := range b.Hosts {
			at := key{host.Name, b.Record, b.Scope}
			r := rows[at]
			if r == nil {
				r = &row{host: o.named(host.Name), common: &common{provider: t.texts.Shared(b.Record), scope: intent.Scope(t.texts.Shared(string(b.Scope))), of: o}}
				rows[at] = r
				o.rows, t.added = append(o.rows, r), append(t.added, r)
			}
			sources := all
			if len(host.Sources) > 0 {
				sources = t.clusterNames(host.Sources)
			}
			if cname := aliasOf(host); cname != "" {
				r.alias = t.texts.Shared(cname)
			}
			r.fixed = r.fixed || len(host.Targets) > 0
			r.join(e, sources)
		}
	}
	t.there += len(o.rows)
	for n := 1; n < len(o.rows); n++ {
		if before := o.rows[n-1].common; o.rows[n].equals(before) {
			o.rows[n].common = before
		}
	}
}

// endpointOf is the DNSEndpoint of a binding.
func (t *tables) endpointOf(g plan.Group, b plan.Binding) *endpoint {
	e := t.endpoint(endpointKey{b.Cluster, g.Project.Namespace, endpoints.Name(g, b)})
	e.by = t.program(programKey{b.Cluster, g.Project.Namespace, provider.DeploymentName(b.Record, b.Scope)})
	if b.Service != e.service.name || b.Namespace != e.service.namespace {
		e.service = serviceName{t.texts.Shared(b.Namespace), strings.Clone(b.Service)}
	}
	return e
}

// named is a host name of an owner. That of a name is the end of its path, so that it takes no memory of its own.
func (o *owner) named(host string) string {
	if end := o.path.Name(); end == host {
		return end
	}
	return host
}

// mostLists is how many lists of clusters are remembered.
const mostLists = 512

// clusterNames answers a list that equals this one. Nobody may change it: very many rows have the same.
func (t *tables) clusterNames(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	key := strings.Join(names, "\n")
	list, known := t.lists.Get(key)
	if !known {
		list = t.texts.All(names)
		t.lists.Keep(key, list, mostLists)
	}
	return list
}

// join adds a DNSEndpoint that gives the host name, with the clusters that its addresses
// come from.
func (r *row) join(e *endpoint, sources []string) {
	if r.from == nil {
		r.from = r.first[:0] // as a rule, there is one
	}
	if !slices.Contains(r.from, e) {
		r.from = append(r.from, e)
		e.users++
	}
	if len(r.sources) == 0 {
		r.sources = sources
		return
	}
	if slices.ContainsFunc(sources, func(name string) bool { return !slices.Contains(r.sources, name) }) {
		r.sources = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.sources, sources))))
	}
}

// digest is one number for an object as it is. It is never 0.
func digest(uid string, generation int64) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(uid))
	_, _ = sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(generation)))
	return max(sum.Sum64(), 1)
}

// take takes up a change of a ledger.
func (t *tables) take(c ledger.Changed) {
	t.await(c)
	if !c.ID.IsEndpoint() {
		return
	}
	e := t.endpoint(endpointKey{c.ID.Cluster, c.ID.Namespace, c.ID.Name})
	e.applied, e.refused, e.observed, e.changed = 0, "", 0, 0
	e.here = c.Entry != nil && !c.Entry.Going
	if c.Entry != nil && c.Entry.Stages != nil {
		stages := c.Entry.Stages.Times()
		e.observed = millis(stages.Observed)
		e.changed = max(e.observed, millis(stages.Written))
	}
	if c.Entry != nil && c.Entry.Status == ledger.Applied && !c.Entry.Going && c.Entry.UID != "" {
		e.applied = digest(c.Entry.UID, c.Entry.Generation)
	} else if c.Entry != nil {
		e.refused = c.Entry.Message
	}
	t.forget(e)
}

// await notes whether a cluster has an object as it is wanted. An object that others
// still use is not waited for, nor the end of one that never came to be.
func (t *tables) await(c ledger.Changed) {
	at := t.cluster(c.ID.Cluster)
	if c.Entry == nil || c.Entry.Kept || c.Entry.Status == ledger.Applied && !c.Entry.Going || c.Entry.Going && !c.Entry.Held() {
		delete(at.pending, c.ID)
		return
	}
	p := pending{status: c.Entry.Status, message: c.Entry.Message, since: c.Entry.Since}
	if len(c.Entry.Owners) > 0 {
		owner := appcontext.Owner(c.Entry.Owners[0])
		path, _, _, external := owner.Provider()
		if !external {
			path = string(owner)
		}
		p.project, p.owner = t.texts.Shared(owner.Project()), intent.Path(strings.Clone(path))
	}
	at.pending[c.ID] = p
}

// see takes up an observation.
func (t *tables) see(s observed.Sighting) {
	switch s.Kind {
	case observed.OfReachability:
		c := t.cluster(s.Cluster)
		c.known, c.reachable, c.why, c.since = s.Reachability != nil, false, "", time.Time{}
		if r := s.Reachability; r != nil {
			c.reachable, c.why = r.Reachable, r.Message
		}
		if r := s.Reachability; r != nil && !r.Reachable {
			c.since = r.Since
		}
	case observed.OfDeployment:
		p := t.program(programKey{s.Cluster, s.Namespace, s.Name})
		*p = program{known: s.Deployment != nil}
		if d := s.Deployment; d != nil {
			p.available, p.unread, p.why = d.Available, d.Sync == nil || d.Sync.Unread != "", whyNot(d)
		}
	case observed.OfService:
		t.seeService(address.Service{Cluster: s.Cluster, Namespace: s.Namespace, Name: s.Name}, s.Service)
	case observed.OfPublished, observed.OfAnswers:
		e := t.endpoint(endpointKey{s.Cluster, s.Namespace, s.Name})
		if s.Kind == observed.OfAnswers {
			e.answers = t.answersOf(s.Answers)
		} else if e.published = 0; s.Published != nil {
			e.published = digest(s.Published.UID, s.Published.Generation)
		}
		t.forget(e)
	}
}

// whyNot is what an external-dns tells of why it does not publish; empty if it tells of nothing.
func whyNot(d *observed.Deployment) string {
	if d.Message != "" || d.Sync == nil {
		return d.Message
	}
	return cmp.Or(d.Sync.Failing, d.Sync.Unread)
}

// millis is a time in Unix milliseconds, 0 for none.
func millis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// answersOf are the answers by host name, ordered.
func (t *tables) answersOf(all *observed.Answers) []answer {
	if all == nil {
		return nil
	}
	out := make([]answer, 0, len(all.Names))
	for _, n := range all.Names {
		next := answerOf(n)
		next.why = t.texts.Shared(next.why)
		last := len(out) - 1
		if last < 0 || out[last].host != n.Name {
			out = append(out, next)
			continue
		}
		if before := out[last]; worse(before.verified, next.verified) != before.verified || before.verified == next.verified && before.at < next.at {
			out[last] = next
		}
	}
	slices.SortStableFunc(out, func(a, b answer) int { return cmp.Compare(a.host, b.host) })
	return slices.Clip(out)
}

// answerOf is what the servers say of a host name and type.
func answerOf(n observed.NameAnswer) answer {
	verdict := verify.Verdict(n.Verdict)
	a := answer{host: n.Name, verified: verdict.Status(), at: millis(n.Since)}
	if a.verified == yes {
		return a
	}
	a.at, a.why = millis(verify.Asked(n.Answers)), n.Message
	if verdict.OfBefore(time.Time{}, nil) {
		a.why = verify.AskedAgain
	}
	return a
}

// The three things that may be known of a condition.
const (
	yes     = "True"
	no      = "False"
	unknown = "Unknown"
)

// worse is the graver of two.
func worse(a, b string) string {
	if slices.Index([]string{yes, unknown, no}, a) < slices.Index([]string{yes, unknown, no}, b) {
		return b
	}
	return a
}

// publishedAs tells whether external-dns was seen to have put the host name through, as
// far as the DNSEndpoint is known.
func (e *endpoint) publishedAs(host string) string {
	switch {
	case !e.at.known || !e.at.reachable || e.by == nil || !e.by.known:
		return unknown
	case e.applied == 0 || !e.by.available:
		return no
	case e.published != e.applied && e.by.unread:
		return unknown
	case e.published != e.applied:
		return no
	case e.answerTo(host) == nil: // the DNSEndpoint may have no address for it
		return unknown
	}
	return yes
}

// verifiedAs is what the authoritative servers say of a host name, as the DNSEndpoint gives it now. If it is
// not in its home, an answer is of before. So is a fault that was found before it last changed.
func (e *endpoint) verifiedAs(host string) string {
	a := e.answerTo(host)
	if a == nil || !e.here || e.outlived(a) {
		return unknown
	}
	return a.verified
}

// outlived tells whether a DNSEndpoint has changed since the servers answered something else than it gives.
func (e *endpoint) outlived(a *answer) bool {
	return a.verified != yes && a.at != 0 && a.at < e.changed
}

func (e *endpoint) answerTo(host string) *answer {
	n, found := slices.BinarySearchFunc(e.answers, host, func(a answer, host string) int { return cmp.Compare(a.host, host) })
	if !found {
		return nil
	}
	return &e.answers[n]
}
