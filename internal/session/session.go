// Package session reads the sessions of documentation pages: commands as one
// types them, and what they print. For tests.
package session

import (
	"regexp"
	"strings"
)

// Exchange is a command of a session and what it prints.
type Exchange struct {
	Command string // with its line ends, of which a backslash or "> " has more follow
	Output  string // empty: nothing
}

// Exchanges finds the commands of the text's ```console blocks. A command is
// behind "$ ", and goes on over lines that end in a backslash, and over lines
// behind "> ", as of a here-document.
func Exchanges(text string) []Exchange {
	var found []Exchange
	inside, open := false, false
	for line := range strings.Lines(text) {
		more, continued := strings.CutPrefix(line, "> ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside, open = strings.HasPrefix(line, "```console"), false
		case !inside:
		case strings.HasPrefix(line, "$ "):
			found = append(found, Exchange{Command: strings.TrimPrefix(line, "$ ")})
			open = strings.HasSuffix(line, "\\\n")
		case open:
			found[len(found)-1].Command += line
			open = strings.HasSuffix(line, "\\\n")
		case continued && found[len(found)-1].Output == "":
			found[len(found)-1].Command += more
		default:
			found[len(found)-1].Output += line
		}
	}
	return found
}

// Normal is text without what differs from run to run: times, durations, ids, tokens.
func Normal(text string) string {
	for _, rule := range []struct{ pattern, name string }{
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`, "TIME"},
		{`\bsp-[a-z0-9]{8}-[a-z0-9]{8}\b`, "OWNER"},
		{`\b[A-Z2-7]{26}\b`, "REQUEST"},
		{`\b[0-9a-f]{32}\b`, "TOKEN"},
		{`\b\d{15,20}\b`, "CONTEXT"},
		{`\+\d+(\.\d+)?(ms|s)\b *`, "+TIME  "}, // with the blanks that align the next column
	} {
		text = regexp.MustCompile(rule.pattern).ReplaceAllString(text, rule.name)
	}
	return text
}

// Matches tells whether an output is what a page shows. A line "..." of the
// page stands for any lines, also none.
func Matches(shown, output string) bool {
	parts := strings.Split("\n"+strings.TrimSpace(Normal(shown))+"\n", "\n...\n")
	rest := "\n" + strings.TrimSpace(Normal(output)) + "\n"
	if len(parts) == 1 {
		return rest == parts[0]
	}
	for i, part := range parts {
		part = "\n" + strings.Trim(part, "\n") + "\n"
		if part == "\n\n" {
			continue
		}
		at := strings.Index(rest, part)
		last := i == len(parts)-1
		if last {
			at = strings.LastIndex(rest, part)
		}
		if at < 0 || i == 0 && at > 0 || last && at+len(part) < len(rest) {
			return false
		}
		rest = rest[at+len(part)-1:]
	}
	return true
}
