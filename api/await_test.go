package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api/limits"
	"github.com/signpost-dns/signpost/api/requestinfo"
	"github.com/signpost-dns/signpost/api/response"
)

// TestRequestsOfOneSubjectThatWaitLeavePlacesToOthers, however many connections it has.
func TestRequestsOfOneSubjectThatWaitLeavePlacesToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &edge{limits: limits.New(limits.Options{MaxBytes: 1, MaxBody: 1, MaxWrites: 1, Shed: func(string) {}})}
		end := make(chan struct{})
		var all sync.WaitGroup
		var mu sync.Mutex
		waiting := map[string]int{} // by subject
		from := func(subject string, port int) {
			r := httptest.NewRequestWithContext(requestinfo.With(t.Context(), &requestinfo.Info{Actor: subject}), http.MethodPut, "/", nil)
			r.RemoteAddr = fmt.Sprintf("192.0.2.1:%d", port)
			all.Go(func() {
				e.await(r, response.Answer{Await: func() response.Answer {
					mu.Lock()
					waiting[subject]++
					mu.Unlock()
					<-end
					return response.Answer{}
				}}, nil)
			})
		}
		const places = 1024
		for port := range places {
			from("greedy", port)
		}
		synctest.Wait()
		from("modest", places)
		synctest.Wait()
		require.Equal(t, map[string]int{"greedy": places / 2, "modest": 1}, waiting)
		close(end)
		all.Wait()
	})
}
