package requests

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api/apitest"
	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// enough is how many requests are so many that each operation succeeds once.
const enough = 10_000

// settings say how much is asked, and from which seed.
func settings(t *testing.T) (count int, seed uint64) {
	return sample.Cases(300, 2000, 100_000), sample.Seed(t)
}

// conversation is a generator that talks to a server.
type conversation struct {
	*testing.T
	generator *Generator
	checker   *apitest.Checker
	server    *fixture.Signpost
	base      string
	client    *http.Client
	statuses  map[string]map[int]int // by operation
	crowded   bool                   // others change the same documents meanwhile
}

// join is another conversation with the same server.
func (c *conversation) join(seed uint64) *conversation {
	other := *c
	other.generator, other.statuses = New(c.generator.doc, seed), map[string]map[int]int{}
	return &other
}

// begin starts a server, the real program on its embedded store.
func begin(t *testing.T, seed uint64) *conversation {
	doc, err := openapi.Load()
	require.NoError(t, err)
	programs := t.TempDir()
	program, err := fixture.Build(t.Context(), programs)
	require.NoError(t, err)
	require.NoError(t, fixture.BuildDNS(t.Context(), programs))
	server, err := fixture.NewSignpost(program, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(server.Kill)
	require.NoError(t, server.Start(t.Context()))
	base, err := server.URL()
	require.NoError(t, err)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &conversation{
		T: t, generator: New(doc, seed), checker: apitest.New(t, doc),
		server: server, base: base, client: client, statuses: map[string]map[int]int{},
	}
}

// say sends a request and judges the answer.
func (c *conversation) say(r Request) apitest.Response {
	got, err := r.Send(c.Context(), c.client, c.base)
	if err != nil {
		c.complain(r, got, fmt.Errorf("no answer: %w", err))
		return got
	}
	if err := c.judge(r, got); err != nil {
		c.complain(r, got, err)
	}
	return got
}

func (c *conversation) complain(r Request, got apitest.Response, err error) {
	c.Helper()
	c.Errorf("%s request: %v\n%s\n%d %s", r.Kind, err, clip(r.Curl(c.base)), got.Status, clip(string(got.Body)))
	if !c.server.Running() {
		c.Fatal(c.server.Tail(40))
	}
}

// judge tells what is wrong with an answer.
func (c *conversation) judge(r Request, got apitest.Response) error {
	busy := c.crowded && got.Status == http.StatusServiceUnavailable && strings.Contains(string(got.Body), "being changed by others")
	if got.Status >= http.StatusInternalServerError && !busy {
		return fmt.Errorf("a failure of the server")
	}
	path, err := r.Path()
	if err != nil { // no HTTP, so nobody but the HTTP server answers
		if got.Status != http.StatusBadRequest {
			return fmt.Errorf("want 400 for what is not an HTTP: %w", err)
		}
		return nil
	}
	id := "none"
	if operation := c.checker.Operation(r.Method, path); operation != nil {
		id = operation.OperationID
	}
	if c.statuses[id] == nil {
		c.statuses[id] = map[int]int{}
	}
	c.statuses[id][got.Status]++
	if got.Status == http.StatusCreated {
		c.generator.Remember(got.Header.Get("Location"))
	}
	if err := c.checker.Check(r.Method, path, got); err != nil {
		return err
	}
	if r.Kind == NearlyValid {
		return judgeMistake(r.Wrong, got)
	}
	return nil
}

// judgeMistake holds the answer to a single mistake to its place: it must name
// the mistake's pointer, or one that leads there or begins there.
func judgeMistake(pointer string, got apitest.Response) error {
	var problem struct {
		Errors []struct{ Pointer, Detail string }
	}
	if err := json.Unmarshal(got.Body, &problem); err != nil || got.Status != http.StatusBadRequest {
		return fmt.Errorf("want 400 for the mistake at %s", pointer)
	}
	for _, e := range problem.Errors {
		leads := e.Pointer != "" && strings.HasPrefix(pointer+"/", e.Pointer+"/")
		begins := strings.HasPrefix(e.Pointer+"/", pointer+"/")
		if e.Detail != "" && (leads || begins) {
			return nil
		}
	}
	return fmt.Errorf("the mistake at %s is not named", pointer)
}

func clip(text string) string {
	const longest = 3000
	if len(text) > longest {
		return text[:longest] + "…"
	}
	return text
}

// examples create the resources that are stored as such. A name is published with its
// document, which the example of its provider refuses: its password would be plain in
// the files of the example's cluster.
func (c *conversation) examples() []Request {
	return slices.DeleteFunc(c.generator.Examples(), func(r Request) bool { return strings.HasSuffix(r.Target, "/names") })
}

// restore creates the examples of all resources, or puts them back as they
// were, whatever order they need. It answers those that cannot be.
func (c *conversation) restore() []Request {
	waiting := c.examples()
	for before := len(waiting) + 1; len(waiting) < before; {
		before = len(waiting)
		waiting = slices.DeleteFunc(waiting, c.restored)
	}
	return waiting
}

// restored sends the request that creates an example or, where it exists, the
// one that replaces it.
func (c *conversation) restored(r Request) bool {
	switch c.say(r).Status {
	case http.StatusCreated:
		return true
	case http.StatusConflict:
		r.Method, r.Target = http.MethodPut, itemOf(c, r)
		return c.say(r).Status == http.StatusOK
	}
	return false
}

// clear deletes the examples of all resources, and answers those that cannot be.
func (c *conversation) clear() []Request {
	waiting := c.examples()
	for before := len(waiting) + 1; len(waiting) < before; {
		before = len(waiting)
		waiting = slices.DeleteFunc(waiting, func(r Request) bool {
			got := c.say(Request{Kind: Valid, Method: http.MethodDelete, Target: itemOf(c, r), Header: http.Header{}})
			return got.Status == http.StatusNoContent
		})
	}
	return waiting
}

// itemOf is the path of what a request creates.
func itemOf(t require.TestingT, r Request) string {
	var body struct {
		Metadata struct{ Name string }
		Spec     struct{ CompositeAppVersion string }
	}
	require.NoError(t, json.Unmarshal(r.Body, &body))
	return strings.TrimSuffix(r.Target+"/"+body.Metadata.Name+"/"+body.Spec.CompositeAppVersion, "/")
}

// TestRequestsFromOurOwnOpenAPI: no 5xx, no undocumented status,
// every response valid, no panic, memory flat; and afterwards the server is as
// well as it was before.
func TestRequestsFromOurOwnOpenAPI(t *testing.T) {
	count, seed := settings(t)
	c := begin(t, seed)
	require.Empty(t, c.restore(), "examples that cannot be created")
	require.Empty(t, c.clear(), "examples that cannot be deleted")
	const refresh = 250 // requests after which what was deleted or changed is as it was
	var resident []int64
	for i := range count {
		if i%refresh == 0 {
			c.restore()
			now, err := c.server.Resident()
			require.NoError(t, err)
			resident = append(resident, now)
		}
		c.say(c.generator.Next())
	}
	c.flat(resident)
	c.remains()
	c.summary()
	if count >= enough {
		c.worthwhile()
	}
}

// flat checks that the server's memory, seen now and then, does not grow with
// what it has answered: in the last quarter it has no more than in the second,
// but for what the garbage collector has not got to.
func (c *conversation) flat(resident []int64) {
	const uncollected = 48 << 20 // bytes
	quarter := len(resident) / 4
	if quarter == 0 {
		return
	}
	before, after := slices.Max(resident[quarter:2*quarter]), slices.Max(resident[len(resident)-quarter:])
	c.Logf("memory: %d MiB in the second quarter, %d MiB in the last", before>>20, after>>20)
	require.Less(c, after, before+uncollected, "memory grows with the requests: %v", resident)
}

// TestManyClientsAtOnce: requests that meet each other are answered as
// documented too. Only who is told that others change the same document, and to
// try again, may see a 503.
func TestManyClientsAtOnce(t *testing.T) {
	const clients = 8
	count, seed := settings(t)
	c := begin(t, seed)
	require.Empty(t, c.restore())
	c.crowded = true
	var all sync.WaitGroup
	for i := range clients {
		other := c.join(seed + uint64(i))
		all.Go(func() {
			for range count / (4 * clients) {
				other.say(other.generator.Next())
			}
		})
	}
	all.Wait()
	c.remains()
}

// remains checks that the server still works, and that it did not complain.
func (c *conversation) remains() {
	c.restore()
	for _, path := range []string{"/healthz", "/readyz", "/v2/projects/shop", "/v2/projects/shop/dns-update-records/lab"} {
		got := c.say(Request{Kind: Valid, Method: http.MethodGet, Target: path, Header: http.Header{}})
		require.Equal(c, http.StatusOK, got.Status, path)
	}
	log, err := os.ReadFile(c.server.Log)
	require.NoError(c, err)
	for line := range strings.Lines(string(log)) {
		for _, mark := range []string{"panic", "DATA RACE", "fatal error", "level=ERROR"} {
			require.NotContains(c, line, mark)
		}
	}
}

// worthwhile checks that the requests were worth sending: each operation did
// what it is for at least once. An action may have found every time that the
// state of things forbids it.
func (c *conversation) worthwhile() {
	for _, op := range c.generator.operations {
		action := op.method == http.MethodPost && op.RequestBody == nil
		succeeded := slices.ContainsFunc(slices.Collect(maps.Keys(c.statuses[op.OperationID])), func(status int) bool {
			return status/100 == 2 || action && status == http.StatusConflict
		})
		require.True(c, succeeded, "no request to %s succeeded: %v", op.OperationID, c.statuses[op.OperationID])
	}
}

func (c *conversation) summary() {
	total := map[int]int{}
	for _, id := range slices.Sorted(maps.Keys(c.statuses)) {
		c.Logf("%-34s %v", id, c.statuses[id])
		for status, n := range c.statuses[id] {
			total[status] += n
		}
	}
	c.Logf("%-34s %v", "all", total)
}
