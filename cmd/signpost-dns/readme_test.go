package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchexpand"
	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchpath"
)

// The plugins' READMEs have the form of CoreDNS' own, say everything that there
// is, and their Corefiles are right.
func TestReadmesOfThePlugins(t *testing.T) {
	example := regexp.MustCompile(`(?s)~~~ corefile\n(.*?)~~~\n`)
	section := regexp.MustCompile(`(?m)^## (.*)$`)
	for plugin, properties := range map[string][]string{
		searchpath.Name:   {"suffixes", "option", "missing"},
		searchexpand.Name: {"option", "suffixes", "allow", "missing"},
	} {
		text := read(t, filepath.Join(plugin, "README.md"))
		require.True(t, strings.HasPrefix(text, "# "+plugin+"\n\n## Name\n\n*"+plugin+"* - "), plugin)
		var sections []string
		for _, found := range section.FindAllStringSubmatch(text, -1) {
			sections = append(sections, found[1])
		}
		require.Equal(t, []string{"Name", "Description", "Syntax", "Metrics", "Examples", "Bugs", "See Also"}, sections, plugin)
		for _, property := range properties {
			require.Contains(t, text, "\n* `"+property+"` ", plugin)
		}
		examples := example.FindAllStringSubmatch(text, -1)
		require.NotEmpty(t, examples, plugin)
		for _, found := range examples {
			require.Contains(t, found[1], plugin)
			require.Empty(t, lintThis(t, found[1]), found[1])
		}
		requireMetrics(t, plugin, text)
	}
}

// requireMetrics expects a README to name the metrics of its plugin, with their
// labels, and so the manual.
func requireMetrics(t *testing.T, plugin, readme string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(plugin, "*.go"))
	require.NoError(t, err)
	var source []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		source = append(source, text...)
	}
	counters := regexp.MustCompile(`Counter\("([a-z_]+)", "[^"]*"((?:, "[a-z]+")*)\)`).FindAllStringSubmatch(string(source), -1)
	require.NotEmpty(t, counters)
	manual := read(t, filepath.Join("..", "..", "docs", "monitoring.md"))
	for _, counter := range counters {
		labels := strings.ReplaceAll(counter[2], `"`, "")
		require.Contains(t, readme, "* `coredns_"+plugin+"_"+counter[1]+"{server"+labels+"}` - counter of ", plugin)
		require.Contains(t, manual, "\n| `coredns_"+plugin+"_"+counter[1]+"` | server"+labels+" | ", plugin)
	}
}
