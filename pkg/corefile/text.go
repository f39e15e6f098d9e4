package corefile

import (
	"fmt"
	"strings"
)

// block is a server block: the zones that it serves and its plugins.
type block struct {
	comment string
	keys    []string // zone:port
	plugins []directive
}

// directive is a line of a block: a plugin, or a property of one, with the
// properties that belong to it.
type directive struct {
	words      []string
	properties []directive
}

// line makes a directive without properties.
func line(words ...string) directive { return directive{words: words} }

// with gives a directive properties.
func (d directive) with(properties ...directive) directive {
	d.properties = append(d.properties, properties...)
	return d
}

// text writes server blocks as a Corefile.
func text(blocks []block) (string, error) {
	w := &writer{}
	for _, b := range blocks {
		w.block(b)
	}
	return w.text.String(), w.err
}

type writer struct {
	text strings.Builder
	err  error // the first word that cannot be written
}

func (w *writer) block(b block) {
	if b.comment != "" {
		w.text.WriteString("# " + strings.Join(strings.Fields(b.comment), " ") + "\n")
	}
	w.words(b.keys)
	w.text.WriteString(" {\n")
	for _, d := range b.plugins {
		w.directive(d, 1)
	}
	w.text.WriteString("}\n")
}

func (w *writer) directive(d directive, depth int) {
	indent := strings.Repeat("    ", depth)
	w.text.WriteString(indent)
	w.words(d.words)
	if len(d.properties) > 0 {
		w.text.WriteString(" {\n")
		for _, property := range d.properties {
			w.directive(property, depth+1)
		}
		w.text.WriteString(indent + "}")
	}
	w.text.WriteString("\n")
}

// words writes words with a space between. A word that CoreDNS would not read
// back as the same one word is an error: values were checked before they came
// here, so it is nobody's input.
func (w *writer) words(words []string) {
	for i, word := range words {
		if w.err == nil && (word == "" || strings.ContainsAny(word, " \t\r\n\v\f\"`\\{}#$%")) {
			w.err = fmt.Errorf("corefile: %q is no single word", word)
		}
		if i > 0 {
			w.text.WriteByte(' ')
		}
		w.text.WriteString(word)
	}
}
