package resolvconf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Parse reads a node's resolv.conf as kubelet does. Nameservers add up, the last search
// line holds, and options override by name. A dot at the end of a search is dropped, and
// the root with it. Other lines, domain among them, mean nothing. The error names the
// line of a nameserver without address; kubelet starts no pod then.
func Parse(text string) (intent.PodDNSConfig, error) {
	var c intent.PodDNSConfig
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		values := fields[1:]
		switch fields[0] {
		case "nameserver":
			if len(values) == 0 {
				return intent.PodDNSConfig{}, fmt.Errorf("line %d has a nameserver without address", i+1)
			}
			c.Nameservers = append(c.Nameservers, values[0])
		case "search":
			c.Searches = searches(values)
		case "options":
			c.Options = setOptions(c.Options, options(values))
		}
	}
	return c, nil
}

func searches(values []string) []string {
	var out []string
	for _, value := range values {
		if value != "." {
			out = append(out, strings.TrimSuffix(value, "."))
		}
	}
	return out
}

func options(values []string) []intent.PodDNSOption {
	var out []intent.PodDNSOption
	for _, text := range values {
		option := intent.PodDNSOption{Name: text}
		if name, value, valued := strings.Cut(text, ":"); valued {
			option = intent.PodDNSOption{Name: name, Value: &value}
		}
		out = append(out, option)
	}
	return out
}

// IsOther tells whether a text has lines, but none that belongs in a resolv.conf;
// comments do not count.
func IsOther(text string) bool {
	keywords := []string{"nameserver", "search", "options", "domain", "sortlist"}
	lines := false
	for line := range strings.Lines(text) {
		switch fields := strings.Fields(line); {
		case len(fields) == 0 || strings.ContainsAny(fields[0][:1], "#;"):
		case slices.Contains(keywords, fields[0]):
			return false
		default:
			lines = true
		}
	}
	return lines
}
