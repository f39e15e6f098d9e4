package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestLanguageIsPlain reads pages, descriptions of the API,
// comments, and the texts in the code. The rules are in language_words_test.go.
func TestLanguageIsPlain(t *testing.T) {
	found := map[string][]string{}
	eachText(t, func(text prose) {
		part := partOf(text.file)
		for _, fault := range text.faults() {
			found[part] = append(found[part], fmt.Sprintf("%s:%d: %s", text.file, text.line, fault))
		}
	})
	may := unclean()
	for _, part := range slices.Sorted(maps.Keys(found)) {
		if has := len(found[part]); has > may[part] {
			t.Errorf("%s has %d faults of language, and may have %d:\n%s", part, has, may[part], strings.Join(found[part], "\n"))
		}
	}
	for part, most := range may {
		if has := len(found[part]); has < most-behind {
			t.Errorf("%s has only %d faults of language: lower its exception from %d", part, has, most)
		}
	}
}

func TestFaultsOfLanguageAreFound(t *testing.T) {
	long := strings.Repeat("word ", longestSentence)
	for text, want := range map[string]int{
		"Select returns the clusters of an app. " + long + "end.": 1,
		long + "end; and more.":                                   1,
		long[:len(long)-1] + ". W" + long[1:]:                     0,
		"What is published comes first.":                          1,
		"What is published?":                                      0,
		"Keep it. Those that remain are removed.":                 1,
		"Wait until the tenure ends.":                             1,
		"Wait until the clusterTenure ends.":                      0, // a name in a text: the name is found where it is declared
		"It lets go of `strangers`.":                              1, // code is not read
		"A cluster at 10.0.0.1, e.g. berlin, stays":               0,
	} {
		assert.Len(t, prose{text: text}.faults(), want, text)
	}
	assert.Len(t, prose{kind: message, text: "the home of record %q is unknown"}.faults(), 1)
	assert.Empty(t, prose{kind: message, text: "the DNS record %q is unknown"}.faults())
	assert.Len(t, prose{kind: declared, name: "Select", text: "It returns clusters."}.faults(), 1)
	assert.Empty(t, prose{kind: declared, name: "Select", text: "Select returns clusters."}.faults())
	assert.Len(t, prose{kind: identifier, text: "startTenure"}.faults(), 1)
	assert.Empty(t, prose{kind: identifier, text: "understanding"}.faults())
}

// kind is where a text stands; each has rules of its own.
type kind int

const (
	plain      kind = iota // a paragraph, a comment, a description
	heading                // may begin as a question does
	message                // a text in the code: error, warning, help, log line
	declared               // the comment of a declaration
	identifier             // a name in the code
)

// prose is one text that people read.
type prose struct {
	file string
	line int
	kind kind
	name string // of what is declared
	text string
}

var (
	paragraphs  = regexp.MustCompile(`\n\s*\n|\n\s*(?:[-*]|\d+\.) `)
	codeSpan    = regexp.MustCompile("`[^`]*`")
	linkTarget  = regexp.MustCompile(`\]\([^)]*\)`)
	sentenceEnd = regexp.MustCompile(`[.!?]["')*_]*\s+(["'(*_‹\[]*[^a-z\s])`)
	recordAlone = regexp.MustCompile(`(?i)(\S*)\s*\brecord (?:%[qsv]|‹›)`)
	shortForms  = regexp.MustCompile(`\b(e\.g|i\.e|etc)\.`)
	wordsIn     = regexp.MustCompile(`[A-Z]?[a-z0-9]+|[A-Z]+`)
	prosaic     = regexp.MustCompile(`[A-Za-z]{2,} [a-z]+[^/]* \S`)
	dnsRecord   = regexp.MustCompile(`^(DNS|TXT|A|AAAA|CNAME|SRV|NS|update)$`)
)

func (p prose) faults() []string {
	if p.kind == identifier {
		return p.privateNames()
	}
	var faults []string
	if first, _, _ := strings.Cut(p.text, " "); p.kind == declared && strings.TrimRight(first, ",:'s") != strings.TrimRight(p.name, "s") {
		if second := strings.TrimPrefix(strings.TrimPrefix(p.text, "A "), "The "); !strings.HasPrefix(second, p.name) {
			faults = append(faults, fmt.Sprintf("the comment of %s does not begin with the name", p.name))
		}
	}
	for _, sentence := range p.sentences() {
		if n := countWords(sentence); n > longestSentence {
			faults = append(faults, fmt.Sprintf("a sentence of %d words, where %d are the most: %s", n, longestSentence, sentence))
		}
		for _, start := range starts() {
			if p.kind != heading && !strings.Contains(sentence, "?") && strings.HasPrefix(sentence, start+" ") {
				faults = append(faults, fmt.Sprintf("a sentence begins with %q; name its subject: %s", start, sentence))
			}
		}
		faults = append(faults, privateIn(sentence)...)
		if m := recordAlone.FindStringSubmatch(sentence); p.kind == message && m != nil && !dnsRecord.MatchString(m[1]) {
			faults = append(faults, "a DNS update record is called a provider: "+sentence)
		}
	}
	return faults
}

func privateIn(sentence string) []string {
	var faults []string
	words, before := privateWords(), ""
	for _, word := range strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool { return !unicode.IsLetter(r) }) {
		for _, said := range []string{word, before + " " + word} {
			if use, private := words[said]; private {
				faults = append(faults, fmt.Sprintf("%q is said in this code base only; say %s: %s", said, use, sentence))
			}
		}
		before = word
	}
	return faults
}

func (p prose) privateNames() []string {
	parts := wordsIn.FindAllString(p.text, -1)
	joined := []string{strings.ToLower(p.text)}
	for i, part := range parts {
		joined = append(joined, strings.ToLower(part))
		if i > 0 {
			joined = append(joined, strings.ToLower(parts[i-1]+part))
		}
	}
	words := privateWords()
	for _, word := range joined {
		if use, private := words[word]; private {
			return []string{fmt.Sprintf("the name %s has %q, which is said in this code base only; say %s", p.text, word, use)}
		}
	}
	return nil
}

// sentences are those of a text, without what is in it as code.
func (p prose) sentences() []string {
	var all []string
	for _, paragraph := range paragraphs.Split(p.text, -1) {
		paragraph = shortForms.ReplaceAllString(codeSpan.ReplaceAllString(linkTarget.ReplaceAllString(paragraph, "]"), "‹›"), "$1")
		paragraph = sentenceEnd.ReplaceAllString(strings.Join(strings.Fields(paragraph), " "), ".\n$1")
		if p.kind == message { // what is wrong; what to do
			paragraph = strings.ReplaceAll(paragraph, "; ", ";\n")
		}
		for _, sentence := range strings.Split(paragraph, "\n") {
			all = append(all, strings.TrimLeft(sentence, "-*[(\"#>| "))
		}
	}
	return all
}

func countWords(sentence string) int {
	n := 0
	for _, word := range strings.Fields(sentence) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '%' || r == '‹' }) {
			n++
		}
	}
	return n
}

// partOf is the part of the repository that a file counts for.
func partOf(file string) string {
	parts := strings.Split(filepath.ToSlash(file), "/")
	if len(parts) > 2 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// eachText visits the texts of the repository; tests and generated code are none.
func eachText(t *testing.T, visit func(prose)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && (name == "test" || entry.Name() == "testdata" || entry.Name() == "node_modules" || len(name) > 1 && entry.Name()[0] == '.'):
			return fs.SkipDir
		case strings.HasSuffix(name, ".md") && name != "CHANGELOG.md": // a changelog tells of the past in its words
			return page(file, name, visit)
		case name == filepath.Join("openapi", "openapi.yaml"):
			return descriptions(file, name, visit)
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			return source(file, name, visit)
		}
		return nil
	}))
}

// page visits the paragraphs, headings and table cells of a page.
func page(file, name string, visit func(prose)) error {
	read, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var paragraph prose
	end := func() {
		if paragraph.text != "" {
			visit(paragraph)
		}
		paragraph = prose{}
	}
	code := false
	for i, line := range strings.Split(string(read), "\n") {
		bare := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(bare, "```"):
			end()
			code = !code
		case code, bare == "", strings.HasPrefix(bare, "<!--"):
			end()
		case bare[0] == '#':
			end()
			visit(prose{file: name, line: i + 1, kind: heading, text: bare})
		case bare[0] == '|':
			end()
			for _, cell := range strings.Split(bare, "|") {
				visit(prose{file: name, line: i + 1, text: strings.TrimSpace(cell)})
			}
		case paragraph.text == "":
			paragraph = prose{file: name, line: i + 1, text: line}
		default:
			paragraph.text += "\n" + line
		}
	}
	end()
	return nil
}

// descriptions visits the descriptions and summaries of an OpenAPI document.
func descriptions(file, name string, visit func(prose)) error {
	read, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(read, &document); err != nil {
		return err
	}
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.ScalarNode &&
				(n.Content[i-1].Value == "description" || n.Content[i-1].Value == "summary") {
				visit(prose{file: name, line: child.Line, text: child.Value})
			}
			walk(child)
		}
	}
	walk(&document)
	return nil
}

// source visits the comments, the texts and the names that a file of Go declares.
func source(file, name string, visit func(prose)) error {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(parsed) {
		return err
	}
	at := func(n ast.Node, kind kind, name, text string) prose {
		return prose{file: name, line: files.Position(n.Pos()).Line, kind: kind, text: text}
	}
	names := declaredNames(parsed)
	for _, group := range parsed.Comments {
		text := at(group, plain, name, unindented(group.Text()))
		if names[group] != "" {
			text.kind, text.name = declared, names[group]
		}
		visit(text)
	}
	joined := map[ast.Node]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			joined[n.Tag] = true
			for _, field := range n.Names {
				visit(at(field, identifier, name, field.Name))
			}
		case *ast.FuncDecl:
			visit(at(n.Name, identifier, name, n.Name.Name))
		case *ast.TypeSpec:
			visit(at(n.Name, identifier, name, n.Name.Name))
		case *ast.ValueSpec:
			for _, value := range n.Names {
				visit(at(value, identifier, name, value.Name))
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if variable, is := left.(*ast.Ident); is && n.Tok == token.DEFINE {
					visit(at(variable, identifier, name, variable.Name))
				}
			}
		case ast.Expr:
			if text := textOf(n, joined); !joined[n] && prosaic.MatchString(text) {
				visit(at(n, message, name, text))
			}
		}
		return true
	})
	return nil
}

// textOf joins the literals that a text is made of, with ‹› for all else, and
// marks them as read.
func textOf(n ast.Expr, joined map[ast.Node]bool) string {
	switch n := n.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		if n.Op == token.ADD {
			text := textOf(n.X, joined) + textOf(n.Y, joined)
			joined[n.X], joined[n.Y] = true, true
			return text
		}
	}
	return "‹›"
}

// declaredNames are the comments of declarations of one name, with that name.
func declaredNames(parsed *ast.File) map[*ast.CommentGroup]string {
	names := map[*ast.CommentGroup]string{}
	for _, declaration := range parsed.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			names[d.Doc] = d.Name.Name
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names[s.Doc], names[d.Doc] = s.Name.Name, s.Name.Name
				case *ast.ValueSpec:
					if len(d.Specs) == 1 && !d.Lparen.IsValid() && len(s.Names) == 1 {
						names[d.Doc] = s.Names[0].Name
					}
				}
			}
			if d.Lparen.IsValid() {
				delete(names, d.Doc)
			}
		}
	}
	return names
}

// unindented is a comment without its examples of code.
func unindented(comment string) string {
	lines := strings.Split(comment, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}
