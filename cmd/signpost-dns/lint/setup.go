package lint

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/caddy/caddyfile"
	"github.com/coredns/coredns/plugin/kubernetes"
	"github.com/coredns/coredns/plugin/pkg/parse"
	"github.com/coredns/coredns/plugin/pkg/transport"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchpath"
)

const serverType = "dns"

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
	controller := caddy.NewTestController(serverType, "")
	controller.Dispenser = caddyfile.NewDispenserTokens(fileName, tokens)
	controller.ServerBlockKeys = keys
	if name == "kubernetes" {
		// Its setup wants the API server of the cluster that it runs in.
		return parseKubernetes(controller)
	}
	action, err := caddy.DirectiveAction(serverType, name)
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

// insideOnly returns why the setup of a plugin can run only inside its container, and an
// empty string if the setup can run here.
func insideOnly(name string, tokens []caddyfile.Token) (why string) {
	switch name {
	case "route53", "azure", "clouddns", "nomad", "etcd":
		return "asks another server"
	case "file", "auto", "hosts", "tls", "sign", "geoip", "dnssec", "dynupdate", "tsig", "root":
		return "reads files of the container"
	case "on":
		return "runs programs"
	}
	for _, args := range stanzas(tokens) {
		if foreign := foreign(name, args); foreign != "" {
			return "names " + foreign + ", which is known in the container alone"
		}
	}
	return ""
}

// stanzas are the arguments of each use of a plugin in a block, those of its
// properties left out.
func stanzas(tokens []caddyfile.Token) [][]string {
	var all [][]string
	d := caddyfile.NewDispenserTokens(fileName, tokens)
	for d.Next() {
		all = append(all, d.RemainingArgs())
		for d.NextBlock() {
			d.RemainingArgs()
		}
	}
	return all
}

// resolvers is the one file that is the same everywhere, and resolver an
// address that stands for it.
const (
	resolvers = "/etc/resolv.conf"
	resolver  = "192.0.2.1"
)

// foreign is the first argument of a plugin that means something only in the container.
// It is a file, a host name to look up, or a network interface.
func foreign(name string, args []string) string {
	for i, arg := range args {
		switch {
		case (name == "forward" || name == "grpc") && i > 0 && arg != resolvers && !isUpstream(arg),
			name == "autopath" && i == len(args)-1 && arg != resolvers && !strings.HasPrefix(arg, "@"),
			name == "bind" && net.ParseIP(arg) == nil:
			return arg
		}
	}
	return ""
}

// isUpstream tells an address, including a malformed one, from the name of a host or
// file.
func isUpstream(text string) bool {
	protocol, host := parse.Transport(text)
	host, _, _ = strings.Cut(host, "%")
	host, path, _ := strings.Cut(host, "/")
	if path != "" && protocol != transport.HTTPS {
		return false
	}
	return strings.Count(host, ":") > 1 || !strings.ContainsAny(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz/")
}

// withoutFiles replaces files of the container: an address stands for the node's
// resolvers, and a domain for files with search domains. Certificates of upstreams are
// left out.
func withoutFiles(name string, tokens []caddyfile.Token) []caddyfile.Token {
	switch name {
	case "forward", "grpc":
		return withoutUpstreamFiles(tokens)
	case searchpath.Name:
		return withoutSearchFiles(tokens)
	}
	return tokens
}

func withoutUpstreamFiles(tokens []caddyfile.Token) []caddyfile.Token {
	var rest []caddyfile.Token
	certificates := 0 // the line whose words are certificates
	for i, token := range tokens {
		begins := i == 0 || tokens[i-1].Line != token.Line
		switch {
		case token.Line == certificates:
			continue
		case begins && token.Text == "tls":
			certificates = token.Line
		case token.Text == resolvers:
			token.Text = resolver
		}
		rest = append(rest, token)
	}
	return rest
}

// withoutSearchFiles puts a domain in place of every word that searchpath might
// take for a file: any but its own name and the cluster's domain.
func withoutSearchFiles(tokens []caddyfile.Token) []caddyfile.Token {
	rest := slices.Clone(tokens)
	for i, token := range rest {
		if i > 1 && strings.Contains(token.Text, "/") {
			rest[i].Text = "search.example"
		}
	}
	return rest
}
