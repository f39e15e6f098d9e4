// Package story reads golden stories: txtar files that tell in prose what is
// wanted, then the input as YAML, then what follows from it. For tests.
package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/bundle"
)

// The files of a story.
const (
	inputFile  = "input.yaml"
	outputFile = "output.yaml"
	extension  = ".txtar"
)

// Story is one golden file. T is the shape of its input.
type Story[T any] struct {
	Name   string // of the file, without extension
	Input  T
	Output string

	path    string
	archive *txtar.Archive
}

// All reads the stories of a directory, by name. A field of an input that its
// shape does not have is an error, and so is a directory without stories.
func All[T any](dir string) ([]Story[T], error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no stories", dir)
	}
	var stories []Story[T]
	for _, file := range files {
		s, err := Read[T](file)
		if err != nil {
			return nil, err
		}
		stories = append(stories, s)
	}
	return stories, nil
}

// Read reads one story.
func Read[T any](file string) (Story[T], error) {
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
			return s, fmt.Errorf("%s: %s is no part of a story", file, f.Name)
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

// Settle answers what the output should be: what the story says or, with
// SIGNPOST_GOLDEN=write in the environment, what it is, which is written into
// the story.
func (s Story[T]) Settle(output string) (string, error) {
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
func Objects(objects []bundle.Object) (string, error) {
	var out strings.Builder
	for _, o := range objects {
		text, err := yaml.JSONToYAML(o.JSON)
		if err != nil {
			return "", fmt.Errorf("%s: %w", o.ID, err)
		}
		fmt.Fprintf(&out, "--- # %s, app %s\n%s", o.Cluster, o.App, text)
	}
	return out.String(), nil
}
