package architecture

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the product's module, seen from this package.
const root = "../.."

func TestLeavesKnowNobodyElse(t *testing.T) {
	g := load(t, root)
	for _, rule := range leaves() {
		imports, exists := g[rule.name]
		if !exists {
			t.Errorf("there is no package %s: remove its rule", rule.name)
		}
		for _, imported := range imports {
			if !g.standard(imported) && !slices.Contains(rule.knows, imported) {
				t.Errorf("%s imports %s, but: %s", rule.name, imported, rule.reason)
			}
		}
		for _, allowed := range rule.knows {
			if !slices.Contains(imports, allowed) {
				t.Errorf("%s does not import %s: its rule need not allow that", rule.name, allowed)
			}
		}
	}
}

func TestNobodyReachesWhatIsBanned(t *testing.T) {
	g := load(t, root)
	for _, rule := range bans() {
		banned := func(imported string) bool { return matchesAny(rule.never, imported) }
		known := false
		for _, name := range g.packages() {
			if !matches(rule.names, name) {
				continue
			}
			known = true
			if way := g.chain(name, banned); way != nil {
				t.Errorf("%s, but: %s", strings.Join(way, " → "), rule.reason)
			}
		}
		if !known {
			t.Errorf("no package fits %s: remove its rule", rule.names)
		}
	}
}

func TestGatesAreKept(t *testing.T) {
	g := load(t, root)
	used := map[string]bool{}
	for _, name := range g.packages() {
		for _, imported := range g[name] {
			rule := gateTo(imported)
			used[rule.to] = true
			if rule.to != "" && !matchesAny(rule.open, name) {
				t.Errorf("%s imports %s, but: %s", name, imported, rule.reason)
			}
		}
	}
	for _, rule := range gates() {
		if !used[rule.to] {
			t.Errorf("nobody imports %s: remove its rule", rule.to)
		}
	}
}

func TestSuitesStayOutOfTheProgram(t *testing.T) {
	g := load(t, root)
	for _, suite := range suites() {
		if _, exists := g[suite]; !exists {
			t.Errorf("there is no package %s: remove it from the suites", suite)
		}
	}
	for _, name := range g.packages() {
		for _, imported := range g[name] {
			if slices.Contains(suites(), imported) && !slices.Contains(suites(), name) {
				t.Errorf("%s imports %s, which is for tests", name, imported)
			}
		}
	}
}

// gateTo is the narrowest gate to a package, an empty one when there is none.
func gateTo(imported string) gate {
	var narrowest gate
	for _, rule := range gates() {
		if matches(rule.to, imported) && len(rule.to) > len(narrowest.to) {
			narrowest = rule
		}
	}
	return narrowest
}

func TestPackagesAreNamedForWhatTheyHold(t *testing.T) {
	for _, dir := range []string{root, filepath.Join(root, "test")} {
		for _, name := range load(t, dir).packages() {
			if slices.Contains(emptyNames(), lastName(name)) {
				t.Errorf("%s: the name does not say what is in it", filepath.Join(dir, name))
			}
		}
	}
}
