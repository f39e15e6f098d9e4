package operation

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// FuzzPreconditions: what is taken is * or tags, as many as were sent,
// and holds for the revision that it names alone.
func FuzzPreconditions(f *testing.F) {
	for _, tags := range []string{`"3"`, `*`, `W/"3", "4"`, `"3`, `3`, ``, `"3",`, `""`, `W/*`, "\"\x00\""} {
		f.Add(tags, tags)
	}
	f.Fuzz(func(t *testing.T, match, noneMatch string) {
		p, err := ReadPrecondition(http.Header{"If-Match": {match}, "If-None-Match": {noneMatch}})
		if err != nil {
			require.Equal(t, intent.Invalid, intent.CodeOf(err))
			return
		}
		require.Len(t, p.match, strings.Count(match, ",")+1)
		for _, tag := range append(p.match, p.noneMatch...) {
			require.Regexp(t, `(?s)^(\*|(W/)?".*")$`, tag)
		}
		const revision = 3
		held := p.Check("projects/x", &intent.Document{Revision: revision}) == nil
		named := strings.Contains(match, "3") || strings.Contains(match, "*")
		require.True(t, named || !held, "%s holds", match)
		require.Error(t, Precondition{match: p.match}.Check("projects/x", nil), "nothing matches what does not exist")
	})
}
