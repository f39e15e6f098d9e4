package mutants_test

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/mutants"
)

const root = "../.."

// TestEachMutantStillFitsTheProduct checks that the text that a mutant replaces
// is there once, so that no mutant is lost in silence when the product changes.
func TestEachMutantStillFitsTheProduct(t *testing.T) {
	const least = 60
	names := map[string]bool{}
	for _, mutant := range mutants.All() {
		_, err := mutant.Overlay(root, t.TempDir())
		require.NoError(t, err)
		require.NotEmpty(t, mutant.Breaks, mutant.Name)
		names[mutant.Name] = true
	}
	require.Len(t, names, len(mutants.All()), "each name once")
	require.GreaterOrEqual(t, len(names), least)
}

// TestEachPackageHasAMutant: a package without one is not measured.
func TestEachPackageHasAMutant(t *testing.T) {
	var mutated []string
	for _, mutant := range mutants.All() {
		mutated = append(mutated, path.Dir(mutant.File))
	}
	for _, dir := range packages(t) {
		require.Contains(t, mutated, dir)
	}
}

// packages are the packages of the product that people write.
func packages(t *testing.T) []string {
	var dirs []string
	for _, top := range []string{"api", "cmd", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".pb.go") {
				return err
			}
			if dir, err := filepath.Rel(root, filepath.Dir(file)); err == nil && filepath.Base(file) != "doc.go" && !strings.HasSuffix(dir, "test") {
				dirs = append(dirs, filepath.ToSlash(dir))
			}
			return nil
		})
		require.NoError(t, err)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
