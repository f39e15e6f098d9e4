package requests

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Generator makes requests to the operations of a document.
type Generator struct {
	values
	doc        *openapi3.T
	operations []operation
	oddBodies  []string
	made       []map[string]string // the path parameters of documents that were made, newest last
}

// operation is an operation and where it is found.
type operation struct {
	*openapi3.Operation
	method, template string
	path             openapi3.Parameters
}

// New makes a generator. It only reads doc.
func New(doc *openapi3.T, seed uint64) *Generator {
	g := &Generator{doc: doc, oddBodies: bodies(), values: values{Rand: rand.New(rand.NewPCG(seed, 0)), words: wordsOf(doc)}}
	for _, template := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(template)
		for _, method := range slices.Sorted(maps.Keys(item.Operations())) {
			g.operations = append(g.operations, operation{item.GetOperation(method), method, template, item.Parameters})
		}
	}
	return g
}

// Next makes a request: half of them are valid, a quarter has one mistake, and
// a quarter is hostile.
func (g *Generator) Next() Request {
	op := oneOf(g.Rand, g.operations)
	switch g.IntN(4) {
	case 0:
		return g.hostile(g.valid(op))
	case 1:
		if r, ok := g.nearlyValid(op); ok {
			return r
		}
	}
	return g.valid(op)
}

// Examples are the requests that create the examples of all resources. They
// come in no order: each is to be sent until what it needs is there.
func (g *Generator) Examples() []Request {
	var list []Request
	for _, op := range g.operations {
		if op.method != http.MethodPost || op.Responses.Status(http.StatusCreated) == nil {
			continue
		}
		r := Request{Kind: Valid, Method: op.method, Target: op.template, Header: http.Header{"Content-Type": {"application/json"}}}
		for _, p := range op.path {
			r.Target = strings.ReplaceAll(r.Target, "{"+p.Value.Name+"}", fmt.Sprint(p.Value.Example))
		}
		r.Body = encode(exampleOf(op))
		list = append(list, r)
	}
	return list
}

// Remember tells that there is a document at a path now: some of the requests
// to come will be about it.
func (g *Generator) Remember(path string) {
	const most = 200
	for _, op := range g.operations {
		if parameters, ok := match(op.template, path); ok && op.method == http.MethodGet {
			g.made = append(g.made, parameters)
		}
	}
	g.made = g.made[max(0, len(g.made)-most):]
}

// match reads the parameters of a path by its template.
func match(template, path string) (map[string]string, bool) {
	names, segments := strings.Split(template, "/"), strings.Split(path, "/")
	if len(names) != len(segments) {
		return nil, false
	}
	parameters := map[string]string{}
	for i, name := range names {
		if strings.HasPrefix(name, "{") {
			parameters[strings.Trim(name, "{}")] = segments[i]
		} else if name != segments[i] {
			return nil, false
		}
	}
	return parameters, true
}

// valid makes a request that is as the document says.
func (g *Generator) valid(op operation) Request {
	r, body := g.draft(op)
	if body != nil {
		r.Body = encode(body)
	}
	return r
}

// nearlyValid makes a request with one mistake in its body; false when the
// operation takes none.
func (g *Generator) nearlyValid(op operation) (Request, bool) {
	r, body := g.draft(op)
	if body == nil {
		return r, false
	}
	r.Kind = NearlyValid
	r.Wrong = g.spoil(body, bodyOf(op))
	r.Body = encode(body)
	return r, r.Wrong != ""
}

// written is a value as people write it into a URL: numbers without an exponent.
func written(value any) string {
	if number, is := value.(float64); is {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// draft is a valid request with its body before it is encoded, nil for none.
func (g *Generator) draft(op operation) (Request, map[string]any) {
	r := Request{Kind: Valid, Method: op.method, Header: http.Header{}}
	path, query := op.template, url.Values{}
	last := ""
	known := g.known(op)
	for _, ref := range slices.Concat(op.path, op.Parameters) {
		switch p := ref.Value; p.In {
		case openapi3.ParameterInPath:
			if last = known[p.Name]; last == "" {
				last = g.text(p.Name, p.Schema.Value)
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(last))
		case openapi3.ParameterInQuery:
			if g.chance(25) {
				query.Set(p.Name, written(g.varied(p.Name, p.Example, p.Schema.Value)))
			}
		case openapi3.ParameterInHeader:
			if g.chance(10) {
				r.Header.Set(p.Name, fmt.Sprint(p.Example))
			}
		}
	}
	if r.Target = path; len(query) > 0 {
		r.Target += "?" + query.Encode()
	}
	if g.chance(10) {
		r.Target = strings.Replace(r.Target, "/v2/projects", "/v2/project", 1)
	}
	if op.RequestBody == nil {
		return r, nil
	}
	r.Header.Set("Content-Type", "application/json")
	body := g.body(op)
	if metadata, ok := body["metadata"].(map[string]any); ok && op.method == http.MethodPut && !strings.HasSuffix(op.template, "{version}") {
		metadata["name"] = last
	}
	return r, body
}

// known are the path parameters of a document that was made of late and that
// an operation is about; nil for one in two requests, and when there is none.
func (g *Generator) known(op operation) map[string]string {
	fitting := slices.Clone(g.made)
	for _, p := range op.path {
		fitting = slices.DeleteFunc(fitting, func(made map[string]string) bool { return made[p.Value.Name] == "" })
	}
	if len(fitting) == 0 || g.chance(50) {
		return nil
	}
	const late = 5
	return oneOf(g.Rand, fitting[max(0, len(fitting)-late):])
}

// body is a body for an operation: its example varied, or made from nothing.
func (g *Generator) body(op operation) map[string]any {
	var made any
	if g.chance(80) {
		made = g.varied("", exampleOf(op), bodyOf(op))
	} else {
		made = g.of("", bodyOf(op))
	}
	object, _ := made.(map[string]any)
	return object
}

// bodyOf is the schema of an operation's body.
func bodyOf(op operation) *openapi3.Schema {
	return op.RequestBody.Value.Content.Get("application/json").Schema.Value
}

// exampleOf is a copy of the first example of an operation's body.
func exampleOf(op operation) any {
	examples := op.RequestBody.Value.Content.Get("application/json").Examples
	names := slices.Sorted(maps.Keys(examples))
	if len(names) == 0 {
		return nil
	}
	var copied any
	if err := json.Unmarshal(encode(examples[names[0]].Value.Value), &copied); err != nil {
		panic(err) // it was just encoded
	}
	return copied
}

// encode writes a value that was decoded from JSON or made like that.
func encode(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // numbers, texts, lists and objects alone
	}
	return raw
}
