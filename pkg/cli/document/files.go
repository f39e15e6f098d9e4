package document

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/signpost-dns/signpost/pkg/cli/emco"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// Source is where documents come from.
type Source struct {
	Files    []string      // directories and "-" among them
	Resource string        // the collection of documents that name none
	Emco     emco.Services // who keeps documents beside Signpost
}

// Flags adds the flags that name files.
func (s *Source) Flags(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&s.Files, "filename", "f", nil, "a `FILE`, a directory, or - for standard input; repeats")
	flags.StringVar(&s.Resource, "resource", "", "the `COLLECTION` of documents without a resource field")
	s.Emco.Flags(flags)
}

// Read reads the documents of the files, of the .yaml, .yml and .json files of the
// directories, and of standard input for "-". Requests to services of EMCO's end after
// timeout. It returns all errors at once; with one, there are no documents.
func (s *Source) Read(in io.Reader, timeout time.Duration) ([]Document, error) {
	if err := s.Emco.Connect(timeout); err != nil {
		return nil, err
	}
	files, err := expand(s.Files)
	if err != nil {
		return nil, err
	}
	var documents []Document
	var wrong []error
	for _, file := range files {
		content, err := ReadFile(in, file)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		read, err := s.split(file, content)
		documents, wrong = append(documents, read...), append(wrong, err)
	}
	if err := errors.Join(append(wrong, duplicates(documents))...); err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		named := slices.Clone(s.Files)
		if at := slices.Index(named, "-"); at >= 0 {
			named[at] = "standard input"
		}
		return nil, fmt.Errorf("%s: no document found, so there is nothing to do", strings.Join(named, ", "))
	}
	return documents, nil
}

// expand lists the files, those of directories by name.
func expand(names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, terminal.Usagef("-f is missing: give a file, a directory, or - for standard input")
	}
	var files []string
	for _, name := range names {
		if name == "-" {
			files = append(files, name)
			continue
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, terminal.Usagef("-f: %w", err)
		case !info.IsDir():
			files = append(files, name)
		default:
			inside, err := documentFiles(name)
			if err != nil {
				return nil, err
			}
			files = append(files, inside...)
		}
	}
	return files, nil
}

// documentFiles lists the files of a directory that may hold documents.
func documentFiles(directory string) ([]string, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) && !entry.IsDir() {
			files = append(files, filepath.Join(directory, entry.Name()))
		}
	}
	return files, nil
}

// ReadFile reads a file; "-" is standard input.
func ReadFile(in io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(name)
}

// ReadAtMost reads so many bytes of a file at the most; "-" is standard input.
func ReadAtMost(in io.Reader, name string, most int64) ([]byte, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, terminal.AsUsageError(err)
		}
		defer func() { _ = file.Close() }() // it was read only
		in = file
	}
	return io.ReadAll(io.LimitReader(in, most))
}

func (s *Source) split(file string, content []byte) ([]Document, error) {
	if file == "-" {
		file = "standard input"
	}
	parts, err := SplitYAML(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var texts [][]byte
	for _, part := range parts {
		texts = append(texts, items(part)...)
	}
	var documents []Document
	var wrong []error
	for i, text := range texts {
		d, err := ReadDocument(file, i+1, text, s.Resource)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if d, err = sendTo(&s.Emco, d); err != nil {
			wrong = append(wrong, err)
			continue
		}
		documents = append(documents, d)
	}
	return documents, errors.Join(wrong...)
}

// SplitYAML divides a file at its "---" lines, and what is JSON in between
// where one value ends and another begins. Blank parts do not count.
func SplitYAML(content []byte) ([][]byte, error) {
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var texts [][]byte
	for {
		part, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return texts, nil
		}
		if err != nil {
			return nil, err
		}
		if !isBlank(part) {
			texts = append(texts, splitJSON(part)...)
		}
	}
}

// items are the documents of a list, as get prints it; another text stays as it is.
func items(text []byte) [][]byte {
	var list struct {
		Metadata json.RawMessage   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	raw, err := safeyaml.ToJSON(text)
	if err != nil || json.Unmarshal(raw, &list) != nil || list.Items == nil || list.Metadata != nil {
		return [][]byte{text}
	}
	texts := make([][]byte, len(list.Items))
	for i, item := range list.Items {
		texts[i] = item
	}
	return texts
}

// splitJSON is the JSON values of the text, or the text itself when it is not
// JSON: YAML in flow style begins alike.
func splitJSON(text []byte) [][]byte {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var values [][]byte
	for {
		var value json.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return values
		}
		if err != nil {
			return [][]byte{text}
		}
		values = append(values, value)
	}
}
