package nameindex

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The kinds of items of a fleet, in their order.
const (
	kindCluster     = "cluster"
	kindExternalDNS = "externalDNS"
)

// fleetKey is what an item of a fleet is about.
type fleetKey struct {
	kind, project, record, scope, cluster string
}

func (k fleetKey) text() string {
	return strings.Join([]string{k.kind, k.project, k.record, k.scope, k.cluster}, "\x00")
}

// census sums up what a caller may read.
type census struct {
	intent.FleetQuery
	out   intent.Fleet
	hosts tally
	items map[fleetKey]*item
	now   int64 // in Unix milliseconds
	times []time.Duration
}

// item is an item of a fleet, with its names.
type item struct {
	intent.FleetItem
	hosts tally
}

// tally counts host names. Their rows come in order, so that the rows of one stand together.
type tally struct {
	intent.HostCounts
	last                    string
	unpublished, unverified bool // the last one was counted as that
}

// add counts a row: a host name is counted once, and by its worst row.
func (t *tally) add(host, published, verified string) {
	if t.Total == 0 || host != t.last {
		t.Total, t.last, t.unpublished, t.unverified = t.Total+1, host, false, false
	}
	if published != yes && !t.unpublished {
		t.Unpublished, t.unpublished = t.Unpublished+1, true
	}
	if verified != yes && !t.unverified {
		t.Unverified, t.unverified = t.Unverified+1, true
	}
}

// Census returns how clusters and external-dns do that have to do with names which the
// caller may read, and the sums of these names. Its errors are as of FindNames.
func (x *Index) Census(q intent.FleetQuery) (intent.Fleet, error) {
	after, err := base64.RawURLEncoding.DecodeString(q.After)
	if err != nil {
		return intent.Fleet{}, &intent.Error{Code: intent.Invalid, Detail: "continue is not one that this list has answered: leave it out to begin again", Err: err}
	}
	x.lockOrdered()
	defer x.mu.RUnlock()
	if err := x.fresh(); err != nil {
		return intent.Fleet{}, err
	}
	c := census{FleetQuery: q, items: map[fleetKey]*item{}, now: x.now().UnixMilli()}
	c.out = intent.Fleet{Groups: map[intent.State]int{}, Names: map[intent.State]int{}, Items: []intent.FleetItem{}, AsOf: x.asOf()}
	for _, o := range x.tables.owners {
		switch {
		case !q.Sees(o.project):
		case intent.IsName(o.path):
			c.out.Names[o.state]++
		default:
			c.out.Groups[o.state]++
		}
	}
	for _, r := range x.tables.rows {
		if !r.gone && q.Sees(r.of.project) {
			c.count(x.tables, r)
		}
	}
	c.out.Hosts, c.out.AnswerTimes = c.hosts.HostCounts, answerTimesOf(c.times)
	c.page(string(after))
	return c.out, nil
}

func (c *census) count(t *tables, r *row) {
	published, verified, _ := t.conditions(r)
	c.hosts.add(r.host, published, verified)
	if took, is := r.answerTime(c.now); is {
		c.times = append(c.times, took)
	}
	clusters := map[string]bool{}
	for _, name := range r.sources {
		clusters[name] = true
	}
	for _, e := range r.from {
		clusters[e.at.name] = !intent.IsPublisher(e.at.name)
		c.externalDNS(r, e).hosts.add(r.host, published, verified)
	}
	for name, is := range clusters {
		if is { // a built-in publisher is in no cluster
			c.cluster(t, name).hosts.add(r.host, published, verified)
		}
	}
}

// externalDNS is the item of the external-dns that publishes a row from a DNSEndpoint.
func (c *census) externalDNS(r *row, e *endpoint) *item {
	key := fleetKey{kindExternalDNS, r.of.project, r.provider, string(r.scope), e.at.name}
	if c.items[key] == nil {
		healthy, message := unknown, ""
		if e.by.known && e.at.known && e.at.reachable {
			healthy, message = truth(e.by.available), e.by.why
		}
		c.items[key] = &item{FleetItem: intent.FleetItem{Kind: kindExternalDNS, Cluster: intent.HomeWord(e.at.name), Project: r.of.project, Record: r.provider, Scope: r.scope, Healthy: healthy, Message: message}}
	}
	return c.items[key]
}

func (c *census) cluster(t *tables, name string) *item {
	key := fleetKey{kind: kindCluster, cluster: name}
	if c.items[key] == nil {
		next := &item{FleetItem: intent.FleetItem{Kind: kindCluster, Cluster: name, Healthy: unknown, Drained: c.Drained[name]}}
		if at := t.clusters[name]; at != nil {
			c.await(&next.FleetItem, at)
		}
		c.items[key] = next
	}
	return c.items[key]
}

// await adds what is known of a cluster: whether it can be reached, and what waits there.
func (c *census) await(item *intent.FleetItem, at *cluster) {
	if at.known {
		item.Healthy, item.Message = truth(at.reachable), at.why
	}
	if since := at.since.UTC(); !since.IsZero() {
		item.Lost = &since
	}
	for _, p := range at.pending {
		if !c.Sees(p.project) {
			continue
		}
		item.Pending++
		if since := p.since.UTC(); !since.IsZero() && (item.Since == nil || since.Before(*item.Since)) {
			item.Since = &since
		}
	}
}

func truth(is bool) string {
	if is {
		return yes
	}
	return no
}

// page has the items that are asked for behind a place, as many as fit.
func (c *census) page(after string) {
	keys := slices.SortedFunc(maps.Keys(c.items), func(a, b fleetKey) int { return cmp.Compare(a.text(), b.text()) })
	last := after
	for _, key := range keys {
		if key.text() <= after || c.Cluster != "" && key.cluster != c.Cluster || !fits(c.Healthy, c.items[key].Healthy) {
			continue
		}
		if len(c.out.Items) == c.Limit {
			c.out.Continue = base64.RawURLEncoding.EncodeToString([]byte(last))
			return
		}
		last = key.text()
		found := c.items[key].FleetItem
		found.Hosts = c.items[key].hosts.HostCounts
		c.out.Items = append(c.out.Items, found)
	}
}
