package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/test/simulate/bugs"
)

const (
	product   = "github.com/signpost-dns/signpost"
	dnsModule = "cmd/signpost-dns" // has a go.mod of its own
)

// search looks for the tests that find mutants.
type search struct {
	root    string              // of the repository
	imports map[string][]string // by module: a line for each package, itself first
	out     io.Writer
}

func newSearch(ctx context.Context, root string, out io.Writer) (*search, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	s := &search{root: root, imports: map[string][]string{}, out: out}
	for _, module := range []string{".", dnsModule, "test"} {
		list := exec.CommandContext(ctx, "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "./...")
		list.Dir = filepath.Join(root, module)
		text, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", module, err)
		}
		s.imports[module] = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	return s, nil
}

// importers are the packages of a module that import a package, also in tests.
func (s *search) importers(module, of string) []string {
	var all []string
	for _, line := range s.imports[module] {
		words := strings.Fields(line)
		if words[0] != of && slices.Contains(words, of) {
			all = append(all, words[0])
		}
	}
	return all
}

// stage is some packages of a module, as a ring tests them.
type stage struct {
	ring     string
	module   string // its directory
	packages []string
	programs bool // the tests run signpost
}

// stages are those that may find a fault in a file: the nearest tests first.
func (s *search) stages(file string) []stage {
	mutated, module := product+"/"+path.Dir(file), "."
	if strings.HasPrefix(file, dnsModule+"/") {
		module = dnsModule
	}
	all := []stage{
		{ring: "1", module: module, packages: []string{mutated}},
		{ring: "1", module: ".", packages: s.importers(".", mutated)},
		{ring: "1", module: dnsModule, packages: s.importers(dnsModule, mutated)},
	}
	if module == "." {
		all = append(all, stage{ring: "1", module: ".", packages: []string{"./..."}})
	}
	all = append(all,
		stage{ring: "1", module: dnsModule, packages: []string{"./..."}},
		stage{ring: "1", module: "test", packages: []string{"./simulate"}},
		stage{ring: "1", module: "test", packages: []string{"./story", "./tenants"}, programs: true},
		stage{ring: "2", module: "test", packages: []string{"./simulate"}},
		stage{ring: "2", module: "test", packages: slices.DeleteFunc(s.importers("test", mutated), atLength), programs: true})
	return slices.DeleteFunc(all, func(one stage) bool { return len(one.packages) == 0 })
}

// atLength tells whether a package of the module test is run in ring 3 alone, or
// was run before.
func atLength(pkg string) bool {
	return slices.ContainsFunc([]string{"bench", "load", "e2e/fixture", "e2e/kube", "e2e/kubelet", "e2e/etcd", "simulate", "story", "tenants"}, func(name string) bool {
		return pkg == product+"/test/"+name || strings.HasPrefix(pkg, product+"/test/"+name+"/")
	})
}

// find looks for a test that finds a mutant.
func (s *search) find(ctx context.Context, mutant bugs.Bug) result {
	r, err := s.tryFind(ctx, mutant)
	if err != nil {
		return result{failed, err.Error()}
	}
	return r
}

func (s *search) tryFind(ctx context.Context, mutant bugs.Bug) (result, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := mutant.Overlay(s.root, dir)
	if err != nil {
		return result{}, err
	}
	for _, one := range s.stages(mutant.File) {
		if one.programs {
			if err := s.build(ctx, overlay, dir); err != nil {
				return result{}, err
			}
		}
		broken, err := s.test(ctx, one, overlay, dir, one.packages...)
		if err != nil {
			return result{}, err
		}
		if broken == (failure{}) {
			continue
		}
		if sure, err := s.sure(ctx, one, overlay, dir, broken); err != nil || sure {
			return result{one.ring, broken.String()}, err
		}
		fmt.Fprintf(s.out, "%s does not fail each time with the mutant %q: the search goes on\n", broken, mutant.Name)
	}
	return result{ring: escaped}, nil
}

// sure tells whether a test fails again with the mutant. An error says that the
// test fails without the mutant, too.
func (s *search) sure(ctx context.Context, in stage, overlay, programs string, f failure) (bool, error) {
	alone := append(f.selection(), f.pkg)
	without, err := s.test(ctx, in, "", "", alone...)
	if err == nil && without != (failure{}) {
		err = fmt.Errorf("%s fails without the mutant, too", f)
	}
	if err != nil {
		return false, err
	}
	again, err := s.test(ctx, in, overlay, programs, append([]string{"-count=1"}, alone...)...)
	return again != (failure{}), err
}

// build builds the programs with a mutant.
func (s *search) build(ctx context.Context, overlay, dir string) error {
	for name, module := range map[string]string{"signpost": ".", "signpost-dns": dnsModule} {
		pkg := "."
		if module == "." {
			pkg = "./cmd/signpost"
		}
		build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(dir, name), pkg)
		build.Dir = filepath.Join(s.root, module)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := build.CombinedOutput(); err != nil {
			return errors.Join(fmt.Errorf("build %s: %s", name, text), err)
		}
	}
	return nil
}
