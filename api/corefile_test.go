package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/corefile"
	"github.com/signpost-dns/signpost/pkg/intent"
)

const lintPath = "/v2/corefile/lint"

func TestLintAnswersTheFindings(t *testing.T) {
	w := newWorld(t)
	got := w.send(http.MethodPost, lintPath, `{"corefile":".:53 {\n whoami\n}\n"}`).want(http.StatusOK)
	require.JSONEq(t, `{"findings":[]}`, got.Body.String())
	require.Equal(t, ".:53 {\n whoami\n}\n", w.linter.asked)
	w.linter.findings = []corefile.Finding{{Line: 3, Severity: corefile.Error, Message: "no"}, {Line: 0, Severity: corefile.Warning, Message: "perhaps"}}
	got = w.send(http.MethodPost, lintPath+"/", `{"corefile":""}`).want(http.StatusOK)
	require.JSONEq(t, `{"findings":[{"line":3,"severity":"error","message":"no"},{"line":0,"severity":"warning","message":"perhaps"}]}`, got.Body.String())
}

func TestLintOfWhatIsNoCorefile(t *testing.T) {
	w := newWorld(t)
	for _, one := range []struct{ body, pointer string }{
		{`{}`, "/corefile: "},
		{`{"corefile":null}`, "/corefile: "},
		{`{"corefile":["x"]}`, "/corefile: "},
		{`{"corefile":"x","import":true}`, "/import: "},
		{`"x"`, ": must be a JSON object"},
	} {
		require.Contains(t, w.send(http.MethodPost, lintPath, one.body).want(http.StatusBadRequest).problem(), one.pointer, one.body)
	}
	w.send(http.MethodPost, lintPath, fmt.Sprintf(`{"corefile":%q}`, strings.Repeat("x", 1<<20))).want(http.StatusRequestEntityTooLarge)
	w.send(http.MethodGet, lintPath, nil).want(http.StatusMethodNotAllowed)
}

func TestLintSaysWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	w.linter.err = &intent.Error{Code: intent.Conflict, Detail: "there is no signpost-dns"}
	require.Equal(t, "there is no signpost-dns", w.send(http.MethodPost, lintPath, `{"corefile":""}`).want(http.StatusConflict).problem())
	w.linter.err = &intent.Error{Code: intent.Unavailable, Detail: "try again"}
	require.Equal(t, "1", w.send(http.MethodPost, lintPath, `{"corefile":""}`).want(http.StatusServiceUnavailable).Header().Get("Retry-After"))
	w.linter.err = context.DeadlineExceeded
	w.send(http.MethodPost, lintPath, `{"corefile":""}`).want(http.StatusServiceUnavailable)
}
