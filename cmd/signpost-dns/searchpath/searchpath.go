// Package searchpath is the CoreDNS plugin of a node's cache. It forwards a name in a
// pod's single search domain as it was written, with the search paths in an EDNS0 option.
package searchpath

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/metadata"
	"github.com/coredns/coredns/plugin/metrics"
	"github.com/coredns/coredns/plugin/metrics/vars"
	clog "github.com/coredns/coredns/plugin/pkg/log"
	"github.com/coredns/coredns/plugin/pkg/nonwriter"
	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
)

// Name is the plugin's name in a Corefile.
const Name = "searchpath"

// SearchPath is the plugin in one server block.
type SearchPath struct {
	Next     plugin.Handler
	settings search.Settings
	counts   counts
	log      clog.P
	warned   atomic.Int64 // when a server that does not know the option was last logged, in Unix nanoseconds
}

// Name implements plugin.Handler.
func (p *SearchPath) Name() string { return Name }

// ServeDNS implements plugin.Handler.
func (p *SearchPath) ServeDNS(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	if search.InZone(r) {
		return p.serveZone(ctx, w, r)
	}
	if len(r.Question) > 0 && search.IsInZone(r.Question[0].Name) {
		p.counts.denied.WithLabelValues(metrics.WithServer(ctx)).Inc()
		_ = w.WriteMsg(new(dns.Msg).SetRcode(r, dns.RcodeNotImplemented))
		return dns.RcodeSuccess, nil
	}
	if search.OptionOf(r, p.settings.Option) != nil {
		// The answer would be another name's, and the cache would keep it for
		// everybody.
		p.counts.ignored.WithLabelValues(metrics.WithServer(ctx)).Inc()
		r = search.WithoutOption(r, p.settings.Option)
	}
	return plugin.NextOrFailure(Name, p.Next, ctx, w, r)
}

// serveZone answers for the zone of search domains, of which no name leaves the
// node.
func (p *SearchPath) serveZone(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	base, paths, ok := p.settings.Domain.Asked(r)
	if !ok {
		p.counts.denied.WithLabelValues(metrics.WithServer(ctx)).Inc()
		_ = w.WriteMsg(p.settings.Domain.Deny(r))
		return dns.RcodeSuccess, nil
	}
	writer := nonwriter.New(w)
	rcode, err := plugin.NextOrFailure(Name, p.Next, ctx, writer, search.Ask(r, base, p.settings.Option, paths))
	if err != nil || writer.Msg == nil {
		return rcode, err
	}
	var outcome search.Outcome
	if search.Confirmed(writer.Msg, p.settings.Option) {
		outcome = search.Received(writer.Msg, base, paths)
	} else {
		outcome = p.walk(ctx, w, r, base, paths, writer.Msg)
	}
	p.counts.answers.WithLabelValues(metrics.WithServer(ctx), outcome.Result.String()).Inc()
	_ = w.WriteMsg(outcome.Answer(r, p.settings.AsPlain))
	return dns.RcodeSuccess, nil
}

// walk looks the names up one by one, because the server does not know the option: its
// reply is only to the base.
func (p *SearchPath) walk(ctx context.Context, w dns.ResponseWriter, r *dns.Msg, base string, paths []string, reply *dns.Msg) search.Outcome {
	p.counts.unsupported.WithLabelValues(metrics.WithServer(ctx)).Inc()
	p.warn(time.Now())
	plain := search.WithoutOption(r, p.settings.Option)
	return search.Walk(ctx, search.Names(base, paths), r.Question[0].Qtype, func(ctx context.Context, name string, qtype uint16) *dns.Msg {
		if name == base && qtype == r.Question[0].Qtype {
			return reply
		}
		query := plain.Copy()
		query.Question[0].Name, query.Question[0].Qtype = name, qtype
		return p.lookUp(metadata.ContextWithMetadata(ctx), w, query)
	})
}

// lookUp asks the next plugin. Nobody above it would catch its panic.
func (p *SearchPath) lookUp(ctx context.Context, w dns.ResponseWriter, query *dns.Msg) (reply *dns.Msg) {
	defer func() {
		if cause := recover(); cause != nil {
			vars.Panic.Inc()
			p.log.Errorf("panic while looking up %s: %v", query.Question[0].Name, cause)
			reply = nil
		}
	}()
	writer := nonwriter.New(w)
	if _, err := plugin.NextOrFailure(Name, p.Next, ctx, writer, query); err != nil {
		return nil
	}
	return writer.Msg
}

// warnEvery is how often the log says that a server does not know the option.
const warnEvery = time.Minute

func (p *SearchPath) warn(now time.Time) {
	if p.mayWarn(now) {
		p.log.Warningf("the server for names in search domains does not know the EDNS0 option %d, so each lookup costs several queries. "+
			"It must be a signpost-dns with the plugin searchexpand and the same option", p.settings.Option)
	}
}

func (p *SearchPath) mayWarn(now time.Time) bool {
	last := p.warned.Load()
	return now.UnixNano()-last >= int64(warnEvery) && p.warned.CompareAndSwap(last, now.UnixNano())
}

// counts are the plugin's metrics, for all server blocks.
type counts struct {
	answers, denied, ignored, unsupported *prometheus.CounterVec
}

func newCounts(registry prometheus.Registerer) counts {
	metrics := search.Metrics{Registry: registry, Plugin: Name}
	return counts{
		answers:     metrics.Counter("answers_total", "Counter of answers to names in search domains.", "result"),
		denied:      metrics.Counter("denied_total", "Counter of names of ap.k8s.io that are in no search domain of the cluster."),
		ignored:     metrics.Counter("ignored_total", "Counter of queries of clients whose own option was taken out."),
		unsupported: metrics.Counter("unsupported_total", "Counter of replies of servers that do not know the option."),
	}
}
