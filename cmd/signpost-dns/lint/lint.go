// Package lint tells what is wrong with a Corefile, by CoreDNS' own parser and
// the setup of its plugins. It is meant for a process of its own: a plugin's
// setup may do anything, and some end the process.
package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/caddy/caddyfile"
	"github.com/coredns/coredns/core/dnsserver"
	clog "github.com/coredns/coredns/plugin/pkg/log"
)

// MaxBytes is how large a Corefile may be.
const MaxBytes = 1 << 20

// Severity says whether CoreDNS would start.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // CoreDNS would not start
	Warning Severity = "warning" // it would, or nobody can tell from here
)

// Finding is something about a line of a Corefile.
type Finding struct {
	Line     int      `json:"line"` // from 1; 0 when it is about the whole
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
}

// Check answers the findings about a Corefile in the order of its lines, and
// an empty list when there are none.
func Check(corefile string) []Finding {
	findings := []Finding{}
	switch {
	case len(corefile) > MaxBytes:
		return append(findings, Finding{0, Error, fmt.Sprintf("it is larger than %d bytes", MaxBytes)})
	case strings.TrimSpace(corefile) == "":
		return append(findings, Finding{0, Error, "it is empty: write a server block, as in .:53 { forward . /etc/resolv.conf }"})
	}
	if refused := refusals(corefile); len(refused) > 0 {
		return refused
	}
	clog.Discard()
	blocks, err := caddyfile.Parse("Corefile", strings.NewReader(corefile), nil)
	if err != nil {
		return append(findings, located(err, 1))
	}
	c := &checker{}
	for _, block := range blocks {
		c.block(block)
	}
	c.whole(blocks)
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return a.Line - b.Line })
	return append(findings, c.findings...)
}

// refusals are the places where the parser itself would read the environment or
// another file.
func refusals(corefile string) []Finding {
	var findings []Finding
	variable := regexp.MustCompile(`\{(\$[^}]*|%[^}]*%)\}`)
	number := 0
	for line := range strings.Lines(corefile) {
		number++
		text, _, _ := strings.Cut(line, "#")
		if found := variable.FindString(text); found != "" {
			findings = append(findings, Finding{number, Error, found + " would be read from the environment: write the value"})
		}
		if words := strings.Fields(text); len(words) > 0 && strings.Trim(words[0], `"`) == "import" {
			findings = append(findings, Finding{number, Error, "import reads another file: write what it says"})
		}
	}
	return findings
}

type checker struct {
	findings []Finding
}

func (c *checker) add(line int, severity Severity, format string, values ...any) {
	c.findings = append(c.findings, Finding{line, severity, fmt.Sprintf(format, values...)})
}

// block checks a server block, plugin by plugin, in the order in which CoreDNS
// sets them up.
func (c *checker) block(block caddyfile.ServerBlock) {
	known := caddy.ValidDirectives("dns")
	for name, tokens := range block.Tokens {
		if !slices.Contains(known, name) {
			c.add(tokens[0].Line, Error, "there is no plugin %q", name)
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
	if why, ok := elsewhere(name); ok {
		c.add(line, Warning, "%s %s, so it was not looked at further", name, why)
		return
	}
	tokens, file := withoutFiles(name, tokens)
	if file != "" {
		c.add(line, Warning, "%s names %s, which is known in the container alone, so it was not looked at further", name, file)
		return
	}
	if err := setup(keys, name, tokens); err != nil {
		c.findings = append(c.findings, located(err, line))
	}
}

// whole checks what concerns several blocks.
func (c *checker) whole(blocks []caddyfile.ServerBlock) {
	seen := map[string]bool{}
	for _, block := range blocks {
		line := firstLine(block)
		_, viewed := block.Tokens["view"]
		for _, key := range block.Keys {
			address := normal(key)
			if viewed {
				continue // several blocks may serve a zone, to different clients
			}
			if seen[address] {
				c.add(line, Error, "%s is served by another block already", address)
			}
			seen[address] = true
		}
		if len(block.Tokens) == 0 {
			c.add(line, Warning, "%s has no plugins: every query is refused", strings.Join(block.Keys, " "))
		}
	}
}

// normal is a key of a server block with its port.
func normal(key string) string {
	key = strings.ToLower(strings.TrimPrefix(key, "dns://"))
	if !regexp.MustCompile(`:\d+$`).MatchString(key) {
		key += ":" + dnsserver.DefaultPort
	}
	zone, port := key[:strings.LastIndex(key, ":")], key[strings.LastIndex(key, ":"):]
	return strings.TrimSuffix(zone, ".") + "." + port
}

// firstLine is the line of the first plugin of a block, since the parser keeps
// that of the block to itself.
func firstLine(block caddyfile.ServerBlock) int {
	first := 0
	for _, tokens := range block.Tokens {
		if first == 0 || tokens[0].Line < first {
			first = tokens[0].Line
		}
	}
	return max(first-1, 1)
}

// located reads the line out of an error of CoreDNS.
func located(err error, line int) Finding {
	text := err.Error()
	place := regexp.MustCompile(`(?:^|\s)Corefile:(\d+) - (?:Error during parsing: |Syntax error: |)`).FindStringSubmatchIndex(text)
	if place == nil {
		return Finding{line, Error, text}
	}
	number, _ := strconv.Atoi(text[place[2]:place[3]])
	message := strings.TrimSpace(text[:place[0]] + " " + text[place[1]:])
	return Finding{number, Error, message}
}
