package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// size is what a package may have: a reader holds no more in mind. Tests and
// generated code do not count.
type size struct {
	lines, files int
	methods      int // of one type
	fields       int // of one type with methods, which is more than a document or plain configuration
}

func limit() size { return size{lines: 3000, files: 25, methods: 40, fields: 20} }

// groups is how many packages and groups of packages may be directly below pkg.
const groups = 14

// order is a group of packages of which none imports one that stands after it.
type order struct {
	above    string
	packages []string // below that; "." is that itself
}

func orders() []order {
	return []order{
		{"pkg/release", []string{
			"removal/guard", "ownership/nameclaim", "state/packed", "state", "ahead", "inputs", "resolve", "ownership", "tenancy", "sharing", "removal", "cleanup", "render",
			"offers", "follow", "providers", "reconcile", "clusters", "failover", "accept", "orchestration", "query", "nameindex", "controller", ".", "status", "explain",
		}},
		{"pkg/worker", []string{
			"cluster", "cluster/clustertest", "cluster/directory", "cluster/rights", "cluster/account", "cluster/kubeapi", "cluster/builtin", "connections", "renewal", "pace", "index", "lookup", "metrics",
			"state", "link", "probe", "verify", "addressprobe", "observe", "apply", "rsync", "syncer",
		}},
	}
}

func TestPackagesKeepToTheirLimits(t *testing.T) {
	for _, name := range load(t, root).packages() {
		if top, _, _ := strings.Cut(name, "/"); top != "api" && top != "cmd" && top != "pkg" {
			continue
		}
		has := measure(t, filepath.Join(root, name))
		for what, is := range map[string][2]int{
			"lines":               {has.lines, limit().lines},
			"files":               {has.files, limit().files},
			"methods of one type": {has.methods, limit().methods},
			"fields of one type":  {has.fields, limit().fields},
		} {
			if is[0] > is[1] {
				t.Errorf("%s has %d %s, and may have %d: divide it", name, is[0], what, is[1])
			}
		}
	}
}

func TestPkgShowsTheArchitectureAtAGlance(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(root, "pkg"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(entries), groups)
}

func TestNoPackageReachesUp(t *testing.T) {
	g := load(t, root)
	for _, order := range orders() {
		for name := range g {
			if !matches(order.above+"/...", name) {
				continue
			}
			at := slices.Index(order.packages, nameBelow(order.above, name))
			if at < 0 {
				t.Errorf("%s has no place in the order of %s", name, order.above)
			}
			for _, imported := range g[name] {
				if matches(order.above+"/...", imported) && slices.Index(order.packages, nameBelow(order.above, imported)) > at {
					t.Errorf("%s imports %s, which is above it", name, imported)
				}
			}
		}
	}
}

// nameBelow is the name of a package below another; "." for that itself.
func nameBelow(above, name string) string {
	if name == above {
		return "."
	}
	return strings.TrimPrefix(name, above+"/")
}

// measure counts what people wrote in a package.
func measure(t *testing.T, dir string) size {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var has size
	methods, fields := map[string]int{}, map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		if strings.HasSuffix(path.Base(file), "_test.go") || ast.IsGenerated(parsed) {
			continue
		}
		has.files++
		has.lines += strings.Count(string(text), "\n")
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					methods[receiver(n.Recv.List[0].Type)]++
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok && !isDocument(s) {
					fields[n.Name.Name] = s.Fields.NumFields()
				}
			}
			return true
		})
	}
	for name, n := range methods {
		has.methods, has.fields = max(has.methods, n), max(has.fields, fields[name])
	}
	return has
}

// isDocument tells shapes of JSON from other types.
func isDocument(s *ast.StructType) bool {
	return len(s.Fields.List) > 0 && s.Fields.List[0].Tag != nil
}

// receiver is the name of a method's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}
