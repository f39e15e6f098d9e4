// Package lint tells what is wrong with a Corefile, by CoreDNS' own parser and
// the setup of its plugins. It is meant for a process of its own, confined: a
// plugin's setup may do anything, and some end the process.
package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/caddy/caddyfile"
	clog "github.com/coredns/coredns/plugin/pkg/log"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
)

// fileName is what CoreDNS calls the Corefile in its errors.
const fileName = "Corefile"

// Check answers the findings about a Corefile in the order of its lines, and
// an empty list when there are none.
func Check(text string) []corefile.Finding {
	clog.Discard()
	c := &checker{}
	switch {
	case len(text) > corefile.MaxLinted:
		c.add(0, corefile.Error, "it is larger than %d bytes", corefile.MaxLinted)
	case strings.TrimSpace(text) == "":
		c.add(0, corefile.Error, "it is empty: write a server block, as in .:53 { forward . /etc/resolv.conf }")
	default:
		c.parsed(text)
	}
	return c.told()
}

type checker struct {
	findings []corefile.Finding
}

func (c *checker) add(line int, severity corefile.Severity, format string, values ...any) {
	c.findings = append(c.findings, corefile.Finding{Line: line, Severity: severity, Message: fmt.Sprintf(format, values...)})
}

// parsed checks a Corefile block by block, unless its parser would do more than
// parse.
func (c *checker) parsed(text string) {
	words := tokens(text)
	c.refuse(words)
	if slices.ContainsFunc(c.findings, func(f corefile.Finding) bool { return f.Severity == corefile.Error }) {
		return
	}
	text = strings.ReplaceAll(text, nodeUpstream, resolver)
	blocks, err := caddyfile.Parse(fileName, strings.NewReader(text), nil)
	if err != nil {
		c.located(err, 1)
		return
	}
	for _, block := range blocks {
		c.plugins(block)
	}
	c.zones(blocks, starts(words))
}

// plugins checks the plugins of a block, in the order in which CoreDNS sets
// them up.
func (c *checker) plugins(block caddyfile.ServerBlock) {
	known := caddy.ValidDirectives(serverType)
	for name, tokens := range block.Tokens {
		if !slices.Contains(known, name) {
			c.add(tokens[0].Line, corefile.Error, "there is no plugin %q", name)
		}
	}
	for _, name := range known {
		if tokens, ok := block.Tokens[name]; ok {
			c.plugin(block.Keys, name, tokens)
		}
	}
}

// plugin runs the setup of one plugin, as far as that works outside of the
// container that the Corefile is for.
func (c *checker) plugin(keys []string, name string, tokens []caddyfile.Token) {
	line := tokens[0].Line
	if why := insideOnly(name, tokens); why != "" {
		c.add(line, corefile.Warning, "%s %s, so it was not looked at further", name, why)
		return
	}
	err := setup(keys, name, withoutFiles(name, tokens))
	switch {
	case err == nil:
	case isConfined(err):
		c.add(line, corefile.Warning, "%s needs a file or an answer that its container alone has, so it was not looked at further", name)
	default:
		c.located(err, line)
	}
}

// located adds an error of CoreDNS, with the line that it speaks of.
func (c *checker) located(err error, line int) {
	text := err.Error()
	place := regexp.MustCompile(`(?:^|\s)` + fileName + `:(\d+) - (?:Error during parsing: |Syntax error: |)`).FindStringSubmatchIndex(text)
	if place != nil {
		line, _ = strconv.Atoi(text[place[2]:place[3]])
		text = strings.TrimSpace(text[:place[0]] + " " + text[place[1]:])
	}
	c.add(line, corefile.Error, "%s", text)
}

// told are the findings in the order of their lines, as many and as long as
// people read.
func (c *checker) told() []corefile.Finding {
	const most, longest = 100, 500
	slices.SortStableFunc(c.findings, func(a, b corefile.Finding) int { return a.Line - b.Line })
	told := append([]corefile.Finding{}, c.findings[:min(most, len(c.findings))]...)
	for i, finding := range told {
		if message := []rune(finding.Message); len(message) > longest {
			told[i].Message = string(message[:longest]) + "…"
		}
	}
	if more := len(c.findings) - len(told); more > 0 {
		told = append(told, corefile.Finding{Severity: corefile.Error, Message: fmt.Sprintf("there are %d more findings", more)})
	}
	return told
}
