package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMetricsAreThoseOfThePage: whoever adds a metric adds a row to the table
// of docs/monitoring.md, and a row tells of a metric that is there. In the code
// a metric's name is a whole literal, so that it is found.
func TestMetricsAreThoseOfThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/monitoring.md"))
	require.NoError(t, err)
	told := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(signpost_[a-z0-9_]+)` \\|[^|]*\\|.+\\|$").FindAllStringSubmatch(string(page), -1) {
		assert.False(t, told[row[1]], "%s has two rows in docs/monitoring.md", row[1])
		told[row[1]] = true
	}
	there := metricNames(t)
	require.NotEmpty(t, there)
	for _, name := range slices.Sorted(maps.Keys(there)) {
		assert.True(t, told[name], "%s: docs/monitoring.md has no row | `%s` | labels | means |", there[name], name)
	}
	for _, name := range slices.Sorted(maps.Keys(told)) {
		assert.Contains(t, there, name, "docs/monitoring.md tells of a metric that no source has as a whole literal")
	}
}

// metricNames are the literals of the product's sources that are names of its
// metrics, and where they are.
func metricNames(t *testing.T) map[string]string {
	t.Helper()
	name := regexp.MustCompile(`^signpost_[a-z0-9_]+$`)
	found := map[string]string{}
	eachSource(t, func(files *token.FileSet, parsed *ast.File) {
		ast.Inspect(parsed, func(n ast.Node) bool {
			literal, is := n.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && name.MatchString(text) {
				found[text] = files.Position(literal.Pos()).String()
			}
			return true
		})
	})
	return found
}

// eachSource visits the sources of api and pkg, without tests.
func eachSource(t *testing.T, visit func(files *token.FileSet, parsed *ast.File)) {
	t.Helper()
	for _, part := range []string{"api", "pkg"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, part), func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
			if err == nil {
				visit(files, parsed)
			}
			return err
		}))
	}
}
