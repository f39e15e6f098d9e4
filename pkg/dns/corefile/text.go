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
	last       word // behind the words; nil: none
	properties []directive
}

// line makes a directive without properties.
func line(words ...string) directive { return directive{words: words} }

// and puts a word of another form behind those of a directive.
func (d directive) and(last word) directive {
	d.last = last
	return d
}

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
	if d.last != nil {
		w.text.WriteByte(' ')
		w.word(d.last)
	}
	if len(d.properties) > 0 {
		w.text.WriteString(" {\n")
		for _, property := range d.properties {
			w.directive(property, depth+1)
		}
		w.text.WriteString(indent + "}")
	}
	w.text.WriteString("\n")
}

// words writes plain words with a space between.
func (w *writer) words(words []string) {
	for i, text := range words {
		if i > 0 {
			w.text.WriteByte(' ')
		}
		w.word(plain(text))
	}
}

// word writes one word. A word that CoreDNS would not read back unchanged is an error.
// Values were checked before, so it is not an error of a user.
func (w *writer) word(one word) {
	text, ok := one.write()
	if !ok && w.err == nil {
		w.err = fmt.Errorf("corefile: %q is not a single word", one)
	}
	w.text.WriteString(text)
}

// word is what CoreDNS reads as one.
type word interface {
	write() (text string, ok bool)
}

// plain stands for itself.
type plain string

func (p plain) write() (string, bool) {
	return string(p), p != "" && !strings.ContainsAny(string(p), " \t\r\n\v\f\"`\\{}#$%")
}

// quoted stands for itself, and may hold spaces and braces, but no reference to
// the environment.
type quoted string

func (q quoted) write() (string, bool) {
	const reserved = "\r\n\"\\"
	return `"` + string(q) + `"`, !strings.ContainsAny(string(q), reserved) && !strings.Contains(string(q), "{$") && !strings.Contains(string(q), "{%")
}

// environment is the name of a variable, whose value CoreDNS puts in its place.
type environment string

func (e environment) write() (string, bool) {
	strange := func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' }
	return "{$" + string(e) + "}", e != "" && !strings.ContainsFunc(string(e), strange)
}
