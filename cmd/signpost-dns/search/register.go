package search

import (
	"fmt"
	"slices"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
)

// Register makes a plugin known to CoreDNS, which runs it right after another
// one.
func Register(name string, setup caddy.SetupFunc, after string) error {
	place := slices.Index(dnsserver.Directives, after)
	if place < 0 {
		return fmt.Errorf("plugin/%s: there is no plugin %s to run it after", name, after)
	}
	plugin.Register(name, setup)
	return dnsserver.SetDirectives(slices.Insert(slices.Clone(dnsserver.Directives), place+1, name))
}

// ParseBlock reads a plugin's part of a Corefile: at least least domains, of which there
// is one at most, and a block of properties.
func ParseBlock(c *caddy.Controller, settings *Settings, least int, property func() error) error {
	for used := false; c.Next(); used = true {
		if used {
			return plugin.ErrOnce
		}
		args := c.RemainingArgs()
		if len(args) < least || len(args) > 1 {
			return c.ArgErr()
		}
		for _, arg := range args {
			if err := settings.SetDomain(arg); err != nil {
				return c.Err(err.Error())
			}
		}
		for c.NextBlock() {
			if err := property(); err != nil {
				return err
			}
		}
	}
	return nil
}
