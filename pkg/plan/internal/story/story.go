// Package story runs golden stories: txtar files that tell in prose what is
// wanted, with the plan's input as YAML and what follows from it.
package story

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/bundle"
)

// The files of a story.
const (
	Input  = "input.yaml"
	Output = "output.yaml"
)

// Run renders each story of testdata and compares with what it says. With
// SIGNPOST_GOLDEN=write it writes what was rendered.
func Run[T any](t *testing.T, render func(t *testing.T, input T) string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive := read(t, file)
			got := render(t, decode[T](t, archive))
			want := section(archive, Output)
			if os.Getenv("SIGNPOST_GOLDEN") == "write" {
				write(t, file, archive, got)
				return
			}
			assert.Equal(t, want, got)
		})
	}
}

// Each gives every story's input, by file.
func Each[T any](t *testing.T, check func(t *testing.T, input T)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { check(t, decode[T](t, read(t, file))) })
	}
}

// Load gives the input of one story.
func Load[T any](t *testing.T, name string) T {
	t.Helper()
	return decode[T](t, read(t, filepath.Join("testdata", name+".txtar")))
}

// Objects writes objects for people: the cluster of each, then its YAML.
func Objects(t *testing.T, objects []bundle.Object) string {
	t.Helper()
	var out bytes.Buffer
	for _, o := range objects {
		text, err := yaml.JSONToYAML(o.JSON)
		require.NoError(t, err)
		out.WriteString("--- # " + o.Cluster + ", app " + o.App + "\n")
		out.Write(text)
	}
	return out.String()
}

func read(t *testing.T, file string) *txtar.Archive {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	return archive
}

// decode reads the input, in which a field that is misspelt is an error.
func decode[T any](t *testing.T, archive *txtar.Archive) T {
	t.Helper()
	raw, err := yaml.YAMLToJSONStrict([]byte(section(archive, Input)))
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var input T
	require.NoError(t, decoder.Decode(&input))
	return input
}

func section(archive *txtar.Archive, name string) string {
	for _, file := range archive.Files {
		if file.Name == name {
			return string(file.Data)
		}
	}
	return ""
}

func write(t *testing.T, file string, archive *txtar.Archive, output string) {
	t.Helper()
	kept := archive.Files[:0]
	for _, f := range archive.Files {
		if f.Name != Output {
			kept = append(kept, f)
		}
	}
	archive.Files = append(kept, txtar.File{Name: Output, Data: []byte(output)})
	require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o600))
}
