// Package operations proves the pages for operators: their commands are run.
package operations

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/session"
)

// pages are what is proven.
func pages() []string { return []string{"operations.md", "stores.md", "history.md"} }

// TestCommandsOfOperations runs the ```console blocks of each section, in a
// shell of its own, beside a Signpost that has the quickstart deployed.
// systemctl start, stop and restart are for that one; addresses and directories
// are the machine's that the section supposes, and the test's own in truth.
func TestCommandsOfOperations(t *testing.T) {
	programs := build(t)
	for _, page := range pages() {
		ran := false
		for _, part := range sections(read(t, page)) {
			exchanges := session.Exchanges(part.text)
			if len(exchanges) == 0 {
				continue
			}
			ran = true
			t.Run(page+"/"+part.title, func(t *testing.T) {
				m := newMachine(t, programs, part.text)
				for _, e := range exchanges {
					got := m.run(t, e.Command)
					assert.True(t, session.Matches(e.Output, got), "$ %s\nis shown to print\n%s\nand prints\n%s", e.Command, session.Normal(e.Output), session.Normal(got))
				}
			})
		}
		assert.True(t, ran, "%s shows no command: take it out of the list of pages", page)
	}
}

// TestNoCommandOfOperationsIsLeftOut: what a page shows in blocks is either a
// session, which is run, or data.
func TestNoCommandOfOperationsIsLeftOut(t *testing.T) {
	data := []string{"yaml", "json", "ini", "csv", "promql"}
	for _, page := range pages() {
		opens := true
		for line := range strings.Lines(read(t, page)) {
			language, is := strings.CutPrefix(strings.TrimSpace(line), "```")
			if !is {
				continue
			}
			if opens {
				require.Contains(t, append(data, "console"), language, "%s: a block of commands is ```console, one of data says of what kind", page)
			}
			opens = !opens
		}
		require.True(t, opens, "%s: every block ends", page)
	}
}

// section is a part of a page, from a heading of the second level to the next.
type section struct{ title, text string }

func sections(text string) []section {
	heading := regexp.MustCompile(`(?m)^## (.*)$`)
	var found []section
	places := heading.FindAllStringSubmatchIndex(text, -1)
	for i, at := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		found = append(found, section{text[at[2]:at[3]], text[at[1]:end]})
	}
	return found
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + page)
	require.NoError(t, err)
	return string(text)
}
