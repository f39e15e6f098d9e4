package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// call is one request to one operation, validated.
type call struct {
	path   intent.Path       // the request's path below /v2
	vars   map[string]string // the path parameters
	query  url.Values
	header http.Header
	actor  intent.Actor   // who asks
	object map[string]any // the body, decoded; nil when the operation takes none
	body   []byte         // the body as JSON
}

// owner is the document whose action was called: the path without its last
// segment.
// It is empty at the top.
func (c *call) owner() intent.Path {
	return c.path[:max(strings.LastIndexByte(string(c.path), '/'), 0)]
}

// dispatch calls the operation of the request's method; HEAD is GET without
// its body.
func (e *edge) dispatch(route string, methods map[string]*operation) http.Handler {
	if get, ok := methods[http.MethodGet]; ok {
		methods[http.MethodHead] = get
	}
	allowed := make([]string, 0, len(methods)+1)
	for method := range methods {
		allowed = append(allowed, method)
	}
	allowed = append(allowed, http.MethodOptions)
	slices.Sort(allowed)
	allow := strings.Join(allowed, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		noteOf(r.Context()).route = route
		op, ok := methods[r.Method]
		switch {
		case ok:
			e.serve(w, r, op)
		case r.Method == http.MethodOptions:
			w.Header().Set("Allow", allow)
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Allow", allow)
			e.writeProblem(w, r, problem{Status: http.StatusMethodNotAllowed, Detail: r.Method + " is not allowed here; allowed are " + allow})
		}
	})
}

// serve checks a request by its operation, handles it and writes the answer.
func (e *edge) serve(w http.ResponseWriter, r *http.Request, op *operation) {
	if !op.public {
		w.Header().Set("Cache-Control", "no-store") // what needs rights is for nobody who asks a cache
	}
	var memory *throttle.Taken
	defer func() { memory.Leave() }() // after a panic, too
	result, err := e.perform(w, r, op, &memory)
	if err != nil {
		memory.Shrink(0)
		e.writeError(w, r, err)
		return
	}
	if op.public {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(requestTimeout)) // tests' recorders have none
	}
	e.write(w, r, result, memory)
}

// perform judges a request in the order rights, parameters, body, and handles
// it. Who sends a body slowly takes no place from those that are at work. The
// answer is in the memory that was taken.
func (e *edge) perform(w http.ResponseWriter, r *http.Request, op *operation, memory **throttle.Taken) (answer, error) {
	c, err := e.accept(r, op)
	if err != nil {
		return answer{}, err
	}
	var sent received
	if op.kind == writing {
		done, err := e.enter(r.Context(), receiving, asker(r, c.actor))
		if err != nil {
			return answer{}, err
		}
		defer done()
		if sent, err = op.receive(w, r); err != nil {
			return answer{}, err
		}
	}
	leave, err := e.enter(r.Context(), op.kind, asker(r, c.actor))
	if err != nil {
		return answer{}, err
	}
	defer leave()
	if *memory, err = e.weigh(r, op, c, sent); err != nil {
		return answer{}, err
	}
	if c.object, c.body, err = op.readBody(sent); err != nil {
		return answer{}, e.allFlaws(intent.As(r.Context(), c.actor), op, c, sent, err)
	}
	return e.traced(r, op, c)
}

// accept judges a request before its body, in the order rights, how often its
// subject has asked, parameters.
func (e *edge) accept(r *http.Request, op *operation) (*call, error) {
	c := &call{header: r.Header, vars: mux.Vars(r)}
	for name, raw := range c.vars {
		value, err := url.PathUnescape(raw)
		if err != nil {
			return nil, &intent.Error{Code: intent.Invalid, Detail: "path parameter " + name + " is not escaped as a URL should be"}
		}
		c.vars[name] = value
	}
	var err error
	if c.actor, err = e.authorize(r, op, c.vars["project"]); err != nil {
		return nil, err
	}
	n := noteOf(r.Context())
	n.actor, c.actor.RequestID = c.actor.Subject, n.id
	e.acquaint(r, op, c.actor)
	if err := e.takeToken(r, op, c.actor); err != nil {
		return nil, err
	}
	if !op.anyQuery {
		if c.query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
			return nil, &intent.Error{Code: intent.Invalid, Detail: "the query is not escaped as a URL should be", Err: err}
		}
	}
	if err := op.checkParameters(c); err != nil {
		return nil, err
	}
	c.path = intent.Path(strings.TrimPrefix(r.URL.Path, "/v2/"))
	return c, nil
}

// authorize answers who asks, or why they may not. project is the one in the
// path, empty for none.
func (e *edge) authorize(r *http.Request, op *operation, project string) (intent.Actor, error) {
	if op.public {
		return access.Anonymous().Actor(), nil
	}
	caller := access.Caller{Authorization: strings.Join(r.Header.Values("Authorization"), ", "), TLS: r.TLS, Address: r.RemoteAddr}
	return e.Authenticator.Authorize(r.Context(), caller, op.role, project)
}
