package searchexpand

import (
	"net/netip"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/upstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
)

// Register makes the plugin known to CoreDNS, right before the cache, which so
// never keeps an answer that depends on who asked. It is called once in a
// process.
func Register() error {
	counts := newCounts(prometheus.DefaultRegisterer)
	return search.Register(Name, func(c *caddy.Controller) error {
		e, err := parse(c)
		if err != nil {
			return plugin.Error(Name, err)
		}
		e.upstream, e.counts = upstream.New(), counts
		dnsserver.GetConfig(c).AddPlugin(func(next plugin.Handler) plugin.Handler {
			e.Next = next
			return e
		})
		return nil
	}, "acl")
}

// parse reads the plugin's part of a Corefile.
func parse(c *caddy.Controller) (*SearchExpand, error) {
	e := &SearchExpand{settings: search.Defaults()}
	return e, search.ParseBlock(c, &e.settings, 0, func() error { return e.property(c) })
}

func (e *SearchExpand) property(c *caddy.Controller) error {
	if known, err := e.settings.Property(c); known {
		return err
	}
	name, args := c.Val(), c.RemainingArgs()
	if len(args) == 0 && (name == "suffixes" || name == "allow") {
		return c.ArgErr()
	}
	switch name {
	case "suffixes":
		if e.settings.Domain.Name == "" {
			return c.Err("suffixes are for names in search domains: write the cluster's domain behind searchexpand")
		}
		for _, arg := range args {
			if err := e.settings.Domain.AddSuffix(arg); err != nil {
				return c.Err(err.Error())
			}
		}
	case "allow":
		for _, arg := range args {
			prefix, err := netip.ParsePrefix(arg)
			if err != nil {
				return c.Errf("allow: '%s' is not a network: write it as in 10.0.0.0/8 or fd00::/8", arg)
			}
			e.allowed = append(e.allowed, prefix)
		}
	default:
		return c.Errf("unknown property '%s'", name)
	}
	return nil
}
