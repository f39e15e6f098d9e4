package api

import (
	"context"
	"net/http"

	"github.com/signpost-dns/signpost/pkg/corefile"
)

// lint answers what is wrong with a Corefile. That something is, is an answer.
func (e *edge) lint(ctx context.Context, c *call) (answer, error) {
	text, _ := c.object["corefile"].(string)
	findings, err := e.Linter.Lint(ctx, text)
	var body struct {
		Findings []corefile.Finding `json:"findings"`
	}
	body.Findings = orEmpty(findings)
	return answer{status: http.StatusOK, body: body}, err
}
