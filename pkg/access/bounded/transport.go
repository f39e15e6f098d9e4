package bounded

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// HeaderBytes is how long the header of an answer may be.
const HeaderBytes = 256 << 10

// LimitHeaders limits the headers of the answers of a transport, also of a wrapped one.
func LimitHeaders(by http.RoundTripper) http.RoundTripper {
	for at := by; at != nil; {
		if transport, ok := at.(*http.Transport); ok {
			transport.MaxResponseHeaderBytes = HeaderBytes
			break
		}
		wrapper, ok := at.(interface{ WrappedRoundTripper() http.RoundTripper })
		if !ok {
			break
		}
		at = wrapper.WrappedRoundTripper()
	}
	return by
}

// Transport is a transport whose answers take no more memory than they may. They
// are weighed as they are read, after decompression; what is too heavy ends with an
// *Excess before it is decoded.
type Transport struct {
	http.RoundTripper
	Most   int64                    // memory of an answer, in bytes
	Budget *Budget                  // of the server; nil: none
	Stream func(*http.Request) bool // tells whether the answer is a stream of documents, each of which is weighed by itself and may take half of that; nil: none is
}

// RoundTrip implements http.RoundTripper. With a Budget, a large answer keeps others
// waiting until the context of its request ends, which is after it was decoded.
func (t Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	limited := &body{ReadCloser: answer.Body, ctx: request.Context(), most: t.Most, budget: t.Budget}
	if t.Stream != nil && t.Stream(request) {
		limited.stream, limited.most = true, t.Most/documentShare
	}
	answer.Body = limited
	return answer, nil
}

// WrappedRoundTripper implements net.RoundTripperWrapper of Kubernetes, by which
// connections are found that are to be closed.
func (t Transport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }

const (
	chunk = 32 << 10 // bytes that are read at a time
	small = 1 << 20  // memory of an answer that waits for no other
)

// body is the body of an answer that is weighed.
type body struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the one request that it answers
	most   int64
	budget *Budget
	stream bool
	scale  scale
	err    error  // ends the reading
	end    func() // of the turn; nil without one
}

func (b *body) Read(into []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.stream && b.end != nil && b.scale.weight <= small { // who asks for more has decoded what came before
		b.end()
		b.end = nil
	}
	n, err := b.ReadCloser.Read(into[:min(len(into), chunk)])
	if b.err = b.weigh(into[:n]); b.err != nil {
		return 0, b.err
	}
	return n, err
}

// weigh weighs what was read, and waits for what it needs.
func (b *body) weigh(text []byte) error {
	if err := b.budget.await(b.ctx, len(text)); err != nil {
		return err
	}
	heaviest, err := b.scale.add(text, b.stream)
	if err != nil {
		return err
	}
	if heaviest > b.most {
		return tooLarge("the answer", b.most)
	}
	if heaviest > small && b.budget != nil && b.end == nil {
		return b.begin()
	}
	return nil
}

// begin takes the turn of a large answer until the request is done with.
func (b *body) begin() error {
	if err := b.budget.begin(b.ctx); err != nil {
		return err
	}
	end := sync.OnceFunc(b.budget.end)
	stop := context.AfterFunc(b.ctx, end)
	b.end = func() { stop(); end() }
	return nil
}
