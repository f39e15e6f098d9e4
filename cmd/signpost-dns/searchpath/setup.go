package searchpath

import (
	"fmt"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	clog "github.com/coredns/coredns/plugin/pkg/log"
	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
)

// Register makes the plugin known to CoreDNS, right behind the cache, which so
// keeps answers by the pods' own names. It is called once in a process.
func Register() error {
	counts := newCounts(prometheus.DefaultRegisterer)
	return search.Register(Name, func(c *caddy.Controller) error {
		p := &SearchPath{counts: counts, log: clog.NewWithPlugin(Name)}
		var err error
		if p.settings, err = parse(c, p.log); err != nil {
			return plugin.Error(Name, err)
		}
		dnsserver.GetConfig(c).AddPlugin(func(next plugin.Handler) plugin.Handler {
			p.Next = next
			return p
		})
		return nil
	}, "cache")
}

// parse reads the plugin's part of a Corefile.
func parse(c *caddy.Controller, log clog.P) (search.Settings, error) {
	settings := search.Defaults()
	err := search.ParseBlock(c, &settings, 1, func() error { return property(c, &settings, log) })
	return settings, err
}

func property(c *caddy.Controller, settings *search.Settings, log clog.P) error {
	known, err := settings.Property(c)
	switch {
	case known:
		return err
	case c.Val() != "suffixes":
		return c.Errf("unknown property '%s'", c.Val())
	}
	args := c.RemainingArgs()
	if len(args) == 0 {
		return c.ArgErr()
	}
	for _, arg := range args {
		if err := addSuffixes(settings, arg, log); err != nil {
			return c.Err(err.Error())
		}
	}
	return nil
}

// addSuffixes adds a domain, or the domains in a file. Surplus or wrong lines in a node's
// file do not keep its DNS from starting.
func addSuffixes(settings *search.Settings, arg string, log clog.P) error {
	if !strings.Contains(arg, "/") {
		return settings.Domain.AddSuffix(arg)
	}
	config, err := dns.ClientConfigFromFile(arg)
	if err != nil {
		return fmt.Errorf("suffixes: %w", err)
	}
	for _, suffix := range config.Search {
		if err := settings.Domain.AddSuffix(suffix); err != nil {
			log.Warningf("%s: %v: it is left out", arg, err)
		}
	}
	return nil
}
