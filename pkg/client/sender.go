package client

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// sender sends requests with the token, again when the server asks for it, and
// turns problems into errors.
type sender struct {
	http    HttpRequestDoer
	token   string
	retries int
}

// Do sends a request. The body is sent again by its GetBody; a request whose
// body cannot be had again is not retried.
func (s *sender) Do(request *http.Request) (*http.Response, error) {
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	for try := 0; ; try++ {
		response, err := s.http.Do(request)
		if err != nil {
			return nil, err
		}
		wait, sensible := delay(response.Header.Get("Retry-After"), try)
		if try >= s.retries || !repeatable(request, response.StatusCode) || !sensible || !lives(request.Context(), wait) {
			if err := problem(request, response); err != nil {
				return nil, err
			}
			return response, nil
		}
		refused := problem(request, response)
		discard(response)
		if err := pause(request.Context(), wait); err != nil {
			return nil, errors.Join(err, refused)
		}
		if request, err = rewind(request); err != nil {
			return nil, err
		}
	}
}

// repeatable tells whether a request with this answer may be sent again. 429 comes before
// the server has read a request, so any may. After 503 the request may have been carried
// out all the same. So only requests that are harmless to repeat may be sent again:
// reads, and PUT or DELETE without a precondition.
func repeatable(request *http.Request, status int) bool {
	if request.Body != nil && request.Body != http.NoBody && request.GetBody == nil {
		return false
	}
	switch status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		switch request.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			return true
		case http.MethodPut, http.MethodDelete:
			return request.Header.Get("If-Match") == "" && request.Header.Get("If-None-Match") == ""
		}
	}
	return false
}

// rewind is the request with its body from the beginning.
func rewind(request *http.Request) (*http.Request, error) {
	next := request.Clone(request.Context())
	if request.GetBody == nil {
		return next, nil
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	next.Body = body
	return next, nil
}

// discard reads what little is left, so that the connection can be used again.
func discard(response *http.Response) {
	const most = 64 << 10
	_, _ = io.CopyN(io.Discard, response.Body, most)
	_ = response.Body.Close()
}

// delay is the time that Retry-After says, in seconds or as a date. Without it, the delay
// is a quarter of a second that doubles with each try, up to a minute. Up to a quarter
// more is added, so that clients that were refused together do not come back together.
// False: the server asks for more than a minute.
func delay(retryAfter string, try int) (time.Duration, bool) {
	const first, most, doublings, share = 250 * time.Millisecond, time.Minute, 8, 4
	wait := min(first<<min(try, doublings), most)
	if seconds, err := strconv.ParseUint(retryAfter, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(retryAfter); err == nil {
		wait = max(time.Until(date), 0)
	}
	return wait + rand.N(wait/share+1), wait <= most
}

// lives tells whether ctx lasts longer than a wait: the answer that is there
// says more than that time ran out.
func lives(ctx context.Context, wait time.Duration) bool {
	deadline, limited := ctx.Deadline()
	return !limited || time.Until(deadline) > wait
}

// pause waits, or fails when ctx ends first.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
