// Package site builds the documentation as HTML pages: those of docs, in the order of
// docs/README.md, with a search and a reference of the API. The pages need no server and
// load nothing from elsewhere.
package site

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// source is where files are shown that the site does not have.
const source = "https://github.com/signpost-dns/signpost/blob/main/"

// index is the page with all pages, by reader.
const index = "docs/README.md"

//go:embed page.html style.css search.js
var files embed.FS

// Page is one page of the site.
type Page struct {
	File  string // its Markdown, from the root of the repository
	URL   string // its HTML, from the root of the site
	Title string
	HTML  template.HTML
}

// Section is a part of the navigation: pages for one kind of reader.
type Section struct {
	Title string
	Pages []Page
}

var (
	heading = regexp.MustCompile(`(?m)^## (.*)$`)
	linked  = regexp.MustCompile(`\]\(([^)#:]+\.md)\)`)
	title   = regexp.MustCompile(`(?m)^# (.*)$`)
	tags    = regexp.MustCompile(`<[^>]*>`)
)

// Build writes the site of a repository into a directory.
func Build(root, out string) error {
	sections, err := navigation(root)
	if err != nil {
		return err
	}
	reference, err := reference(root)
	if err != nil {
		return err
	}
	pages := map[string]Page{}
	for _, file := range Files(root) {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		pages[file] = Page{File: file, URL: urlOf(file), Title: titleOf(content)}
	}
	for file, page := range pages {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		if page.HTML, err = render(content, file, pages); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		pages[file] = page
	}
	pages[reference.File] = reference
	return write(root, out, sections, pages)
}

// Files are the pages of a repository, from its root.
func Files(root string) []string {
	found := []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/README.md"}
	_ = filepath.WalkDir(filepath.Join(root, "docs"), func(file string, _ fs.DirEntry, err error) error { // an unreadable page is missed by its links
		if name, outside := filepath.Rel(root, file); err == nil && outside == nil && strings.HasSuffix(name, ".md") {
			found = append(found, filepath.ToSlash(name))
		}
		return nil
	})
	return found
}

// navigation reads the sections from the page with all pages.
func navigation(root string) ([]Section, error) {
	content, err := os.ReadFile(filepath.Join(root, index))
	if err != nil {
		return nil, err
	}
	var sections []Section
	places := heading.FindAllSubmatchIndex(content, -1)
	for i, at := range places {
		end := len(content)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		section := Section{Title: string(content[at[2]:at[3]])}
		for _, link := range linked.FindAllSubmatch(content[at[1]:end], -1) {
			section.Pages = append(section.Pages, Page{File: path.Join("docs", string(link[1]))})
		}
		sections = append(sections, section)
	}
	return sections, nil
}

func urlOf(file string) string {
	if dir, is := strings.CutSuffix(file, "README.md"); is {
		return dir + "index.html"
	}
	return strings.TrimSuffix(file, ".md") + ".html"
}

func titleOf(content []byte) string {
	if found := title.FindSubmatch(content); found != nil {
		return strings.ReplaceAll(string(found[1]), "`", "")
	}
	return "Signpost"
}

// render makes HTML of a page. Links to pages of the site lead to their HTML, others to the
// repository.
func render(content []byte, file string, pages map[string]Page) (template.HTML, error) {
	const late = 100 // the priority of what rewrites links: after goldmark's own
	markdown := goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(
			parser.WithAutoHeadingID(),
			parser.WithASTTransformers(util.Prioritized(links{file, pages}, late)),
		),
	)
	var html bytes.Buffer
	err := markdown.Convert(content, &html, parser.WithContext(parser.NewContext(parser.WithIDs(&slugs{}))))
	return template.HTML(html.String()), err //nolint:gosec // goldmark escapes what it does not know
}

// links leads the links of a page to where their targets are.
type links struct {
	file  string
	pages map[string]Page
}

// Transform implements parser.ASTTransformer.
func (l links) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // no step fails
		switch found := node.(type) {
		case *ast.Link:
			if entering {
				found.Destination = []byte(l.target(string(found.Destination)))
			}
		case *ast.Image:
			return ast.WalkContinue, nil // pictures are copied
		}
		return ast.WalkContinue, nil
	})
}

func (l links) target(to string) string {
	name, anchor, _ := strings.Cut(to, "#")
	if name == "" || strings.Contains(name, ":") {
		return to
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	file := path.Join(path.Dir(l.file), name)
	if file == "openapi/openapi.yaml" {
		return relative(l.file, referenceURL)
	}
	if page, is := l.pages[file]; is {
		return relative(l.file, page.URL) + anchor
	}
	if page, is := l.pages[path.Join(file, "README.md")]; is {
		return relative(l.file, page.URL) + anchor
	}
	if isPicture(file) {
		return to
	}
	return source + file + anchor
}

// relative is the way from the page of a file to a place of the site.
func relative(file, to string) string {
	return strings.Repeat("../", strings.Count(file, "/")) + to
}

// slugs names headings as the pages' links do.
type slugs struct{ used map[string]int }

var unnamed = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)

// Generate implements parser.IDs.
func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	slug := strings.ReplaceAll(unnamed.ReplaceAllString(strings.ToLower(string(value)), ""), " ", "-")
	if s.used == nil {
		s.used = map[string]int{}
	}
	s.used[slug]++
	if n := s.used[slug]; n > 1 {
		slug = fmt.Sprintf("%s-%d", slug, n-1)
	}
	return []byte(slug)
}

// Put implements parser.IDs.
func (s *slugs) Put([]byte) {}

// write writes all files of the site.
func write(root, out string, sections []Section, pages map[string]Page) error {
	for i, section := range sections {
		for n, page := range section.Pages {
			sections[i].Pages[n] = pages[page.File]
		}
	}
	layout, err := template.ParseFS(files, "page.html")
	if err != nil {
		return err
	}
	type entry struct{ URL, Title, Words string }
	var entries []entry
	for _, page := range pages {
		up := strings.Repeat("../", strings.Count(page.URL, "/"))
		var html bytes.Buffer
		if err := layout.Execute(&html, map[string]any{"Page": page, "Sections": sections, "Up": up, "Reference": referenceURL}); err != nil {
			return err
		}
		if err := place(filepath.Join(out, page.URL), html.Bytes()); err != nil {
			return err
		}
		entries = append(entries, entry{page.URL, page.Title, strings.Join(strings.Fields(tags.ReplaceAllString(string(page.HTML), " ")), " ")})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.URL, b.URL) })
	list, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	if err := place(filepath.Join(out, "pages.js"), append([]byte("const pages = "), list...)); err != nil {
		return err
	}
	for _, name := range []string{"style.css", "search.js"} {
		content, err := files.ReadFile(name)
		if err == nil {
			err = place(filepath.Join(out, name), content)
		}
		if err != nil {
			return err
		}
	}
	return pictures(root, out)
}

// pictures copies those below docs.
func pictures(root, out string) error {
	return filepath.WalkDir(filepath.Join(root, "docs"), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isPicture(file) {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return place(filepath.Join(out, name), content)
	})
}

func isPicture(file string) bool { return slices.Contains([]string{".svg", ".png"}, path.Ext(file)) }

func place(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // for everybody who reads the site
		return err
	}
	return os.WriteFile(file, content, 0o644) //nolint:gosec // likewise
}
