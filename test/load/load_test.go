package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

const (
	writers  = 200
	readers  = 2000
	projects = 10
	thinks   = 2 * time.Second // of a reader, between an answer and the next question
)

// crowd is a server with everybody who asks it.
type crowd struct {
	*testing.T
	server  *fixture.Signpost
	admin   client
	readers []*reader
	writers []*writer
}

// gather starts a server, the real program on its embedded store, and makes a
// subject of its own for each client.
func gather(t *testing.T) *crowd {
	program, err := fixture.Build(t.Context(), t.TempDir())
	require.NoError(t, err)
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	lines := []string{"admin,anna,admin"}
	for i := range writers {
		lines = append(lines, fmt.Sprintf("w%d,writer-%d,editor,p%d", i, i, i%projects))
	}
	for i := range readers {
		lines = append(lines, fmt.Sprintf("r%d,reader-%d,viewer", i, i))
	}
	require.NoError(t, os.WriteFile(tokens, []byte(strings.Join(lines, "\n")), 0o600))
	c := &crowd{T: t}
	c.server, err = fixture.NewSignpost(program, dir, "--token-file="+tokens, "--log-level=warn")
	require.NoError(t, err)
	t.Cleanup(c.server.Kill)
	require.NoError(t, c.server.Start(t.Context()))
	c.invite()
	return c
}

// invite makes the clients of the server in its present life, and what the
// readers look at.
func (c *crowd) invite() {
	base, err := c.server.URL()
	require.NoError(c, err)
	shared := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: readers + writers, DisableCompression: true}}
	c.admin = client{shared, base, "admin"}
	for i := range projects {
		status, answer, _, err := c.admin.ask(c.Context(), http.MethodPut, fmt.Sprintf("/v2/projects/p%d", i), fmt.Sprintf(`{"metadata":{"name":"p%d"}}`, i))
		require.NoError(c, err)
		require.Equal(c, 2, status/100, "%s", answer)
	}
	for i := range readers {
		c.readers = append(c.readers, &reader{client: client{shared, base, fmt.Sprintf("r%d", i)}, path: fmt.Sprintf("/v2/projects/p%d", i%projects)})
	}
	for i := range writers {
		c.writers = append(c.writers, &writer{client: client{shared, base, fmt.Sprintf("w%d", i)}, project: fmt.Sprintf("p%d", i%projects), name: fmt.Sprintf("w%d", i), acknowledged: map[string]string{}})
	}
}

// read has all readers look for some time, while others do what they do, and
// answers what became of their requests.
func (c *crowd) read(lasts time.Duration, meanwhile ...func(ctx context.Context)) tally {
	ctx, cancel := context.WithTimeout(c.Context(), lasts)
	defer cancel()
	var all sync.WaitGroup
	for _, r := range c.readers {
		r.tally = tally{}
		all.Go(func() { r.run(ctx, thinks) })
	}
	for _, other := range meanwhile {
		all.Go(func() { other(ctx) })
	}
	all.Wait()
	var sum tally
	for _, r := range c.readers {
		sum.add(r.tally)
	}
	return sum
}

func (t *tally) add(other tally) {
	t.done, t.shed = t.done+other.done, t.shed+other.shed
	t.took, t.faults = append(t.took, other.took...), append(t.faults, other.faults...)
}

// percentile is how long the fastest so many percent took at most.
func (t *tally) percentile(percent int) time.Duration {
	slices.Sort(t.took)
	return t.took[(len(t.took)-1)*percent/100]
}

// refused is the share of requests that were shed.
func (t *tally) refused() float64 { return float64(t.shed) / float64(t.shed+t.done) }

func (t *tally) String() string {
	return fmt.Sprintf("%d done, %d shed; half within %v, 99%% within %v, all within %v", t.done, t.shed, t.percentile(50), t.percentile(99), t.percentile(100))
}

// write is what all writers do.
func (c *crowd) write(ctx context.Context) {
	var all sync.WaitGroup
	for _, w := range c.writers {
		all.Go(func() { w.run(ctx) })
	}
	all.Wait()
}

// note fails the test on an error, wherever it comes up.
func (c *crowd) note(err error) {
	if err != nil {
		c.Error(err)
	}
}

// watch notes the most memory that the server has.
func (c *crowd) watch(most *int64) func(ctx context.Context) {
	return func(ctx context.Context) {
		for ; ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
			now, err := c.server.Resident()
			c.note(err)
			*most = max(*most, now)
		}
	}
}

// linger opens connections that send a header byte by byte, as slow loris does,
// and notes how long the server lets the most patient stay.
func (c *crowd) linger(longest *time.Duration) func(ctx context.Context) {
	const connections = 200
	return func(ctx context.Context) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for range connections {
			all.Go(func() {
				stayed, err := c.drip(ctx)
				c.note(err)
				mu.Lock()
				defer mu.Unlock()
				*longest = max(*longest, stayed)
			})
		}
		all.Wait()
	}
}

// drip is one such connection; it answers how long it lived.
func (c *crowd) drip(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(c.admin.base, "http://"))
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, connection)
	}()
	if _, err := io.WriteString(connection, "GET /v2/projects HTTP/1.1\r\nHost: x\r\nX-Slow: "); err != nil {
		return 0, err
	}
	drops := time.NewTicker(time.Second)
	defer drops.Stop()
	for {
		select {
		case <-gone:
			return time.Since(began), nil
		case <-ctx.Done():
			return 0, errors.New("the server never closed the connection")
		case <-drops.C:
			_, _ = io.WriteString(connection, "x")
		}
	}
}

// TestReadsStayFastWhileWritesAreShed: 200 writers that do not pause and 2,000
// readers for a minute, on the processors that there are, which they share with
// the server. Nobody gets an error but 429; reads stay fast; memory stays
// bounded; whoever sends a header slowly is shown out; and afterwards every
// acknowledged write is there, also after kill -9, and nothing of those that
// were shed.
func TestReadsStayFastWhileWritesAreShed(t *testing.T) {
	c := gather(t)
	idle := c.read(5 * time.Second)
	t.Logf("reads alone: %v", &idle)
	require.Empty(t, idle.faults)
	require.Zero(t, idle.shed)

	const (
		lasts    = time.Minute
		memory   = 768 << 20 // bytes; deploy's limit is 1 GiB
		patience = 20 * time.Second
	)
	var resident int64
	var stayed time.Duration
	reads := c.read(lasts, c.write, c.watch(&resident), c.linger(&stayed))
	var writes tally
	for _, w := range c.writers {
		writes.add(w.tally)
	}
	t.Logf("reads:  %v", &reads)
	t.Logf("writes: %v", &writes)
	after := c.read(5 * time.Second)
	t.Logf("reads alone, after: %v", &after)
	require.Empty(t, after.faults)
	fast := max(time.Second, 10*idle.percentile(99), 10*after.percentile(99)) // others may be at work on this machine
	t.Logf("memory: %d MiB at most; the slowest header was given up after %v", resident>>20, stayed)
	require.Empty(t, reads.faults, "no error but 429")
	require.Empty(t, writes.faults, "no error but 429")
	require.Less(t, reads.percentile(99), fast)
	require.Less(t, reads.refused(), max(0.01, writes.refused()/10), "it is writes that are shed")
	require.Less(t, resident, int64(memory))
	require.Less(t, stayed, patience)
	c.remains()
}

// remains checks that what was acknowledged is there, and nothing else, in the
// server's next life.
func (c *crowd) remains() {
	require.NoError(c, c.server.Restart(c.Context()))
	acknowledged, stored := map[string]string{}, map[string]string{}
	for _, w := range c.writers {
		for record, value := range w.acknowledged {
			acknowledged[w.project+"/"+record] = value
		}
	}
	base, err := c.server.URL()
	require.NoError(c, err)
	c.admin.base = base
	for i := range projects {
		project := fmt.Sprintf("p%d", i)
		found, err := c.admin.stored(c.Context(), project)
		require.NoError(c, err)
		for record, value := range found {
			stored[project+"/"+record] = value
		}
	}
	require.Equal(c, acknowledged, stored)
}
