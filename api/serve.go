package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/signpost-dns/signpost/api/limits"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/requestinfo"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// dispatch calls the operation of the request's method; HEAD is GET without
// its body.
func (e *edge) dispatch(route string, methods map[string]*operation.Operation) http.Handler {
	if get, ok := methods[http.MethodGet]; ok {
		methods[http.MethodHead] = get
	}
	allowed := append(slices.Collect(maps.Keys(methods)), http.MethodOptions)
	slices.Sort(allowed)
	allow := strings.Join(allowed, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requestinfo.From(r.Context()).Route = route
		op, ok := methods[r.Method]
		switch {
		case ok:
			e.serve(w, r, op)
		case r.Method == http.MethodOptions:
			w.Header().Set("Allow", allow)
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Allow", allow)
			e.response.Problem(w, r, response.Problem{Status: http.StatusMethodNotAllowed, Detail: r.Method + " is not allowed here; allowed are " + allow})
		}
	})
}

// serve checks a request by its operation, handles it and writes the answer.
func (e *edge) serve(w http.ResponseWriter, r *http.Request, op *operation.Operation) {
	if !op.Public {
		w.Header().Set("Cache-Control", "no-store") // what needs rights is for nobody who asks a cache
	}
	var memory *throttle.Taken
	defer func() { memory.Leave() }() // after a panic, too
	result, err := e.perform(w, r, op, &memory)
	if err != nil {
		memory.Shrink(0)
		e.response.Error(w, r, err)
		return
	}
	if result.Stream != nil {
		memory.Shrink(0)
		e.stream(w, r, op, result.Stream)
		return
	}
	if result.Await != nil {
		result = e.await(r, result, memory)
	}
	if op.Public {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(requestTimeout)) // tests' recorders have none
	}
	e.response.Answer(w, r, result, memory)
}

// stream sends events until one side ends. The request has a place of those that follow.
func (e *edge) stream(w http.ResponseWriter, r *http.Request, op *operation.Operation, s *response.Stream) {
	leave, err := e.limits.Enter(r.Context(), limits.Stream, limits.ClientKey(r, s.Actor))
	if err != nil {
		e.response.Error(w, r, err)
		return
	}
	defer leave()
	out := response.NewEvents(w)
	if r.Method == http.MethodHead {
		return
	}
	s.Serve(r.Context(), out, func() (intent.Actor, error) { return e.authorize(r, op, projectOf(op, mux.Vars(r))) })
}

// await makes an answer that takes its time. The request waits at a place of those that
// read, so that it keeps nobody from writing; if there is none, it does not wait. Of its
// memory it keeps what the answer takes, so that it keeps nobody from being heard.
func (e *edge) await(r *http.Request, result response.Answer, memory *throttle.Taken) response.Answer {
	const times = 4 // as text, as it was read, and as values
	if text, err := response.Encode(result.Body); err == nil {
		memory.Shrink(times * int64(len(text)))
	}
	leave, err := e.limits.Enter(r.Context(), limits.Read, limits.ClientKey(r, intent.Actor{Subject: requestinfo.From(r.Context()).Actor}))
	if err != nil {
		return result
	}
	defer leave()
	return result.Await()
}

// perform checks a request in the order rights, parameters, body, and handles it. A
// client that sends a body slowly takes no slot from others. The answer is in the memory
// that was taken.
func (e *edge) perform(w http.ResponseWriter, r *http.Request, op *operation.Operation, memory **throttle.Taken) (response.Answer, error) {
	c, err := e.accept(r, op)
	if err != nil {
		return response.Answer{}, err
	}
	key := limits.ClientKey(r, c.Actor)
	var sent operation.Received
	if op.Kind == limits.Write {
		done, err := e.limits.Enter(r.Context(), limits.Receive, key)
		if err != nil {
			return response.Answer{}, err
		}
		defer done()
		if sent, err = op.Receive(w, r); err != nil {
			return response.Answer{}, err
		}
	}
	leave, err := e.limits.Enter(r.Context(), op.Kind, key)
	if err != nil {
		return response.Answer{}, err
	}
	defer leave()
	if *memory, err = e.limits.TakeMemory(r.Context(), key, limits.Demand{Kind: op.Kind, Public: op.Public, Relieves: op.Relieves, Bytes: op.Weight(c, sent)}); err != nil {
		return response.Answer{}, err
	}
	if c.Object, c.Body, err = op.ReadBody(sent); err != nil {
		return response.Answer{}, e.resources.AllErrors(intent.As(r.Context(), c.Actor), op, c, sent, err)
	}
	return e.traced(r, op, c)
}

// accept judges a request before its body, in the order rights, how often its
// subject has asked, parameters.
func (e *edge) accept(r *http.Request, op *operation.Operation) (*operation.Call, error) {
	c := &operation.Call{Header: r.Header, Vars: mux.Vars(r)}
	for name, raw := range c.Vars {
		value, err := url.PathUnescape(raw)
		if err != nil {
			return nil, &intent.Error{Code: intent.Invalid, Detail: "path parameter " + name + " is not escaped as a URL should be"}
		}
		c.Vars[name] = value
	}
	var err error
	if c.Actor, err = e.authorize(r, op, projectOf(op, c.Vars)); err != nil {
		return nil, err
	}
	info := requestinfo.From(r.Context())
	info.Actor, c.Actor.RequestID = c.Actor.Subject, info.ID
	e.acquaint(r, op, c.Actor)
	if err := e.limits.TakeToken(op.Kind, limits.ClientKey(r, c.Actor)); err != nil {
		return nil, err
	}
	if !op.AnyQuery {
		if c.Query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
			return nil, &intent.Error{Code: intent.Invalid, Detail: "the query is not escaped as a URL should be", Err: err}
		}
	}
	if err := op.CheckParameters(c); err != nil {
		return nil, err
	}
	c.Path = intent.Path(strings.TrimPrefix(r.URL.Path, "/v2/"))
	return c, nil
}

// projectOf is the project in which a caller needs a role; empty for all of them.
func projectOf(op *operation.Operation, vars map[string]string) string {
	if op.Across {
		return access.AnyProject
	}
	return vars["project"]
}

// authorize answers who asks, or why they may not. project is as
// access.Authenticator.Authorize has it.
func (e *edge) authorize(r *http.Request, op *operation.Operation, project string) (intent.Actor, error) {
	if op.Public {
		return access.Anonymous().Actor(), nil
	}
	caller := access.Caller{Authorization: strings.Join(r.Header.Values("Authorization"), ", "), TLS: r.TLS, Address: r.RemoteAddr}
	return e.authenticator.Authorize(r.Context(), caller, op.Role, project)
}

// traced handles a call within a span of the trace that the caller has named,
// else of one of its own.
func (e *edge) traced(r *http.Request, op *operation.Operation, c *operation.Call) (response.Answer, error) {
	info := requestinfo.From(r.Context())
	ctx := tracing.Follow(intent.As(r.Context(), c.Actor), r.Header.Get("traceparent"))
	ctx, end := e.tracer.Start(ctx, r.Method+" "+info.Route, "requestID", info.ID, "actor", info.Actor)
	info.Trace = tracing.TraceID(ctx)
	result, err := op.Handle(ctx, c)
	end(err)
	return result, err
}
