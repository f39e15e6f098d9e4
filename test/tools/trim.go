package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
)

// Trim keeps some entries of the map by which a program finds its parts, and
// leaves out all others, with what only they import. The entries have the form
// package.Key: package.Constructor.
type Trim struct {
	// File is the source file with the map, which is the only one in it. The
	// path is relative to the root of the upstream module.
	File string
	// Keep are the names of the keys that stay, without the package.
	Keep []string
}

// trimmed makes a copy of the tool's upstream module in dir, trims the copy and
// returns the path of a go.mod that builds it. The option -overlay of the
// compiler would need no copy, but it refuses to replace files of the module
// cache.
func (t Tool) trimmed(ctx context.Context, module, dir string) (modfile string, err error) {
	upstream, err := t.upstream(ctx, module)
	if err != nil {
		return "", err
	}
	copied := filepath.Join(dir, "upstream")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return "", err
	}
	if err := os.CopyFS(copied, os.DirFS(upstream)); err != nil {
		return "", fmt.Errorf("copy %s: %w", t.Module, err)
	}
	for _, trim := range t.Trims {
		if err := trim.file(copied); err != nil {
			return "", fmt.Errorf("leave out parts of %s: %w", t.Module, err)
		}
	}
	goMod, err := os.ReadFile(filepath.Join(module, "go.mod"))
	if err != nil {
		return "", err
	}
	goSum, err := os.ReadFile(filepath.Join(module, "go.sum"))
	if err != nil {
		return "", err
	}
	goMod = fmt.Appendf(goMod, "\nreplace %s => %q\n", t.Module, copied)
	modfile = filepath.Join(dir, "go.mod")
	return modfile, errors.Join(os.WriteFile(modfile, goMod, 0o644), os.WriteFile(filepath.Join(dir, "go.sum"), goSum, 0o644))
}

// upstream returns the directory of the upstream module in the module cache, and
// has the module downloaded first if it is not there.
func (t Tool) upstream(ctx context.Context, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", t.Module)
	cmd.Dir, cmd.Env = module, t.buildEnv()
	var output, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("download %s: %w\n%s%s", t.Module, err, output.Bytes(), problem.Bytes())
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(output.Bytes(), &found); err != nil {
		return "", fmt.Errorf("download %s: %w", t.Module, err)
	}
	return found.Dir, nil
}

// file trims the file in the copy of the module at root.
func (t Trim) file(root string) error {
	name := filepath.Join(root, filepath.FromSlash(t.File))
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	trimmed, err := t.apply(source)
	if err != nil {
		return fmt.Errorf("%s is not as expected, so Keep in test/tools/tool.go or Trim needs a change: %w", t.File, err)
	}
	return os.WriteFile(name, trimmed, 0o644)
}

// apply returns the source without the entries that are not kept.
func (t Trim) apply(source []byte) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, t.File, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	entries, err := onlyMap(file)
	if err != nil {
		return nil, err
	}
	before := used(file)
	if err := t.trim(entries); err != nil {
		return nil, err
	}
	after := used(file)
	dropImports(file, func(name string) bool { return before[name] && !after[name] })
	var trimmed bytes.Buffer
	if err := format.Node(&trimmed, files, file); err != nil {
		return nil, err
	}
	return trimmed.Bytes(), nil
}

// trim removes the entries that are not kept.
func (t Trim) trim(entries *ast.CompositeLit) error {
	missing := slices.Clone(t.Keep)
	var kept []ast.Expr
	for _, element := range entries.Elts {
		entry, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return errors.New("the map has an entry without a key")
		}
		key, ok := entry.Key.(*ast.SelectorExpr)
		if !ok {
			return errors.New("the map has a key that is not of the form package.Key")
		}
		if slices.Contains(t.Keep, key.Sel.Name) {
			kept = append(kept, element)
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == key.Sel.Name })
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the map has no key %q", missing)
	}
	entries.Elts = kept
	return nil
}

// onlyMap returns the one map with entries in the file.
func onlyMap(file *ast.File) (*ast.CompositeLit, error) {
	var found []*ast.CompositeLit
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.CompositeLit); ok {
			if _, ok := literal.Type.(*ast.MapType); ok {
				found = append(found, literal)
			}
		}
		return true
	})
	if len(found) != 1 {
		return nil, fmt.Errorf("there are %d maps with entries, not 1", len(found))
	}
	return found[0], nil
}

// used returns the names before a dot in the file, those of packages among them.
func used(file *ast.File) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if name, ok := selector.X.(*ast.Ident); ok {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}

// dropImports removes the imports of which dropped is true. An import without a
// name of its own has the last part of its path: if that is wrong, the compiler
// says that the import is not used.
func dropImports(file *ast.File, dropped func(name string) bool) {
	for _, declaration := range file.Decls {
		if imports, ok := declaration.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
			imports.Specs = slices.DeleteFunc(imports.Specs, func(spec ast.Spec) bool {
				return dropped(importName(spec))
			})
		}
	}
}

// importName is the name by which a file uses what it imports.
func importName(spec ast.Spec) string {
	imported, ok := spec.(*ast.ImportSpec)
	if !ok {
		return ""
	}
	if imported.Name != nil {
		return imported.Name.Name
	}
	location, err := strconv.Unquote(imported.Path.Value)
	if err != nil {
		return ""
	}
	return path.Base(location)
}
