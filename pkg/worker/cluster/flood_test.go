package cluster_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

const (
	roomOfAll  = 4 << 20  // of the cluster in these tests
	floodEnds  = 96 << 20 // bytes after which an answer ends that nobody stops
	floodMost  = 48 << 20 // bytes of one that was stopped, with what is on the way
	emptyList  = `{"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`
	listsBegin = `{"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"more"},"items":[`
)

// flood is an API server that answers the Services of namespace shop without end,
// and all else as a good one does that has nothing.
type flood struct {
	lists, watches func(f *flood, w io.Writer) // nil: in good order
	gzip           bool
	media          string
	sent           atomic.Int64 // bytes, before compression
}

func (f *flood) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	media, answer := "application/json", f.lists
	if r.URL.Query().Get("watch") != "" {
		answer = f.watches
	}
	switch {
	case !strings.HasSuffix(r.URL.Path, "/namespaces/shop/services"):
		w.WriteHeader(http.StatusNotFound)
		return
	case answer == nil && r.URL.Query().Get("watch") != "":
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	case answer == nil:
		answer = func(_ *flood, w io.Writer) { _, _ = io.WriteString(w, emptyList) }
	case f.media != "":
		media = f.media
	}
	w.Header().Set("Content-Type", media)
	if f.gzip {
		w.Header().Set("Content-Encoding", "gzip")
		packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		defer packed.Close()
		answer(f, packed)
		return
	}
	answer(f, w)
}

// pour writes the first text, and the other without end. Each answer is a flood of
// its own: one that begins after others had theirs is as long.
func (f *flood) pour(w io.Writer, first, then string) {
	_, err := io.WriteString(w, first)
	chunk := []byte(strings.Repeat(then, 1+(64<<10)/len(then)))
	for poured := 0; err == nil && poured < floodEnds; poured += len(chunk) {
		f.sent.Add(int64(len(chunk)))
		_, err = w.Write(chunk)
	}
}

func (f *flood) connect(t *testing.T) (*kubeapi.Kubernetes, *bounded.Budget) {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	budget := bounded.NewBudget(roomOfAll)
	k, err := kubeapi.NewKubernetes(&rest.Config{Host: server.URL}, cluster.Options{Installation: installation, Budget: budget})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	return k, budget
}

// watched is a watch over a cluster, until the test has ended.
func watched(t *testing.T, k *kubeapi.Kubernetes) cluster.Watches {
	t.Helper()
	w := k.Watch(t.Context(), cluster.Quiet())
	t.Cleanup(w.Stop)
	w.Follow(cluster.Interest{Namespaces: []string{"shop"}})
	return w
}

const event = `{"type":"ADDED","object":{"kind":"Service","apiVersion":"v1","metadata":{"name":"s-%d","namespace":"shop","resourceVersion":"%d"},"spec":{"externalIPs":[%q]}}}` + "\n"

func floods() map[string]*flood {
	name := strings.Repeat("x", 8<<10)
	return map[string]*flood{
		"a list without end": {lists: func(f *flood, w io.Writer) { f.pour(w, listsBegin+`{"metadata":{"name":"`, "x") }},
		"a small answer that is large when it is unpacked": {gzip: true, lists: func(f *flood, w io.Writer) { f.pour(w, listsBegin+`{"metadata":{"name":"`, "x") }},
		"many objects of two characters":                   {lists: func(f *flood, w io.Writer) { f.pour(w, listsBegin, `{},`) }},
		"objects that are no objects":                      {lists: func(f *flood, w io.Writer) { f.pour(w, listsBegin, `1,`) }},
		"objects in objects":                               {lists: func(f *flood, w io.Writer) { f.pour(w, listsBegin, `{"a":`) }},
		"pages without end": {lists: func(f *flood, w io.Writer) {
			var page strings.Builder
			for n := range 100 {
				fmt.Fprintf(&page, `{"metadata":{"name":"s-%d-%d","namespace":"shop"},"spec":{"externalIPs":[%q]}},`, f.sent.Load(), n, name)
			}
			f.sent.Add(int64(page.Len()))
			_, _ = io.WriteString(w, listsBegin+strings.TrimSuffix(page.String(), ",")+`]}`)
		}},
		"a line of a watch without end": {watches: func(f *flood, w io.Writer) { f.pour(w, `{"type":"ADDED","object":{"kind":"`, "x") }},
		"a line of a watch that has many elements": {watches: func(f *flood, w io.Writer) {
			f.pour(w, `{"type":"ADDED","object":{"kind":"Service","apiVersion":"v1","spec":{"ports":[`, `{},`)
		}},
		"a watch that sends empty lines": {watches: func(f *flood, w io.Writer) { f.pour(w, "", "\n") }},
		"events without end": {watches: func(f *flood, w io.Writer) {
			for n := 0; f.sent.Load() < floodEnds; n++ {
				sent, err := fmt.Fprintf(w, event, n, n+8, name)
				if err != nil {
					return
				}
				f.sent.Add(int64(sent))
			}
		}},
	}
}

// TestAClusterThatAnswersTooMuchIsNotKnown (I11) checks that no flood is read to its
// end, that what the cluster offers counts as unknown, that the reason is told, and
// that nothing of it is kept.
func TestAClusterThatAnswersTooMuchIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, f := range floods() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, budget := f.connect(t)
			w := watched(t, k)
			require.Eventually(t, func() bool { return w.Trouble() != nil }, 10*time.Second, time.Millisecond)
			require.Regexp(t, "would take more than (1|2|4) MiB of memory|nests too many lists and objects", w.Trouble().Error())
			_, known := w.Service("shop", "web")
			require.False(t, known)
			require.Zero(t, budget.Kept())
			if !f.gzip { // of which all fits into buffers on the way
				require.Less(t, f.sent.Load(), int64(floodMost))
			}
		})
	}
}

// TestALookAtAClusterIsBounded likewise, for a plan, and leaves nothing behind.
func TestALookAtAClusterIsBounded(t *testing.T) {
	t.Parallel()
	for name, f := range floods() {
		if f.lists == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, budget := f.connect(t)
			_, err := k.Offer(t.Context(), "shop", "web")
			require.Error(t, err)
			require.Equal(t, fault.Unreachable, fault.Of(err))
			require.Zero(t, budget.Kept())
			if !f.gzip { // of which all fits into buffers on the way
				require.Less(t, f.sent.Load(), int64(floodMost))
			}
		})
	}
}

// TestOnlyJSONIsDecoded checks that a cluster cannot choose a form that nobody has
// weighed.
func TestOnlyJSONIsDecoded(t *testing.T) {
	t.Parallel()
	for _, media := range []string{"application/vnd.kubernetes.protobuf", "application/yaml", "application/cbor"} {
		f := &flood{media: media, lists: func(_ *flood, w io.Writer) { _, _ = io.WriteString(w, emptyList) }}
		k, _ := f.connect(t)
		_, err := k.Offer(t.Context(), "shop", "web")
		require.ErrorContains(t, err, "serializer for text/plain doesn't exist", media)
	}
}

// TestPagesBecomeSmaller checks that a cluster with many large objects is known, in
// smaller pages, and that the next list begins with these.
func TestPagesBecomeSmaller(t *testing.T) {
	t.Parallel()
	const objects = 120
	var limits []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/nodes") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		limits = append(limits, r.URL.Query().Get("limit"))
		var limit, at int
		_, _ = fmt.Sscan(r.URL.Query().Get("limit"), &limit)
		_, _ = fmt.Sscan(r.URL.Query().Get("continue"), &at)
		var items []string
		for ; at < objects && len(items) < limit; at++ {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":"n-%03d"},"status":{"images":[%s{}]}}`, at, strings.Repeat("{},", 30)))
		}
		next := ""
		if at < objects {
			next = fmt.Sprint(at)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
	}))
	t.Cleanup(server.Close)
	budget := bounded.NewBudget(roomOfAll)
	k, err := kubeapi.NewKubernetes(&rest.Config{Host: server.URL}, cluster.Options{Installation: installation, Budget: budget})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	nodes, err := k.Nodes(t.Context())
	require.NoError(t, err)
	require.Len(t, nodes, objects)
	require.Greater(t, len(limits), 3)
	require.Equal(t, []string{"500", "62", "7"}, limits[:3])
	require.Zero(t, budget.Kept())
}

// TestHeadersOfAClusterAreBounded over HTTP/1.1 and HTTP/2.
func TestHeadersOfAClusterAreBounded(t *testing.T) {
	t.Parallel()
	for _, two := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for n := range 40 {
				w.Header().Set(fmt.Sprintf("X-%d", n), strings.Repeat("x", bounded.HeaderBytes/20))
			}
		}))
		server.EnableHTTP2 = two
		server.StartTLS()
		t.Cleanup(server.Close)
		k, err := kubeapi.NewKubernetes(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, cluster.Options{})
		require.NoError(t, err)
		t.Cleanup(k.Close)
		_, err = k.Identity(t.Context())
		require.Error(t, err)
		require.Regexp(t, "server response headers exceeded|PROTOCOL_ERROR", err.Error())
	}
}
