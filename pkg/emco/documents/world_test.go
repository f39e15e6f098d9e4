package documents_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/documents"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// none is how EMCO answers metadata that was not given.
const none = `"description":"","userData1":"","userData2":""`

// answers are what EMCO's services say of a small installation, byte by byte.
func answers() map[string]string {
	return map[string]string{
		"projects":                                         `[{"metadata":{"name":"shop","description":"the shop","userData1":"a","userData2":""}},{"metadata":{"name":"Lab",` + none + `}}]`,
		"projects/shop":                                    `{"metadata":{"name":"shop","description":"the shop","userData1":"a","userData2":""}}`,
		"projects/Lab":                                     `{"metadata":{"name":"Lab",` + none + `}}`,
		"projects/shop/composite-apps":                     `[{"metadata":{"name":"store",` + none + `},"spec":{"compositeAppVersion":"v2"}},{"metadata":{"name":"store",` + none + `},"spec":{"compositeAppVersion":"v1"}}]`,
		"projects/shop/composite-apps/store/v1":            `{"metadata":{"name":"store",` + none + `},"spec":{"compositeAppVersion":"v1"}}`,
		"projects/shop/composite-apps/store/v1/apps":       `[{"metadata":{"name":"web",` + none + `}},{"metadata":{"name":"cart",` + none + `}}]`,
		"projects/shop/composite-apps/store/v2/apps":       `null`,
		string(prod):                                       `{"metadata":{"name":"prod",` + none + `},"spec":{"compositeProfile":"plain","version":"r1","overrideValues":null,"logicalCloud":"eu"}}`,
		prod.Collection():                                  `[{"metadata":{"name":"prod",` + none + `},"spec":{"compositeProfile":"plain","version":"r1","overrideValues":null,"logicalCloud":"eu"}}]`,
		"projects/shop/logical-clouds":                     `[{"metadata":{"name":"eu",` + none + `},"spec":{"namespace":"shop-eu","labels":null,"level":"1","user":{"userName":"u","type":"certificate"}}}]`,
		string(eu):                                         `{"metadata":{"name":"eu",` + none + `},"spec":{"namespace":"shop-eu","labels":null,"level":"1","user":{"userName":"u","type":"certificate"}}}`,
		"projects/shop/logical-clouds/admin":               `{"metadata":{"name":"admin",` + none + `},"spec":{"namespace":"x","labels":null,"level":"0","user":{"userName":"","type":""}}}`,
		"projects/shop/logical-clouds/us":                  `{"metadata":{"name":"us",` + none + `},"spec":{"namespace":"","labels":null,"level":"1","user":{"userName":"","type":""}}}`,
		string(eu) + "/cluster-references":                 `[{"metadata":{"name":"paris",` + none + `},"spec":{"clusterProvider":"edge","cluster":"paris","loadBalancerIP":"","certificate":""}}]`,
		string(eu) + "/cluster-references/paris":           `{"metadata":{"name":"paris",` + none + `},"spec":{"clusterProvider":"edge","cluster":"paris","loadBalancerIP":"","certificate":""}}`,
		string(eu) + "/kv-pairs":                           `null`,
		string(eu) + "/kv-pairs/dns-update-record-list":    `{"metadata":{"name":"dns-update-record-list",` + none + `},"spec":{"kv":[{"key1":"lab"},{"n":1.50}]}}`,
		"cluster-providers":                                `[{"metadata":{"name":"edge",` + none + `}}]`,
		"cluster-providers/edge":                           `{"metadata":{"name":"edge",` + none + `}}`,
		"cluster-providers/edge/clusters":                  `[{"metadata":{"name":"paris",` + none + `},"spec":{"gitOps":{"gitOpsType":"","gitOpsReferenceObject":"","gitOpsResourceObject":""}}},{"metadata":{"name":"flux",` + none + `},"spec":{"gitOps":{"gitOpsType":"fluxcd","gitOpsReferenceObject":"r","gitOpsResourceObject":"r"}}}]`,
		string(paris):                                      `{"metadata":{"name":"paris",` + none + `},"spec":{"gitOps":{"gitOpsType":"","gitOpsReferenceObject":"","gitOpsResourceObject":""}}}`,
		string(paris) + " as a file":                       kubeconfig,
		string(paris) + "/labels":                          `[{"clusterLabel":"west"},{"clusterLabel":"big"}]`,
		"cluster-providers/edge/clusters/flux/labels":      `[]`,
		string(paris) + "/kv-pairs":                        `[]`,
		string(paris) + "/kv-pairs/dns-update-record-list": `{"metadata":{"name":"dns-update-record-list",` + none + `},"spec":{"kv":null}}`,
	}
}

const (
	shop  intent.Path = "projects/shop"
	eu    intent.Path = "projects/shop/logical-clouds/eu"
	prod  intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	paris intent.Path = "cluster-providers/edge/clusters/paris"
	lab   intent.Path = "projects/shop/dns-update-records/lab"

	kubeconfig = "apiVersion: v1\nkind: Config\nusers: [{name: admin, user: {token: s3cr3t}}]\n"
)

// world is an EMCO whose three services are one server.
type world struct {
	t      testing.TB
	server *httptest.Server
	data   *kvtest.Fake

	mu      sync.Mutex
	answers map[string]string // by path below /v2/
	status  map[string]int    // instead of 200, 0 for that
	hook    func(path string) // before each answer
	asked   map[string]int
	now     time.Time
}

func newWorld(t testing.TB) *world {
	w := &world{
		t: t, data: kvtest.NewFake(), answers: answers(), status: map[string]int{}, asked: map[string]int{},
		now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC),
	}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	return w
}

func (w *world) serve(to http.ResponseWriter, r *http.Request) {
	path, below := strings.CutPrefix(r.URL.Path, "/v2/")
	if r.Header.Get("Accept") == "application/octet-stream" {
		path += " as a file"
	}
	w.mu.Lock()
	hook := w.hook
	w.asked[path]++
	w.mu.Unlock()
	if hook != nil {
		hook(path)
	}
	w.mu.Lock()
	body, exists := w.answers[path]
	status := w.status[path]
	w.mu.Unlock()
	switch {
	case !below || r.Method != http.MethodGet || r.Header.Get("Accept") == "":
		to.WriteHeader(http.StatusNotAcceptable)
		return
	case status == 0 && !exists:
		status, body = http.StatusNotFound, "Project not found\n"
	case status == 0:
		status = http.StatusOK
	}
	if status/100 == 3 {
		to.Header().Set("Location", "/v2/projects/Lab")
	}
	to.WriteHeader(status)
	_, _ = to.Write([]byte(body))
}

// say changes an answer; nothing means that there is no such document.
func (w *world) say(path intent.Path, body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.answers, string(path))
	if body != "" {
		w.answers[string(path)] = body
	}
	w.now = w.now.Add(documents.DefaultFresh) // what was said before is old
}

func (w *world) fail(path intent.Path, status int, body string) {
	w.say(path, body)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status[string(path)] = status
}

func (w *world) meanwhile(hook func(path string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = hook
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) requests(path intent.Path) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[string(path)]
}

// store is a store as of one replica; all work on the same data.
func (w *world) store(change ...func(*documents.Options)) *documents.Store {
	base, err := url.Parse(w.server.URL)
	require.NoError(w.t, err)
	options := documents.Options{
		Orchestrator: base, DCM: base, CLM: base, Now: w.clock,
		Namespace: func(project string) string { return "signpost-" + strings.ToLower(project) },
		Digest: func(kubeconfig []byte) string {
			return "digest" + string(kubeconfig[len(kubeconfig)-4:len(kubeconfig)-3])
		},
	}
	for _, c := range change {
		c(&options)
	}
	return documents.New(etcd.New(w.data), options)
}

func (w *world) get(s *documents.Store, path intent.Path) intent.Document {
	w.t.Helper()
	doc, err := s.Get(w.t.Context(), path)
	require.NoError(w.t, err)
	return doc
}

func (w *world) names(s *documents.Store, collection string) []string {
	w.t.Helper()
	page, err := s.List(w.t.Context(), intent.ListOptions{Collection: collection})
	require.NoError(w.t, err)
	names := []string{}
	for _, doc := range page.Items {
		names = append(names, doc.Path.Name())
		one, err := s.Get(w.t.Context(), doc.Path)
		if intent.CodeOf(err) != intent.NotFound {
			require.NoError(w.t, err)
			require.Equal(w.t, one, doc, "a list and a single reading agree")
		}
	}
	return names
}

// requireUnavailable requires an error that names the service, its URL and
// what else there is to say.
func (w *world) requireUnavailable(err error, says ...string) {
	w.t.Helper()
	require.Error(w.t, err)
	require.Equal(w.t, intent.Unavailable, intent.CodeOf(err), err)
	for _, text := range append(says, "EMCO's ", w.server.URL) {
		require.ErrorContains(w.t, err, text)
	}
}
