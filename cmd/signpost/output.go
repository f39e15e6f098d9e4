package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// format is how an answer is printed.
type format string

// The formats.
const (
	formatTable format = "table" // for people
	formatWide  format = "wide"  // a table with more columns
	formatJSON  format = "json"  // as the server answers
	formatYAML  format = "yaml"  // the same as YAML
)

var _ pflag.Value = (*format)(nil)

// String is the format's name.
func (f *format) String() string { return string(*f) }

// Type is what --help calls the value.
func (f *format) Type() string { return "format" }

// Set takes a format's name.
func (f *format) Set(name string) error {
	known := []string{string(formatTable), string(formatWide), string(formatJSON), string(formatYAML)}
	if !slices.Contains(known, name) {
		return usagef("must be one of %s", strings.Join(known, ", "))
	}
	*f = format(name)
	return nil
}

// flag adds -o.
func (f *format) flag(flags *pflag.FlagSet) {
	*f = formatTable
	flags.VarP(f, "output", "o", "table, wide, json or yaml")
}

// print writes an answer of the server as it is, or as what forPeople makes of
// it.
func (f *format) print(w io.Writer, body []byte, forPeople func(w io.Writer, wide bool) error) error {
	switch *f {
	case formatJSON:
		return printJSON(w, body)
	case formatYAML:
		return printYAML(w, body)
	default:
		return forPeople(w, *f == formatWide)
	}
}

func printJSON(w io.Writer, body []byte) error {
	var indented bytes.Buffer
	if err := json.Indent(&indented, bytes.TrimSpace(body), "", "  "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	_, err := indented.WriteTo(w)
	return err
}

func printYAML(w io.Writer, body []byte) error {
	text, err := yaml.JSONToYAML(escaped(body))
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// escaped is JSON without what may be in its texts, but not in YAML as it stands:
// invisible characters.
func escaped(body []byte) []byte {
	var safe bytes.Buffer
	for _, r := range string(body) { // what is no UTF-8 becomes U+FFFD
		if r <= '\uffff' && r != '\n' && r != '\r' && r != '\t' && !unicode.IsPrint(r) {
			fmt.Fprintf(&safe, `\u%04x`, r)
			continue
		}
		safe.WriteRune(r)
	}
	return safe.Bytes()
}
