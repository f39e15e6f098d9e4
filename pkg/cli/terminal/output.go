package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// Format is how an answer is printed.
type Format string

// The formats.
const (
	formatTable Format = "table" // for people
	formatWide  Format = "wide"  // a table with more columns
	formatJSON  Format = "json"  // as the server answers
	formatYAML  Format = "yaml"  // the same as YAML
)

var _ pflag.Value = (*Format)(nil)

// String is the format's name.
func (f *Format) String() string { return string(*f) }

// Type is what --help calls the value.
func (f *Format) Type() string { return "format" }

// Set takes a format's name.
func (f *Format) Set(name string) error {
	known := []string{string(formatTable), string(formatWide), string(formatJSON), string(formatYAML)}
	if !slices.Contains(known, name) {
		return Usagef("must be one of %s", strings.Join(known, ", "))
	}
	*f = Format(name)
	return nil
}

// YAML reports whether answers are printed as YAML.
func (f *Format) YAML() bool { return *f == formatYAML }

// Flag adds -o.
func (f *Format) Flag(flags *pflag.FlagSet) {
	*f = formatTable
	flags.VarP(f, "output", "o", "table, wide, json or yaml")
}

// Print writes an answer of the server as it is, or as what forPeople makes of
// it.
func (f *Format) Print(w io.Writer, body []byte, forPeople func(w io.Writer, wide bool) error) error {
	switch *f {
	case formatJSON:
		return printJSON(w, body)
	case formatYAML:
		return PrintYAML(w, body)
	default:
		return forPeople(w, *f == formatWide)
	}
}

// PrintValue prints a value as JSON or YAML, or as what forPeople makes of it.
func (f *Format) PrintValue(w io.Writer, value any, forPeople func(w io.Writer, wide bool) error) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return f.Print(w, body, forPeople)
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

// PrintYAML prints JSON as YAML.
func PrintYAML(w io.Writer, body []byte) error {
	text, err := safeyaml.FromJSON(escaped(body))
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
