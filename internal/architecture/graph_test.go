package architecture

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is what the import paths of our packages begin with.
const module = "github.com/signpost-dns/signpost/"

// graph says for each package of a module what its files import, those of
// tests left out. Our own packages are named by their directories below the
// module's root ("pkg/domain/intent"), all others by their import paths.
type graph map[string][]string

// load reads the sources below root, modules of their own left out. It reads
// the files itself, and not with the go command, so that go test knows when
// its cached verdict is out of date.
func load(t *testing.T, root string) graph {
	t.Helper()
	g := graph{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skip(root, file)
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		imports, err := importsOf(file)
		name := filepath.ToSlash(dir)
		g[name] = slices.Compact(slices.Sorted(slices.Values(append(g[name], imports...))))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// skip leaves directories out that hold no packages of the module.
func skip(root, dir string) error {
	name := filepath.Base(dir)
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	if dir != root && (err == nil || name == "testdata" || strings.HasPrefix(name, ".")) {
		return fs.SkipDir
	}
	return nil
}

func importsOf(file string) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		imports = append(imports, strings.TrimPrefix(name, module))
	}
	return imports, nil
}

// packages are the names of the packages, in order.
func (g graph) packages() []string {
	names := make([]string, 0, len(g))
	for name := range g {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// chain is the shortest way, over packages of our own, from a package to an
// import that match accepts; nil when there is none.
func (g graph) chain(from string, match func(imported string) bool) []string {
	ways := [][]string{{from}}
	seen := map[string]bool{from: true}
	for len(ways) > 0 {
		way := ways[0]
		ways = ways[1:]
		for _, imported := range g[way[len(way)-1]] {
			next := append(slices.Clone(way), imported)
			if match(imported) {
				return next
			}
			if _, ours := g[imported]; ours && !seen[imported] {
				seen[imported] = true
				ways = append(ways, next)
			}
		}
	}
	return nil
}

// standard tells packages of the standard library from others.
func (g graph) standard(name string) bool {
	_, ours := g[name]
	first, _, _ := strings.Cut(name, "/")
	return !ours && !strings.Contains(first, ".")
}

// matches tells whether a name fits a pattern: the name itself, or with /...
// at its end whatever lies at or below it.
func matches(pattern, name string) bool {
	if below, open := strings.CutSuffix(pattern, "/..."); open {
		return name == below || strings.HasPrefix(name, below+"/")
	}
	return name == pattern
}

// matchesAny tells whether a name fits one of the patterns.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

func TestChainFindsTheShortestWay(t *testing.T) {
	g := graph{
		"a": {"b", "fmt"}, "b": {"a", "c", "d"}, "c": {"d"}, "d": {"example.com/x/y"},
	}
	x := func(name string) bool { return matches("example.com/x/...", name) }
	if got, want := g.chain("a", x), []string{"a", "b", "d", "example.com/x/y"}; !slices.Equal(got, want) {
		t.Errorf("the way is %v, want %v", got, want)
	}
	if got := g.chain("a", func(name string) bool { return name == "os" }); got != nil {
		t.Errorf("there is a way to os: %v", got)
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"pkg/plan", "pkg/plan", true},
		{"pkg/plan", "pkg/plan/provider", false},
		{"pkg/plan/...", "pkg/plan", true},
		{"pkg/plan/...", "pkg/plan/provider", true},
		{"pkg/plan/...", "pkg/planning", false},
	} {
		if got := matches(test.pattern, test.name); got != test.want {
			t.Errorf("%s fits %s: %t", test.name, test.pattern, got)
		}
	}
}

func TestLoadReadsSourcesAlone(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module x\n",
		"a/a.go":            "package a\n\nimport (\n\t\"fmt\"\n\t\"" + module + "b\"\n)\n",
		"a/other.go":        "package a\n\nimport \"os\"\n",
		"a/a_test.go":       "package a\n\nimport \"testing\"\n",
		"a/testdata/bad.go": "no Go",
		"other/go.mod":      "module y\n",
		"other/other.go":    "package other\n",
		".hidden/hidden.go": "package hidden\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := load(t, root)
	if got, want := g.packages(), []string{"a"}; !slices.Equal(got, want) {
		t.Fatalf("packages are %v, want %v", got, want)
	}
	if got, want := g["a"], []string{"b", "fmt", "os"}; !slices.Equal(got, want) {
		t.Errorf("imports are %v, want %v", got, want)
	}
}

// lastName is a package's own name in its path.
func lastName(name string) string { return path.Base(name) }
