package lint

import (
	"regexp"
	"strings"

	"github.com/coredns/caddy/caddyfile"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
)

// tokens reads the words of a Corefile with the parser's own lexer: nobody else
// knows for sure where a word or a comment begins.
func tokens(text string) []caddyfile.Token {
	var all []caddyfile.Token
	d := caddyfile.NewDispenser(fileName, strings.NewReader(text))
	for d.Next() {
		all = append(all, caddyfile.Token{File: fileName, Line: d.Line(), Text: d.Val()})
	}
	return all
}

// nodeUpstream is the only variable whose value is known to be an address. In the
// Corefile of a node's cache, it is the address of the cluster's DNS.
const nodeUpstream = "{$DNS_DEFAULT_SERVICE_HOST}"

// refuse finds the places where the parser itself would read the environment or
// another file.
func (c *checker) refuse(words []caddyfile.Token) {
	variable := regexp.MustCompile(`(?s)\{\$.*?\}|\{%.*?%\}`)
	for i, word := range words {
		for _, found := range variable.FindAllString(word.Text, -1) {
			if found == nodeUpstream {
				c.add(word.Line, corefile.Warning, "%s is known in the container alone: an address stands for it here", found)
				continue
			}
			c.add(word.Line, corefile.Error, "%s would be read from the environment: write the value", found)
		}
		if word.Text == "import" && begins(words, i) {
			c.add(word.Line, corefile.Error, "import reads another file: write what it says")
		}
	}
}

// begins reports whether the parser may read a word as the name of a plugin. It may if
// the word is the first of a line, or stands beside a brace.
func begins(words []caddyfile.Token, i int) bool {
	if i == 0 || words[i-1].Line != words[i].Line {
		return true
	}
	before := words[i-1].Text
	return before == "{" || before == "}"
}

// starts are the lines on which server blocks begin, in their order. The
// parser keeps them to itself.
func starts(words []caddyfile.Token) []int {
	var lines []int
	depth, inside := 0, false
	for _, word := range words {
		if snippet := strings.HasPrefix(word.Text, "("); !inside && !snippet {
			lines = append(lines, word.Line)
		}
		inside = true
		switch word.Text {
		case "{":
			depth++
		case "}":
			depth--
			inside = depth > 0
		}
	}
	return lines
}
