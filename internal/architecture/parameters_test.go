package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestParametersAreReadByTheTable: one value can be written in many ways, as a list
// of one, with blanks, in another case. Who judges by what is written, and not by
// externaldns.Value, judges otherwise than external-dns does.
func TestParametersAreReadByTheTable(t *testing.T) {
	eachSource(t, func(files *token.FileSet, parsed *ast.File) {
		if parsed.Name.Name == "externaldns" || parsed.Name.Name == "show" { // the latter judges nothing
			return
		}
		for _, at := range readRaw(parsed) {
			assert.Fail(t, "a parameter is read as it is written; read it by externaldns.Value", files.Position(at))
		}
	})
}

func TestReadingARawParameterIsFound(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
func f() { _, _ = spec.Parameters["policy"].(string), Parameters[name]; put.Parameters = nil }`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Len(t, readRaw(parsed), 2)
}

// readRaw are the places where a file takes something out of what is named
// Parameters.
func readRaw(file *ast.File) []token.Pos {
	var found []token.Pos
	ast.Inspect(file, func(n ast.Node) bool {
		index, is := n.(*ast.IndexExpr)
		if !is {
			return true
		}
		name, _ := index.X.(*ast.Ident)
		if of, field := index.X.(*ast.SelectorExpr); field {
			name = of.Sel
		}
		if name != nil && name.Name == "Parameters" {
			found = append(found, index.Pos())
		}
		return true
	})
	return found
}
