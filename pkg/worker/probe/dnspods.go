package probe

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// dnsPodProbe is what is known of the pods of a nameserver. All times are our
// own.
type dnsPodProbe struct {
	state.Nameserver
	seen    bool          // its pods are known
	pods    []cluster.Pod // those that are asked, by name
	trouble string        // what keeps a pod from running

	asked time.Time        // when they were asked last; zero: not yet
	looks map[string]*look // what they answered, by pod
	dns   *observed.DNS    // nil: nothing is known yet

	logged string // what the log says of it
}

// look is what the last look at a pod has told.
type look struct {
	counts      *counts         // nil before the first answer
	failing     map[string]bool // by upstream ("IP:port"): whether health checks have failed since the look before; nil before the second answer
	unsupported *bool           // an upstream did not know the EDNS0 option that it was sent last; nil: none was sent between two looks
}

// counts are what a CoreDNS has counted since it started.
type counts struct {
	failures    map[string]float64 // failed health checks, by upstream
	walked      float64            // answers to names in search domains
	unsupported float64            // replies of upstreams that did not know the option with search paths
}

// ProbedPods is how many pods of a nameserver are asked: all forward to the same
// upstreams.
const ProbedPods = 8

// look takes up what the watches see, and tells whether that can be asked for
// more.
func (i *dnsPodProbe) look(watches cluster.Watches) bool {
	pods, err := watches.Pods(i.Namespace, i.Labels)
	i.seen = err == nil
	switch {
	case fault.Of(err) == fault.Refused:
		i.trouble, i.dns = "", (&observed.DNS{Unread: "its pods cannot be watched: " + err.Error()}).Since(i.dns)
	case err == nil:
		i.take(pods)
	}
	return i.seen
}

// take takes up the pods. If none is ready, what was known of upstreams is old, and the
// first pod that is ready again is asked at once.
func (i *dnsPodProbe) take(pods []cluster.Pod) {
	slices.SortFunc(pods, func(a, b cluster.Pod) int { return strings.Compare(a.Name, b.Name) })
	i.trouble, i.pods = "", nil
	looks := map[string]*look{}
	for _, pod := range pods {
		i.trouble = cmp.Or(i.trouble, pod.Trouble)
		if _, serves := pod.Ports["metrics"]; serves && pod.Ready && len(i.pods) < ProbedPods {
			i.pods = append(i.pods, pod)
			looks[pod.Name] = i.looks[pod.Name]
		}
	}
	i.looks = looks
	if len(i.pods) == 0 {
		i.asked = time.Time{}
		i.dns = (&observed.DNS{Unread: "no DNS pod is ready"}).Since(i.dns)
	}
}

// due answers how long it takes until the pods are to be asked, 0 for now. A
// second look follows the first soon, but not before a failing upstream was
// checked once more.
func (i *dnsPodProbe) due(now time.Time) time.Duration {
	switch {
	case !i.seen, len(i.pods) == 0:
		return askRarelyMost
	case i.asked.IsZero():
		return 0
	}
	gap := askRarely
	for _, l := range i.looks {
		if l == nil || l.counts != nil && l.failing == nil {
			gap = askSoonMost
		}
	}
	return max(0, i.asked.Add(gap).Sub(now))
}

// ask asks the pods for their metrics, all at once.
func (i *dnsPodProbe) ask(ctx context.Context, target cluster.Target, _ string, clock pace.Clock) {
	i.asked = clock.Now()
	answers := make([]cluster.Metrics, len(i.pods))
	errs := make([]error, len(i.pods))
	var group sync.WaitGroup
	for n, pod := range i.pods {
		group.Go(func() {
			answers[n], errs[n] = target.Metrics(ctx, i.Namespace, pod.Name, pod.Ports["metrics"])
		})
	}
	group.Wait()
	unread := ""
	for n, pod := range i.pods {
		if i.looks[pod.Name] == nil {
			i.looks[pod.Name] = &look{}
		}
		counted, ok := countsOf(answers[n])
		switch {
		case errs[n] != nil:
			unread = cmp.Or(unread, "the metrics of pod "+pod.Name+" cannot be read: "+errs[n].Error())
		case !ok:
			unread = cmp.Or(unread, "what pod "+pod.Name+" serves as metrics is not CoreDNS'")
		default:
			i.looks[pod.Name].take(counted)
		}
	}
	i.conclude(unread, clock.Now())
}

// take compares what a pod has counted with what it had. A CoreDNS that was
// started anew counts from 0.
func (l *look) take(now counts) {
	if before := l.counts; before != nil {
		l.failing = map[string]bool{}
		for upstream, count := range now.failures {
			l.failing[upstream] = more(count, before.failures[upstream])
		}
		if unsupported := more(now.unsupported, before.unsupported); unsupported || more(now.walked, before.walked) {
			l.unsupported = &unsupported
		}
	}
	l.counts = &now
}

func more(count, before float64) bool { return count > 0 && count != before }

// conclude says what all looks together tell.
func (i *dnsPodProbe) conclude(unread string, now time.Time) {
	failing := map[string]bool{}
	var unsupported *bool
	known := false
	for _, l := range i.looks {
		if l == nil || l.failing == nil {
			continue
		}
		known = true
		if l.unsupported != nil && (unsupported == nil || *l.unsupported) {
			unsupported = l.unsupported
		}
		for upstream, yes := range l.failing {
			failing[upstream] = failing[upstream] || yes
		}
	}
	if !known {
		unread = cmp.Or(unread, "how upstreams do is known when the DNS pods were asked twice")
	}
	i.dns = (&observed.DNS{Unread: unread, Unsupported: unsupported}).Since(i.dns)
	if known {
		i.dns.Upstreams = []observed.Upstream{} // nil: not known
	}
	for _, upstream := range slices.Sorted(maps.Keys(failing)) {
		i.dns.Upstreams = append(i.dns.Upstreams, observed.Upstream{Address: upstream, Failing: failing[upstream], Since: now.UTC()})
	}
}

// log tells the log what is wrong, once, and when that has ended.
func (i *dnsPodProbe) log(ctx context.Context, logger *slog.Logger) {
	wrong := i.trouble
	if i.dns != nil {
		for _, u := range i.dns.Upstreams {
			if u.Failing {
				wrong = state.Join(wrong, "upstream "+u.Address+" fails its health checks")
			}
		}
		if i.dns.Unsupported != nil && *i.dns.Unsupported {
			wrong = state.Join(wrong, "an upstream does not know the EDNS0 option with search paths")
		}
	}
	switch {
	case wrong != "" && wrong != i.logged:
		logger.WarnContext(ctx, "cluster DNS is unhealthy", "daemonset", i.Key(), "message", wrong)
	case wrong == "" && i.logged != "":
		logger.InfoContext(ctx, "cluster DNS is healthy again", "daemonset", i.Key())
	}
	i.logged = wrong
}

// Metrics of CoreDNS' forward plugin, by upstream.
const (
	metricCoreDNS  = "coredns_build_info"
	metricFailed   = "coredns_proxy_healthcheck_failures_total"
	metricAnswered = "coredns_proxy_request_duration_seconds_count"
	labelProxy     = "proxy_name"
	labelUpstream  = "to"
	proxyForward   = "forward"
)

// Metrics of the plugin searchpath of signpost-dns.
const (
	metricWalked      = "coredns_searchpath_answers_total"
	metricUnsupported = "coredns_searchpath_unsupported_total"
)

// countsOf reads what is counted of each upstream that was asked anything; ok is
// false when the metrics are not those of a CoreDNS.
func countsOf(metrics cluster.Metrics) (c counts, ok bool) {
	c.failures = map[string]float64{}
	for _, sample := range metrics {
		forwarded := sample.Labels[labelProxy] == proxyForward
		switch sample.Name {
		case metricCoreDNS:
			ok = true
		case metricWalked:
			c.walked += sample.Value
		case metricUnsupported:
			c.unsupported += sample.Value
		case metricFailed:
			if forwarded {
				c.failures[sample.Labels[labelUpstream]] += sample.Value
			}
		case metricAnswered:
			if forwarded {
				c.failures[sample.Labels[labelUpstream]] += 0
			}
		}
	}
	return c, ok
}
