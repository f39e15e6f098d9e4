package operation

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/api/schema"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckParameters judges the path's and the query's parameters by their
// schemas. Unknown ones are refused: a mistyped ?confirm= must not be lost.
func (op *Operation) CheckParameters(c *Call) error {
	var wrong, known []string
	for _, p := range op.parameters {
		values := []string{c.Vars[p.Name]}
		if p.In == openapi3.ParameterInQuery {
			known = append(known, p.Name)
			values = c.Query[p.Name]
		}
		switch {
		case len(values) > 1:
			wrong = append(wrong, p.In+" parameter "+p.Name+" is given more than once")
		case len(values) == 1:
			if detail := schema.ValidateText(p.Schema.Value, values[0]); detail != "" {
				wrong = append(wrong, p.In+" parameter "+p.Name+" "+detail)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Query)) {
		if !slices.Contains(known, name) {
			wrong = append(wrong, "unknown query parameter "+strconv.Quote(jsonbody.Clip(name))+schema.Suggestion(name, known))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &intent.Error{Code: intent.Invalid, Detail: strings.Join(wrong, "; ")}
}

// defaultLimit is how many items a page holds when the request does not say.
const defaultLimit = 500

// Limit returns how many items a page may hold.
func (c *Call) Limit() int {
	if limit, err := strconv.Atoi(c.Query.Get("limit")); err == nil { // judged by its schema
		return limit
	}
	return defaultLimit
}

// ContinueError says what is wrong with a request whose page cannot be found.
func ContinueError(err error) error {
	if intent.CodeOf(err) == intent.Invalid {
		return &intent.Error{Code: intent.Invalid, Detail: "query parameter continue must be the continue of the last page of this list", Err: err}
	}
	return err
}
