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
	items map[fleetKey]*intent.FleetItem
	now   int64 // in Unix milliseconds
	times []time.Duration
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
	c := census{FleetQuery: q, items: map[fleetKey]*intent.FleetItem{}, now: x.now().UnixMilli()}
	c.out = intent.Fleet{Groups: map[intent.State]int{}, Names: map[intent.State]int{}, Items: []intent.FleetItem{}, AsOf: x.asOf()}
	for _, o := range x.tables.owners {
		if q.Sees(o.project) {
			c.count(x.tables, o)
		}
	}
	c.out.AnswerTimes = answerTimesOf(c.times)
	c.page(string(after))
	return c.out, nil
}

func (c *census) count(t *tables, o *owner) {
	if intent.IsName(o.path) {
		c.out.Names[o.state]++
	} else {
		c.out.Groups[o.state]++
	}
	for _, r := range o.rows {
		published, verified := t.conditions(r)
		add := func(to *intent.HostCounts) {
			to.Total++
			if published != yes {
				to.Unpublished++
			}
			if verified != yes {
				to.Unverified++
			}
		}
		add(&c.out.Hosts)
		if took, is := r.answerTime(c.now); is {
			c.times = append(c.times, took)
		}
		clusters := map[string]bool{}
		for _, name := range r.sources {
			clusters[name] = true
		}
		for _, e := range r.from {
			clusters[e.at.name] = !intent.IsPublisher(e.at.name)
			add(&c.externalDNS(r, e).Hosts)
		}
		for name, is := range clusters {
			if !is {
				continue // a built-in publisher is in no cluster
			}
			add(&c.cluster(t, name).Hosts)
		}
	}
}

// externalDNS is the item of the external-dns that publishes a row from a DNSEndpoint.
func (c *census) externalDNS(r *row, e *endpoint) *intent.FleetItem {
	key := fleetKey{kindExternalDNS, r.of.project, r.provider, string(r.scope), e.at.name}
	if c.items[key] == nil {
		healthy, message := unknown, ""
		if e.by.known && e.at.known && e.at.reachable {
			healthy, message = truth(e.by.available), e.by.why
		}
		c.items[key] = &intent.FleetItem{Kind: kindExternalDNS, Cluster: intent.HomeWord(e.at.name), Project: r.of.project, Record: r.provider, Scope: r.scope, Healthy: healthy, Message: message}
	}
	return c.items[key]
}

func (c *census) cluster(t *tables, name string) *intent.FleetItem {
	key := fleetKey{kind: kindCluster, cluster: name}
	if c.items[key] == nil {
		item := &intent.FleetItem{Kind: kindCluster, Cluster: name, Healthy: unknown, Drained: c.Drained[name]}
		if at := t.clusters[name]; at != nil {
			c.await(item, at)
		}
		c.items[key] = item
	}
	return c.items[key]
}

// await adds what is known of a cluster: whether it can be reached, and what waits there.
func (c *census) await(item *intent.FleetItem, at *cluster) {
	if at.known {
		item.Healthy, item.Message = truth(at.reachable), at.why
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
		c.out.Items = append(c.out.Items, *c.items[key])
	}
}
