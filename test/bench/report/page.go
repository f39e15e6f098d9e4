package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Page is the page with the tables, from the root of the repository.
const Page = "docs/performance.md"

// Region is where a table stands, and what it is of.
type Region struct {
	Run     string   `json:"run"`              // the benchmark
	Module  string   `json:"module"`           // its module, from the root of the repository
	Package string   `json:"package"`          // within the module
	Args    []string `json:"args,omitempty"`   // further arguments of go test
	Sources []string `json:"sources"`          // patterns of the files that the figures depend on, from the root
	Rows    string   `json:"rows,omitempty"`   // a regular expression of the rows to show, of all that are measured
	Chart   string   `json:"chart,omitempty"`  // a picture, beside the page: of the growth, or bars without series
	Series  []string `json:"series,omitempty"` // the rows in a picture of the growth

	Commit string `json:"commit"` // at which it was measured
	Date   string `json:"date"`
	Digest string `json:"digest,omitempty"` // of the sources at that commit; empty: they are not known
}

// old is the line by which a region says that its figures are old.
const old = "*Old: the code of this benchmark has changed since these figures were measured.*\n\n"

var region = regexp.MustCompile(`(?s)<!-- figures (\{[^\n]*\}) -->\n(.*?)<!-- end of figures -->\n`)

// Regions are those of a page, in order.
func Regions(page string) ([]Region, error) {
	var all []Region
	for _, found := range region.FindAllStringSubmatch(page, -1) {
		var r Region
		if err := json.Unmarshal([]byte(found[1]), &r); err != nil {
			return nil, fmt.Errorf("%s: %w", found[1], err)
		}
		all = append(all, r)
	}
	return all, nil
}

// SourceDigest is that of the sources of a region, as they are.
func (r *Region) SourceDigest(root string) (string, error) {
	sum := sha256.New()
	for _, pattern := range r.Sources {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			return "", fmt.Errorf("figures of %s: no source is %s: %w", r.Run, pattern, err)
		}
		slices.Sort(files)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			sum.Write(text)
		}
	}
	const enough = 8 // bytes
	return hex.EncodeToString(sum.Sum(nil)[:enough]), nil
}

// Rewrite gives regions another comment and content.
func Rewrite(page string, change func(r Region, content string) (Region, string, error)) (string, error) {
	var failed error
	changed := region.ReplaceAllStringFunc(page, func(text string) string {
		found := region.FindStringSubmatch(text)
		var r Region
		err := json.Unmarshal([]byte(found[1]), &r)
		content := found[2]
		if err == nil {
			r, content, err = change(r, content)
		}
		var comment []byte
		if err == nil {
			comment, err = json.Marshal(r)
		}
		if err != nil {
			failed = err
			return text
		}
		return fmt.Sprintf("<!-- figures %s -->\n%s<!-- end of figures -->\n", comment, content)
	})
	return changed, failed
}

// Mark marks the regions whose sources have changed as old, and no others.
func Mark(root, page string) (string, error) {
	return Rewrite(page, func(r Region, content string) (Region, string, error) {
		digest, err := r.SourceDigest(root)
		content = strings.ReplaceAll(content, old, "")
		if r.Digest != digest {
			content = old + content
		}
		return r, content, err
	})
}

// Caption says where, when and from what the figures of a region are. The load is that of the
// machine when the benchmark began, unless the figures were measured before.
func (r *Region) Caption(machine, load string, before bool) string {
	text := fmt.Sprintf("*%s, commit %s, %s", machine, r.Commit, r.Date)
	if !before {
		text += ", load " + load
	}
	return text + ".*"
}
