package lint

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/caddy/caddyfile"
	"github.com/coredns/coredns/plugin/kubernetes"
	"github.com/coredns/coredns/plugin/pkg/parse"
)

// setup runs a plugin's own setup on the tokens of one block. Nothing that it
// prepares is ever started.
func setup(keys []string, name string, tokens []caddyfile.Token) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("plugin/%s: %v", name, cause)
		}
	}()
	// The controller of CoreDNS' own plugin tests is one without servers, which
	// is what is wanted here.
	controller := caddy.NewTestController("dns", "")
	controller.Dispenser = caddyfile.NewDispenserTokens("Corefile", tokens)
	controller.ServerBlockKeys = keys
	if name == "kubernetes" {
		// Its setup wants the API server of the cluster that it runs in.
		return parseKubernetes(controller)
	}
	action, err := caddy.DirectiveAction("dns", name)
	if err != nil {
		return err
	}
	return action(controller)
}

func parseKubernetes(c *caddy.Controller) error {
	for first := true; c.Next(); first = false {
		if !first {
			return c.Err("kubernetes may be used once in a server block")
		}
		if _, err := kubernetes.ParseStanza(c); err != nil {
			return fmt.Errorf("plugin/kubernetes: %w", err)
		}
	}
	return nil
}

// elsewhere says of a plugin why its setup cannot be run outside of its
// container.
func elsewhere(name string) (why string, ok bool) {
	switch name {
	case "route53", "azure", "clouddns", "nomad":
		return "asks a service elsewhere", true
	case "file", "auto", "hosts", "tls", "sign", "geoip", "dnssec", "dynupdate", "tsig", "root":
		return "reads files of the container", true
	case "on":
		return "runs programs", true
	}
	return "", false
}

// resolvers is the one file that is the same everywhere.
const resolvers = "/etc/resolv.conf"

// withoutFiles leaves out the certificates of a forward, which are files of the
// container, and answers what else is known there alone.
func withoutFiles(name string, tokens []caddyfile.Token) (rest []caddyfile.Token, file string) {
	certificates := 0 // the line whose words are certificates
	for i, token := range tokens {
		begins := i == 0 || tokens[i-1].Line != token.Line
		switch {
		case token.Line == certificates:
			continue
		case name == "forward" && begins && token.Text == "tls":
			certificates = token.Line
		case strings.HasPrefix(token.Text, "/") && token.Text != resolvers && name != "etcd":
			return nil, token.Text
		case name == "forward" && !begins && token.Line == tokens[0].Line && i > 1 && isName(token.Text):
			return nil, token.Text
		}
		rest = append(rest, token)
	}
	return rest, ""
}

// isName tells a host name, which CoreDNS looks up as it starts, from an
// address.
func isName(upstream string) bool {
	_, host := parse.Transport(upstream)
	host, _, _ = strings.Cut(host, "%")
	if upstream == resolvers || upstream == "{" {
		return false
	}
	if _, err := netip.ParseAddrPort(host); err == nil {
		return false
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err != nil && strings.ContainsAny(host, "abcdefghijklmnopqrstuvwxyz") && !strings.Contains(host, ":")
}
