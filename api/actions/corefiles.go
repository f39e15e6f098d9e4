package actions

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/admission/poddns"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Corefiles answers questions about configurations of CoreDNS.
type Corefiles struct{ Service service.Corefiles }

// Lint answers what is wrong with a Corefile. That something is, is an answer.
func (f Corefiles) Lint(ctx context.Context, c *operation.Call) (response.Answer, error) {
	text, _ := c.Object["corefile"].(string)
	findings, err := f.Service.Lint(ctx, text)
	var body struct {
		Findings []corefile.Finding `json:"findings"`
	}
	body.Findings = orEmpty(findings)
	return response.Answer{Status: http.StatusOK, Body: body}, err
}

// Trace answers which way a query takes.
func (f Corefiles) Trace(ctx context.Context, c *operation.Call) (response.Answer, error) {
	text, _ := c.Object["name"].(string)
	kind, _ := c.Object["type"].(string)
	cluster, _ := c.Object["cluster"].(string)
	name, err := poddns.QueryName(text)
	if err != nil {
		return response.Answer{}, jsonbody.Invalid([]intent.Field{{Pointer: "/name", Detail: strconv.Quote(jsonbody.Clip(text)) + " " + err.Error()}})
	}
	way, err := f.Service.Trace(ctx, c.Owner(), cluster, corefile.Query{Name: name, Type: cmp.Or(kind, "A")})
	way.Upstreams = orEmpty(way.Upstreams)
	return response.Answer{Status: http.StatusOK, Body: way}, err
}
