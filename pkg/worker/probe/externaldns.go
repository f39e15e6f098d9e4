package probe

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// externalDNSProbe is what is known of one external-dns. All times but those inside
// health and of what is published are our own.
type externalDNSProbe struct {
	state.Publisher
	publication *publication
	unseen      bool        // its DNSEndpoints were not looked at yet
	seen        bool        // its pods are known
	watched     bool        // they have been, and may be
	pod         cluster.Pod // the newest one; without a name: there is none
	trouble     string      // what keeps it from running
	judged      bool        // whether the Deployment is available is known
	available   bool        // the Deployment

	asked  time.Time          // when it was asked last; zero: this pod was not yet
	health externaldns.Health // what it answered last
	barred bool               // we may not ask it
	since  time.Time          // when it was first found to have synchronized as last it had
	sync   *observed.Sync     // nil: nothing is known yet

	strays *int // names in the zone with the mark of the provider that nobody gives; nil: not known

	builtIn bool   // it is the built-in publisher of its provider
	logged  string // what the log says of it
}

// How often an external-dns is asked, by its interval: soon while something
// waits to be published, rarely while nothing does.
const (
	askSoonest    = time.Second
	askSoonMost   = 5 * time.Second
	askRarely     = 30 * time.Second
	askRarelyMost = 5 * time.Minute
)

// A synchronization is overdue after several intervals, and this much more.
const (
	overdueIntervals = 3
	overdueSlack     = 30 * time.Second
)

// look takes up what the watches see, and tells whether that can be asked for more.
// Facts that the watches do not see stay as they were last seen (I6), unless the watches
// may not see them.
func (c *externalDNSProbe) look(watches cluster.Watches) bool {
	if own, is := watches.(cluster.BuiltIn); is {
		c.hearBuiltIn(own.Publishing())
		return false
	}
	pods, err := watches.Pods(c.Namespace, c.Labels())
	c.seen = err == nil
	switch {
	case fault.Of(err) == fault.Refused:
		c.trouble, c.watched = "", false
		c.unread("its pods cannot be watched: " + err.Error())
	case err == nil:
		c.watched = true
		c.take(pods)
	}
	if d, known := watches.Deployment(c.Namespace, c.Deployment); known {
		c.judged, c.available = true, d != nil && d.Available
	}
	return c.seen
}

// hearBuiltIn takes up what the built-in publisher tells of itself.
func (c *externalDNSProbe) hearBuiltIn(told cluster.Publishing) {
	c.builtIn, c.watched, c.judged, c.available = true, true, true, told.Waiting == "" && told.Down.IsZero()
	c.trouble = told.Waiting
	c.sync = &observed.Sync{Last: told.Synced, Names: told.Names, Failing: told.Failing, Zone: told.Zone, Version: told.Version, Adopted: told.Adopted, AdoptedSince: told.AdoptedSince}
	c.strays = told.Strays
}

// take takes up the pods.
func (c *externalDNSProbe) take(pods []cluster.Pod) {
	before := c.pod
	c.pod = cluster.Pod{}
	if len(pods) > 0 {
		c.pod = pods[0]
	}
	if c.pod.Name != before.Name || c.pod.Ready != before.Ready || c.pod.Waiting != before.Waiting {
		c.asked, c.since, c.health = time.Time{}, time.Time{}, externaldns.Health{}
	}
	if !c.pod.Waiting {
		c.trouble = c.pod.Trouble
	}
	switch {
	case c.pod.Name == "":
		c.unread("it has no pod")
	case !c.pod.Ready:
		c.unread("its pod is not ready")
	}
}

func (c *externalDNSProbe) unread(why string) {
	if c.sync == nil {
		c.sync = &observed.Sync{}
	}
	c.sync.Failing, c.sync.Unread = "", why
}

// log tells the log what is wrong, once, and when that has ended.
func (c *externalDNSProbe) log(ctx context.Context, logger *slog.Logger) {
	wrong := c.trouble
	if c.sync != nil {
		wrong = state.Join(c.trouble, c.sync.Failing)
	}
	switch {
	case (wrong == "") == (c.logged == ""):
	case c.builtIn && wrong != "":
		logger.WarnContext(ctx, "the built-in publisher of a provider is unhealthy", "publisher", c.Key(), "message", wrong)
	case c.builtIn:
		logger.InfoContext(ctx, "the built-in publisher of a provider is healthy again", "publisher", c.Key())
	case wrong != "":
		logger.WarnContext(ctx, "external-dns is unhealthy", "deployment", c.Key(), "message", wrong)
	default:
		logger.InfoContext(ctx, "external-dns is healthy again", "deployment", c.Key())
	}
	c.logged = wrong
}

// due answers how long it takes until the pod is to be asked, 0 for now.
func (c *externalDNSProbe) due(now time.Time) time.Duration {
	switch {
	case !c.seen, !c.pod.Ready && !c.pod.Waiting:
		return askRarelyMost
	case c.asked.IsZero():
		return 0
	}
	interval := externaldns.IntervalOf(c.pod.Args)
	gap := min(max(2*interval, askRarely), askRarelyMost)
	switch {
	case c.pod.Waiting:
		gap = askSoonMost
	case c.barred:
	case c.publication.awaiting() && c.health.Failures > 0:
		gap = min(max(interval, askSoonMost), gap)
	case c.publication.awaiting():
		gap = min(max(interval/2, askSoonest), askSoonMost)
	}
	return max(0, c.asked.Add(gap).Sub(now))
}

// lookAt looks at the DNSEndpoints of which something has changed, or at all of them.
func (c *externalDNSProbe) lookAt(changed map[string]bool, all bool, watches cluster.Watches, clusterName string) {
	if all || c.unseen {
		for key := range c.publication.endpoints {
			c.publication.look(key, watches, clusterName)
		}
		c.unseen = false
		return
	}
	for key := range changed {
		c.publication.look(key, watches, clusterName)
	}
}

// tellPublished counts how long changed addresses took until the DNS provider was told. Changes that were written before
// the probe began were counted by an earlier worker, or nobody knows when they were published.
func (c *externalDNSProbe) tellPublished(to *metrics.Cluster, began time.Time) {
	for key := range c.publication.changed {
		e := c.publication.endpoints[key]
		if !e.published() || e.Stages == nil || e.counted != nil && *e.counted == *e.Stages {
			continue
		}
		e.counted = e.Stages
		c.publication.endpoints[key] = e
		if stages := e.Stages.Times(); !stages.Written.Before(began) {
			to.Reached(metrics.Published, c.Metric(), stages.Observed, e.through.At)
		}
	}
}

// told is what the metrics tell of the external-dns.
func (c *externalDNSProbe) told() metrics.Health {
	var health metrics.Health
	if c.judged {
		health.Available = &c.available
	}
	if c.watched && !c.barred {
		unpublished := c.publication.unpublished()
		health.Unpublished = &unpublished
	}
	if c.sync != nil {
		health.LastSync = c.sync.Last
	}
	health.Strays = c.strays
	return health
}

// ask asks the pod for its metrics, or finds out what it waits for.
func (c *externalDNSProbe) ask(ctx context.Context, target cluster.Target, clusterName string, clock pace.Clock) {
	c.asked = clock.Now()
	if c.pod.Waiting {
		c.trouble = missing(ctx, target, clusterName, c.Namespace, c.pod)
		return
	}
	port, named := c.pod.Ports["metrics"]
	if !named {
		c.unread("its pod names no port for metrics")
		return
	}
	samples, err := target.Metrics(ctx, c.Namespace, c.pod.Name, port)
	c.barred = fault.Of(err) == fault.Refused
	if err != nil {
		c.unread("its metrics cannot be read: " + err.Error())
		return
	}
	health, ok := externaldns.ReadHealth(samples.Sums())
	if !ok {
		c.unread("what it serves as metrics is not external-dns'")
		return
	}
	c.hear(health, clock.Now())
}

// hear judges an answer. The DNSEndpoints that wait were seen to be read before the
// question. If the last synchronization has succeeded, it had read them. All times that
// are compared are of one clock, that of external-dns.
func (c *externalDNSProbe) hear(health externaldns.Health, now time.Time) {
	if c.since.IsZero() || !health.Synced.Equal(c.health.Synced) {
		c.since = now
	}
	c.health = health
	if c.sync == nil {
		c.sync = &observed.Sync{}
	}
	if !health.Synced.IsZero() {
		c.sync.Last, c.sync.Names = health.Synced, health.Names
	}
	c.sync.Unread, c.sync.Failing = "", c.failing(now)
	if health.Complete() {
		c.publication.synchronized(health.Synced)
	}
}

// failing says what is wrong with the synchronizations.
func (c *externalDNSProbe) failing(now time.Time) string {
	var texts []string
	h, interval := c.health, externaldns.IntervalOf(c.pod.Args)
	if h.Failures > 0 {
		texts = append(texts, fmt.Sprintf("its last %d synchronizations have failed (errors since it started: %d from the DNS provider or the registry, %d from reading DNSEndpoints)",
			h.Failures, h.RegistryErrors, h.SourceErrors))
	} else if now.Sub(c.since) > overdueIntervals*interval+overdueSlack {
		texts = append(texts, fmt.Sprintf("no synchronization has succeeded for more than %d intervals of %s", overdueIntervals, interval))
	}
	if h.Skipped > 0 {
		texts = append(texts, fmt.Sprintf("it leaves %d names alone that belong to another owner", h.Skipped))
	}
	return state.Join(texts...)
}

// missing names the Secrets that a pod waits for and that are not there.
func missing(ctx context.Context, target cluster.Target, clusterName, namespace string, pod cluster.Pod) string {
	var texts []string
	for _, secret := range pod.Secrets {
		id := bundle.ID{Cluster: clusterName, Kind: "Secret", Namespace: namespace, Name: secret}
		if live, err := target.Get(ctx, id); err == nil && live == nil {
			texts = append(texts, "pod "+pod.Name+" cannot start: there is no Secret "+namespace+"/"+secret)
		}
	}
	return state.Join(texts...)
}
