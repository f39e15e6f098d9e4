package search

import (
	"fmt"
	"strconv"

	"github.com/coredns/caddy"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
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
