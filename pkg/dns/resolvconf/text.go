package resolvconf

import (
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Text is settings as a resolv.conf: a line for each nameserver, one for all searches and
// one for all options, each with a newline. Empty settings have no line.
func Text(c intent.PodDNSConfig) string {
	var b strings.Builder
	for _, nameserver := range c.Nameservers {
		line(&b, "nameserver", nameserver)
	}
	line(&b, "search", c.Searches...)
	line(&b, "options", optionTexts(c.Options)...)
	return b.String()
}

func line(b *strings.Builder, keyword string, values ...string) {
	if len(values) > 0 {
		b.WriteString(keyword + " " + strings.Join(values, " ") + "\n")
	}
}

// optionTexts are options as resolv.conf has them, as in "ndots:2" or "edns0".
func optionTexts(options []intent.PodDNSOption) []string {
	var out []string
	for _, option := range options {
		text := option.Name
		if option.Value != nil {
			text += ":" + *option.Value
		}
		out = append(out, text)
	}
	return out
}
