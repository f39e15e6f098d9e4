// Package searchexpand is the CoreDNS plugin of a cluster's DNS. It looks a name up with
// the search paths that a node's cache sent in an EDNS0 option, or that the name itself
// stands for.
package searchexpand

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/metadata"
	"github.com/coredns/coredns/plugin/metrics"
	"github.com/coredns/coredns/request"
	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
	"github.com/signpost-dns/signpost/pkg/dns/autopath"
)

// Name is the plugin's name in a Corefile.
const Name = "searchexpand"

// SearchExpand is the plugin in one server block.
type SearchExpand struct {
	Next     plugin.Handler
	settings search.Settings
	allowed  []netip.Prefix // clients that may send the option; all if there are none
	upstream upstreamer
	counts   counts
}

// upstreamer looks a name up through the whole server.
type upstreamer interface {
	Lookup(ctx context.Context, state request.Request, name string, qtype uint16) (*dns.Msg, error)
}

// Name implements plugin.Handler.
func (e *SearchExpand) Name() string { return Name }

// ServeDNS implements plugin.Handler.
func (e *SearchExpand) ServeDNS(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	option := search.OptionOf(r, e.settings.Option)
	if option != nil {
		plain := search.WithoutOption(r, e.settings.Option)
		paths, err := e.paths(w, r, option)
		if err == nil {
			return e.serveOption(ctx, w, r, plain, paths)
		}
		e.counts.ignored.WithLabelValues(metrics.WithServer(ctx), reason(err)).Inc()
		r = plain
	}
	if e.settings.Domain.Name != "" && search.InZone(r) {
		return e.serveZone(ctx, w, r)
	}
	return plugin.NextOrFailure(Name, e.Next, ctx, w, r)
}

// serveOption answers a node's cache, which wants to know what became of the
// name itself.
func (e *SearchExpand) serveOption(ctx context.Context, w dns.ResponseWriter, r, plain *dns.Msg, paths []string) (int, error) {
	state := request.Request{W: w, Req: plain}
	outcome := e.walk(ctx, state, search.Names(state.Name(), paths), "option")
	m := outcome.Answer(r, true)
	search.Confirm(m, r, e.settings.Option, outcome.Lookups)
	_ = w.WriteMsg(m)
	return dns.RcodeSuccess, nil
}

// serveZone answers a pod that asks the cluster's DNS without the node's cache.
// No name of the zone leaves the cluster.
func (e *SearchExpand) serveZone(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	base, paths, ok := e.settings.Domain.Asked(r)
	if !ok {
		e.counts.denied.WithLabelValues(metrics.WithServer(ctx)).Inc()
		_ = w.WriteMsg(e.settings.Domain.Deny(r))
		return dns.RcodeSuccess, nil
	}
	outcome := e.walk(ctx, request.Request{W: w, Req: r}, search.Names(base, paths), "name")
	_ = w.WriteMsg(outcome.Answer(r, e.settings.AsPlain))
	return dns.RcodeSuccess, nil
}

// walk looks names up through the whole server, which finds the server block of
// each. source says where the paths come from.
func (e *SearchExpand) walk(ctx context.Context, state request.Request, names []string, source string) search.Outcome {
	state.Req = state.Req.Copy() // names may be looked up for longer than the query is answered
	outcome := search.Walk(ctx, names, state.QType(), func(ctx context.Context, name string, qtype uint16) *dns.Msg {
		reply, err := e.upstream.Lookup(metadata.ContextWithMetadata(ctx), state, name, qtype)
		if err != nil {
			return nil
		}
		return reply
	})
	server := metrics.WithServer(ctx)
	e.counts.lookups.WithLabelValues(server).Add(float64(outcome.Lookups))
	e.counts.answers.WithLabelValues(server, source, outcome.Result.String()).Inc()
	return outcome
}

// Why an option is ignored, beside the errors of autopath.Decode.
var (
	errClient = errors.New("the client may not send the option")
	errName   = errors.New("the name is not a name to search for")
)

// paths reads the search paths that a client has sent.
func (e *SearchExpand) paths(w dns.ResponseWriter, r *dns.Msg, option *dns.EDNS0_LOCAL) ([]string, error) {
	if !e.allows(w) {
		return nil, errClient
	}
	if !search.Searchable(r) || r.Question[0].Name == "." || search.IsInZone(r.Question[0].Name) {
		return nil, errName
	}
	return autopath.Decode(option.Data)
}

// allows tells whether a client may send the option.
func (e *SearchExpand) allows(w dns.ResponseWriter) bool {
	if len(e.allowed) == 0 {
		return true
	}
	state := request.Request{W: w}
	address, err := netip.ParseAddr(state.IP())
	if err != nil {
		return false
	}
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(e.allowed, func(p netip.Prefix) bool { return p.Contains(address) })
}

// reason is an error's name in metrics.
func reason(err error) string {
	switch {
	case errors.Is(err, errClient):
		return "client"
	case errors.Is(err, errName):
		return "name"
	case errors.Is(err, autopath.ErrTooLong):
		return "too_long"
	case errors.Is(err, autopath.ErrBadLabel):
		return "bad_label"
	case errors.Is(err, autopath.ErrLoop):
		return "loop"
	}
	return "no_list"
}
