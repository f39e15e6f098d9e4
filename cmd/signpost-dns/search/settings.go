package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/autopath"
)

// Settings are what both plugins are told in a Corefile.
type Settings struct {
	Domain  Domain
	Option  uint16 // code of the EDNS0 option
	AsPlain bool   // answer NXDOMAIN for what is missing
}

// Defaults are the settings of which nothing is said.
func Defaults() Settings { return Settings{Option: autopath.Option} }

// SetDomain takes the cluster's domain.
func (s *Settings) SetDomain(text string) error {
	domain, err := parseDomain(text)
	s.Domain.Name = domain
	return err
}

// Property reads the property at which c stands; known is false for one that is
// not common to both plugins.
func (s *Settings) Property(c *caddy.Controller) (known bool, err error) {
	name := c.Val()
	if name != "option" && name != "missing" {
		return false, nil
	}
	args := c.RemainingArgs()
	if len(args) != 1 {
		return true, c.ArgErr()
	}
	if name == "option" {
		s.Option, err = parseOption(args[0])
	} else {
		s.AsPlain, err = parseMissing(args[0])
	}
	if err != nil {
		return true, c.Err(err.Error())
	}
	return true, nil
}

func parseMissing(text string) (asPlain bool, err error) {
	switch text {
	case "nodata":
		return false, nil
	case "nxdomain":
		return true, nil
	}
	return false, fmt.Errorf("missing: %q: write nodata or nxdomain", text)
}

func parseOption(text string) (uint16, error) {
	code, err := strconv.ParseUint(text, 10, 16)
	if err != nil || code < uint64(autopath.Option) || code > uint64(autopath.OptionMax) {
		return 0, fmt.Errorf("option: %q: write a number from %d to %d", text, autopath.Option, autopath.OptionMax)
	}
	return uint16(code), nil
}

// AddSuffix makes nodes search one more domain, unless they do already. The
// error is of what is no domain, or of one too many.
func (d *Domain) AddSuffix(text string) error {
	suffix, err := parseDomain(text)
	if err != nil {
		return err
	}
	longest, ok := d.Paths(strings.Repeat("n", maxLabel))
	if !ok || slices.Contains(longest, suffix) {
		return nil
	}
	if _, err := autopath.Decode(autopath.Encode(append(longest, suffix))); err != nil {
		return fmt.Errorf("suffixes: %q: %w", text, err)
	}
	d.Suffixes = append(d.Suffixes, suffix)
	return nil
}

// maxLabel is how long the name of a namespace may be.
const maxLabel = 63

// parseDomain reads one domain into canonical form.
func parseDomain(text string) (string, error) {
	domains, err := autopath.Decode([]byte(text))
	if err != nil {
		return "", fmt.Errorf("%q is no domain: %w", text, err)
	}
	if len(domains) != 1 {
		return "", fmt.Errorf("%q is no domain: write several with spaces between them", text)
	}
	return domains[0], nil
}

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

// FromFile are the search domains in a file in the form of resolv.conf.
func FromFile(path string) ([]string, error) {
	config, err := dns.ClientConfigFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("suffixes: %w", err)
	}
	return config.Search, nil
}
