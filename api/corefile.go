package api

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/pkg/admission/poddns"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// lint answers what is wrong with a Corefile. That something is, is an answer.
func (e *edge) lint(ctx context.Context, c *call) (answer, error) {
	text, _ := c.object["corefile"].(string)
	findings, err := e.Corefiles.Lint(ctx, text)
	var body struct {
		Findings []corefile.Finding `json:"findings"`
	}
	body.Findings = orEmpty(findings)
	return answer{status: http.StatusOK, body: body}, err
}

// trace answers which way a query takes.
func (e *edge) trace(ctx context.Context, c *call) (answer, error) {
	text, _ := c.object["name"].(string)
	kind, _ := c.object["type"].(string)
	cluster, _ := c.object["cluster"].(string)
	name, err := poddns.QueryName(text)
	if err != nil {
		return answer{}, jsonbody.Invalid([]intent.Field{{Pointer: "/name", Detail: strconv.Quote(jsonbody.Clip(text)) + " " + err.Error()}})
	}
	way, err := e.Corefiles.Trace(ctx, c.owner(), cluster, corefile.Query{Name: name, Type: cmp.Or(kind, "A")})
	way.Upstreams = orEmpty(way.Upstreams)
	return answer{status: http.StatusOK, body: way}, err
}
