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
