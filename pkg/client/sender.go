package client

import (
	"context"
	"io"
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
		if try == s.retries || !again(request, response) {
			if err := problem(response); err != nil {
				return nil, err
			}
			return response, nil
		}
		discard(response)
		if err := pause(request.Context(), delay(response.Header.Get("Retry-After"), try)); err != nil {
			return nil, err
		}
		if request, err = rewind(request); err != nil {
			return nil, err
		}
	}
}

// again tells whether the server asks to try later and the request can be.
func again(request *http.Request, response *http.Response) bool {
	asked := response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable
	return asked && (request.Body == nil || request.Body == http.NoBody || request.GetBody != nil)
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

// delay is what Retry-After says, in seconds or as a date; without it, a
// quarter of a second that doubles with each try. Never more than a minute.
func delay(retryAfter string, try int) time.Duration {
	const first, most, doublings = 250 * time.Millisecond, time.Minute, 8
	wait := first << min(try, doublings)
	if seconds, err := strconv.ParseUint(retryAfter, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(retryAfter); err == nil {
		wait = time.Until(date)
	}
	return min(max(wait, 0), most)
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
