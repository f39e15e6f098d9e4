package architecture

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// vocabulary is what only some packages say: others know neither the program nor the
// format that the words belong to.
type vocabulary struct {
	words  *regexp.Regexp
	open   []edge
	reason string
}

// edge is a file, a package or packages that may say the words.
type edge struct{ name, reason string }

func vocabularies() []vocabulary {
	return []vocabulary{
		{
			regexp.MustCompile(`(?i)emco|rsync`),
			[]edge{
				{"pkg/emco/...", "it reads and writes what EMCO keeps"},
				{"api/contextupdate", "EMCO calls it"},
				{"pkg/release", "it puts the packages of a release together"},
				{"pkg/release/follow", "it reads EMCO's app contexts for the packages of a release"},
				{"pkg/release/orchestration", "it serves EMCO's calls"},
				{"pkg/storage/appcontext", "the layout of its keys is EMCO's"},
				{"pkg/worker/...", "rsync may put objects into clusters in place of a worker"},
				{"pkg/domain/intent/orchestrator.go", "texts for users name the orchestrator by its constants"},
				{"pkg/cli/...", "users of EMCO read its name in commands, flags and files"},
				{"pkg/app", "it puts the program together"},
			},
			"a release knows an orchestrator by neutral values, so that a step reads without EMCO",
		},
		{
			regexp.MustCompile(`json:"(dnsName|providerSpecific)\b`),
			[]edge{
				{"pkg/domain/bundle", "stores keep what is published as the DNSEndpoint alone, and bundle.Stored reads it"},
				{"pkg/cli/imports", "an import reads the DNSEndpoints of other programs"},
			},
			"what is published travels as typed values, and nobody decodes a DNSEndpoint (ADR 0048)",
		},
	}
}

func TestWordsStayInTheirPackages(t *testing.T) {
	generated := regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	said := make([][]string, len(vocabularies())) // the edges that are used, by vocabulary
	eachSource(t, func(files *token.FileSet, parsed *ast.File) {
		file := files.Position(parsed.Package).Filename
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if generated.Match(text) {
			return
		}
		name, err := filepath.Rel(root, file)
		require.NoError(t, err)
		name = filepath.ToSlash(name)
		for n, v := range vocabularies() {
			word := v.words.FindString(string(text))
			if word == "" {
				continue
			}
			at := slices.IndexFunc(v.open, func(e edge) bool { return e.name == name || matches(e.name, path.Dir(name)) })
			if at < 0 {
				t.Errorf("%s says %q: %s", name, word, v.reason)
				continue
			}
			said[n] = append(said[n], v.open[at].name)
		}
	})
	for n, v := range vocabularies() {
		for _, e := range v.open {
			require.Contains(t, said[n], e.name, "no file there says the words: take its exception away")
		}
	}
}
