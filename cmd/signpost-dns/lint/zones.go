package lint

import (
	"slices"
	"strings"

	"github.com/coredns/caddy/caddyfile"
	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/parse"
	"github.com/coredns/coredns/plugin/pkg/transport"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
)

// zones checks what blocks serve, against each other too. lines are where they
// begin.
func (c *checker) zones(blocks []caddyfile.ServerBlock, lines []int) {
	taken := map[string][]string{} // what is served, and at which addresses
	for i, block := range blocks {
		line := 1
		if i < len(lines) {
			line = lines[i]
		}
		if len(block.Tokens) == 0 {
			c.add(line, corefile.Warning, "%s has no plugins: every query is refused", strings.Join(block.Keys, " "))
		}
		for _, key := range block.Keys {
			served, err := zonesOf(key)
			if err != nil {
				c.add(line, corefile.Error, "%q is not a zone: %v", key, err)
			}
			if _, viewed := block.Tokens["view"]; viewed {
				continue // several blocks may serve a zone, to different clients
			}
			for _, zone := range served {
				at := bound(block)
				if slices.ContainsFunc(taken[zone], func(other string) bool { return overlaps(at, other) }) {
					c.add(line, corefile.Error, "%s is served by another block already", strings.TrimPrefix(zone, transport.DNS+"://"))
				}
				taken[zone] = append(taken[zone], at...)
			}
		}
	}
}

// zonesOf are the zones of a block's key, with transport and port: several for a
// range of addresses that does not end at a dot.
func zonesOf(key string) ([]string, error) {
	protocol, rest := parse.Transport(key)
	hosts, port, err := plugin.SplitHostPort(rest)
	if err != nil {
		return nil, err
	}
	if port == "" {
		port = map[string]string{
			transport.TLS: transport.TLSPort, transport.QUIC: transport.QUICPort, transport.GRPC: transport.GRPCPort,
			transport.HTTPS: transport.HTTPSPort, transport.HTTPS3: transport.HTTPSPort, transport.DNS: transport.Port,
		}[protocol]
	}
	var zones []string
	for _, host := range hosts {
		zone := plugin.Name(host).Normalize()
		if _, _, err := plugin.SplitHostPort(zone); err != nil {
			return nil, err
		}
		zones = append(zones, protocol+"://"+zone+":"+port)
	}
	return zones, nil
}

// everywhere is the address of a block that is bound to none.
const everywhere = ""

// bound are the addresses that a block listens on.
func bound(block caddyfile.ServerBlock) []string {
	var addresses []string
	for i, token := range block.Tokens["bind"] {
		if i > 0 && token.Text != "bind" {
			addresses = append(addresses, token.Text)
		}
	}
	if addresses == nil {
		return []string{everywhere}
	}
	return addresses
}

// overlaps tells whether an address is among others.
func overlaps(addresses []string, other string) bool {
	return other == everywhere || slices.Contains(addresses, everywhere) || slices.Contains(addresses, other)
}
