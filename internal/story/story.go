// Package story reads golden stories: txtar files that tell in prose what is
// wanted, then the input as YAML, then what follows from it. For tests, whose
// stories are in their testdata.
package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// The files of a story, and where stories are.
const (
	inputFile  = "input.yaml"
	outputFile = "output.yaml"
	extension  = ".txtar"
	testdata   = "testdata"
)

// Story is one golden file. T is the shape of its input.
type Story[T any] struct {
	Name   string // of the file, without extension
	Input  T
	Output string

	path    string
	archive *txtar.Archive
}

// Check holds what tell makes of the input of each story against its output, in
// a test of the story's name. With SIGNPOST_GOLDEN=write in the environment, what
// it makes is written into the story instead.
func Check[T any](t *testing.T, tell func(t *testing.T, input T) string) {
	t.Helper()
	for _, s := range All[T](t, testdata) {
		t.Run(s.Name, func(t *testing.T) {
			got := tell(t, s.Input)
			want, err := s.settle(got)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

// Input is the input of the story of this name, for the caller to change.
func Input[T any](t *testing.T, name string) T {
	t.Helper()
	s, err := read[T](filepath.Join(testdata, name+extension))
	require.NoError(t, err)
	return s.Input
}

// All are the stories of a directory, by name. A field of an input that its
// shape does not have ends the test, and so does a directory without stories.
func All[T any](t *testing.T, dir string) []Story[T] {
	t.Helper()
	stories, err := all[T](dir)
	require.NoError(t, err)
	return stories
}

func all[T any](dir string) ([]Story[T], error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no stories", dir)
	}
	var stories []Story[T]
	for _, file := range files {
		s, err := read[T](file)
		if err != nil {
			return nil, err
		}
		stories = append(stories, s)
	}
	return stories, nil
}

func read[T any](file string) (Story[T], error) {
	s := Story[T]{Name: strings.TrimSuffix(filepath.Base(file), extension), path: file}
	var err error
	if s.archive, err = txtar.ParseFile(file); err != nil {
		return s, err
	}
	for _, f := range s.archive.Files {
		switch f.Name {
		case inputFile:
			if err := decode(f.Data, &s.Input); err != nil {
				return s, fmt.Errorf("%s: %w", file, err)
			}
		case outputFile:
			s.Output = string(f.Data)
		default:
			return s, fmt.Errorf("%s: %s is not a part of a story", file, f.Name)
		}
	}
	return s, nil
}

func decode(text []byte, into any) error {
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// settle answers what the output should be: what the story says or, when it is to
// be written, what it is.
func (s Story[T]) settle(output string) (string, error) {
	if os.Getenv("SIGNPOST_GOLDEN") != "write" {
		return s.Output, nil
	}
	archive := &txtar.Archive{Comment: s.archive.Comment}
	for _, f := range s.archive.Files {
		if f.Name != outputFile {
			archive.Files = append(archive.Files, f)
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: outputFile, Data: []byte(output)})
	return output, os.WriteFile(s.path, txtar.Format(archive), 0o644)
}

// Objects writes objects for people: the cluster and app of each, then its YAML.
func Objects(t *testing.T, objects []bundle.Object) string {
	t.Helper()
	var out strings.Builder
	for _, o := range objects {
		text, err := yaml.JSONToYAML(o.JSON)
		require.NoError(t, err, o.ID)
		fmt.Fprintf(&out, "--- # %s, app %s\n%s", o.Cluster, o.App, text)
	}
	return out.String()
}
