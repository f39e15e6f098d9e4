package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/client"
)

// network answers with statuses in turn, the last one from then on, and notes
// what it was sent and when.
type network struct {
	statuses   []int
	retryAfter string
	bodies     []string
	times      []time.Time
	after      func() // called after each request
}

// Do implements client.HttpRequestDoer.
func (n *network) Do(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
	}
	n.bodies, n.times = append(n.bodies, string(body)), append(n.times, time.Now())
	status := n.statuses[min(len(n.bodies), len(n.statuses))-1]
	response := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader("{}"))}
	if status >= http.StatusBadRequest {
		response.Header = http.Header{"Content-Type": {"application/problem+json"}, "Retry-After": {n.retryAfter}}
		response.Body = io.NopCloser(strings.NewReader(`{"title":"Not now","detail":"etcd does not answer"}`))
	}
	if n.after != nil {
		n.after()
	}
	return response, nil
}

// waits are the times between the requests.
func (n *network) waits() []time.Duration {
	var waits []time.Duration
	for i := 1; i < len(n.times); i++ {
		waits = append(waits, n.times[i].Sub(n.times[i-1]))
	}
	return waits
}

func (n *network) client(t *testing.T, retries int) *client.Client {
	c, err := client.New("http://signpost", client.Options{HTTPClient: n, Retries: retries})
	require.NoError(t, err)
	return c
}

func TestWhatWasNotDoneIsSentAgainAndWhatMayHaveBeenDoneIsNot(t *testing.T) {
	for _, c := range []struct {
		reason  string
		method  string
		header  http.Header
		status  int
		repeats bool
	}{
		{"429 comes before the server looks at a request", "POST", nil, 429, true},
		{"with a precondition too", "PUT", http.Header{"If-Match": {`"1"`}}, 429, true},
		{"reading changes nothing", "GET", nil, 503, true},
		{"reading changes nothing", "HEAD", nil, 503, true},
		{"put twice is put", "PUT", nil, 503, true},
		{"deleted twice is deleted", "DELETE", nil, 503, true},
		{"it may have been created: the second time would be 409", "POST", nil, 503, false},
		{"it may have been changed: the second time would be 412", "PUT", http.Header{"If-Match": {`"1"`}}, 503, false},
		{"it may have been created: the second time would be 412", "PUT", http.Header{"If-None-Match": {"*"}}, 503, false},
		{"it may be gone: the second time would be 412", "DELETE", http.Header{"If-Match": {`"1"`}}, 503, false},
		{"an error of the server is not about time", "GET", nil, 500, false},
		{"nor is one of the caller", "GET", nil, 404, false},
	} {
		t.Run(c.reason+" "+c.method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{statuses: []int{c.status, 200}, retryAfter: "1"}
				_, err := n.client(t, 3).Do(t.Context(), c.method, "projects/shop", strings.NewReader(`{"metadata":{}}`), c.header)
				if c.repeats {
					require.NoError(t, err)
					require.Equal(t, []string{`{"metadata":{}}`, `{"metadata":{}}`}, n.bodies, "the whole body, twice")
					return
				}
				var refused *client.Error
				require.ErrorAs(t, err, &refused)
				require.Len(t, n.bodies, 1)
			})
		})
	}
}

func TestABodyThatCannotBeHadAgainIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{statuses: []int{429}}
		_, err := n.client(t, 3).Do(t.Context(), http.MethodPut, "projects/shop", io.MultiReader(bytes.NewBufferString("{}")), nil)
		require.Error(t, err)
		require.Len(t, n.bodies, 1)
	})
}

func TestRetriesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{statuses: []int{503}, retryAfter: "1"}
		_, err := n.client(t, 2).Do(t.Context(), http.MethodGet, "projects", nil, nil)
		require.ErrorContains(t, err, "etcd does not answer")
		require.Len(t, n.bodies, 3)
		_, err = n.client(t, 0).Do(t.Context(), http.MethodGet, "projects", nil, nil)
		require.Error(t, err)
		require.Len(t, n.bodies, 4)
	})
}

func TestTheWaitIsWhatRetryAfterSaysAndALittleMore(t *testing.T) {
	for _, c := range []struct {
		reason, retryAfter string
		want               []time.Duration // without what chance adds
	}{
		{"seconds", "3", []time.Duration{3 * time.Second, 3 * time.Second}},
		{"none", "0", []time.Duration{0, 0}},
		{"a date, of which seconds are left", "date", []time.Duration{10 * time.Second, 0}},
		{"not said: longer each time", "", []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second}},
		{"not said, for long: a minute at most", "", []time.Duration{
			250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second,
			8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute,
		}},
		{"nonsense is not said", "soon", []time.Duration{250 * time.Millisecond}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{statuses: []int{429}, retryAfter: c.retryAfter}
				if c.retryAfter == "date" {
					n.retryAfter = time.Now().Add(10 * time.Second).UTC().Format(http.TimeFormat)
				}
				_, err := n.client(t, len(c.want)).Do(t.Context(), http.MethodPost, "projects", nil, nil)
				require.Error(t, err)
				for i, waited := range n.waits() {
					require.GreaterOrEqual(t, waited, c.want[i], "wait %d", i)
					require.LessOrEqual(t, waited, c.want[i]+c.want[i]/4, "wait %d", i)
				}
				require.Len(t, n.waits(), len(c.want))
			})
		})
	}
}

func TestThoseWhoWereRefusedTogetherDoNotComeBackTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := map[time.Duration]bool{}
		for range 20 {
			n := &network{statuses: []int{429, 200}, retryAfter: "4"}
			_, err := n.client(t, 1).Do(t.Context(), http.MethodGet, "projects", nil, nil)
			require.NoError(t, err)
			waits[n.waits()[0]] = true
		}
		require.Greater(t, len(waits), 10)
	})
}

func TestAServerThatAsksForMoreThanAMinuteIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{statuses: []int{503}, retryAfter: "61"}
		began := time.Now()
		_, err := n.client(t, 5).Do(t.Context(), http.MethodGet, "projects", nil, nil)
		require.ErrorContains(t, err, "etcd does not answer")
		require.Len(t, n.bodies, 1)
		require.Zero(t, time.Since(began))
	})
}

func TestCancellingEndsTheWaitForARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		n := &network{statuses: []int{429}, retryAfter: "60", after: func() { time.AfterFunc(time.Second, cancel) }}
		began := time.Now()
		_, err := n.client(t, 5).Do(ctx, http.MethodGet, "projects", nil, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "etcd does not answer", "it says what it was waiting for")
		require.Equal(t, time.Second, time.Since(began))
		require.Len(t, n.bodies, 1)
	})
}

func TestADeadlineThatComesBeforeTheRetryEndsAtOnceWithTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		n := &network{statuses: []int{503}, retryAfter: "30"}
		began := time.Now()
		_, err := n.client(t, 5).Do(ctx, http.MethodGet, "projects", nil, nil)
		var refused *client.Error
		require.ErrorAs(t, err, &refused)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, time.Since(began))
	})
}

func TestAnErrorOfTheNetworkIsPassedOn(t *testing.T) {
	refused := errors.New("connection refused")
	c, err := client.New("http://signpost", client.Options{HTTPClient: broken{refused}, Retries: 5})
	require.NoError(t, err)
	_, err = c.Do(t.Context(), http.MethodGet, "projects", nil, nil)
	require.ErrorIs(t, err, refused)
}

// broken is a network that never answers.
type broken struct{ err error }

func (b broken) Do(*http.Request) (*http.Response, error) { return nil, b.err }
