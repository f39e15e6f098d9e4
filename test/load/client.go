package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// client is one subject's connection to a server.
type client struct {
	http        *http.Client
	base, token string
}

// ask sends a request and answers the status, the body, and how long to wait
// before the next try when it is 429.
func (c *client) ask(ctx context.Context, method, path, body string) (status int, answer []byte, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, nil, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, 0, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err == nil && response.StatusCode == http.StatusTooManyRequests {
		var seconds int
		if seconds, err = strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds < 1 {
			err = fmt.Errorf("429 without a Retry-After")
		}
		wait = time.Duration(seconds) * time.Second
	}
	return response.StatusCode, answer, wait, err
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// tally is what became of one client's requests.
type tally struct {
	done, shed int
	took       []time.Duration // of those that were done
	faults     []error         // answers that nobody should get
}

func (t *tally) note(took time.Duration, status int, answer []byte, err error) {
	switch {
	case err != nil:
		t.faults = append(t.faults, err)
	case status == http.StatusTooManyRequests:
		t.shed++
	case status/100 == 2:
		t.done++
		t.took = append(t.took, took)
	default:
		t.faults = append(t.faults, fmt.Errorf("%d %s", status, answer))
	}
}

// reader looks at one document, again and again.
type reader struct {
	client
	path string
	tally
}

// run asks until ctx ends, and thinks after each answer. The last request is
// waited for.
func (r *reader) run(ctx context.Context, thinks time.Duration) {
	for pause(ctx, rand.N(thinks)); ctx.Err() == nil; pause(ctx, thinks) {
		began := time.Now()
		status, answer, _, err := r.ask(context.WithoutCancel(ctx), http.MethodGet, r.path, "")
		r.note(time.Since(began), status, answer, err)
	}
}

// writer creates records and changes them, without a pause but those that it is
// told to make.
type writer struct {
	client
	project, name string
	acknowledged  map[string]string // by record: its userData1 as it was acknowledged last
	tally
}

// run writes until ctx ends. The last request is waited for, so that its
// outcome is known.
func (w *writer) run(ctx context.Context) {
	const changes = 10 // of each record
	for n := 0; ctx.Err() == nil; n++ {
		record, value := fmt.Sprintf("%s-%d", w.name, n/changes), strconv.Itoa(n)
		body := `{"metadata":{"name":"` + record + `","userData1":"` + value + `"},"spec":{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"]},"environment":{"ETCD_URLS":"http://192.0.2.1:2379"}}}`
		began := time.Now()
		status, answer, wait, err := w.ask(context.WithoutCancel(ctx), http.MethodPut, w.records()+"/"+record, body)
		w.note(time.Since(began), status, answer, err)
		if err == nil && status/100 == 2 {
			w.acknowledged[record] = value
		}
		pause(ctx, wait)
	}
}

func (w *writer) records() string { return "/v2/projects/" + w.project + "/dns-update-records" }

// stored reads the userData1 of a project's records.
func (c *client) stored(ctx context.Context, project string) (map[string]string, error) {
	found, next := map[string]string{}, ""
	for {
		status, answer, _, err := c.ask(ctx, http.MethodGet, "/v2/projects/"+project+"/dns-update-records?limit=500"+next, "")
		if err != nil || status != http.StatusOK {
			return nil, fmt.Errorf("list %s: %d %s: %w", project, status, answer, err)
		}
		var page struct {
			Items []struct {
				Metadata struct{ Name, UserData1 string }
			}
			Continue string
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			found[item.Metadata.Name] = item.Metadata.UserData1
		}
		if page.Continue == "" {
			return found, nil
		}
		next = "&continue=" + page.Continue
	}
}
