package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// apiServer is what a client sees of a Kubernetes API server that is some way
// off, as far as a sync worker uses it: objects of all kinds by their paths,
// lists, watches, and server-side apply by one owner.
type apiServer struct {
	*httptest.Server

	name string
	away time.Duration // there, and as much back

	mu      sync.Mutex
	hangs   bool
	objects map[string]object // by path
	events  []event           // all there ever were; the n-th leads to resource version n+1
	grown   chan struct{}     // closed with the next event
	applied func(object)      // is told of each object that was applied; nil: nobody
	applies int
}

// object is one in JSON.
type object map[string]any

// event is what watches tell.
type event struct {
	kind string // ADDED, MODIFIED or DELETED
	path string
	object
	at time.Time
}

// startAPIServer starts a server with the namespace by which clusters are told
// apart.
func startAPIServer(t testing.TB, name string, away time.Duration) *apiServer {
	t.Helper()
	s := &apiServer{name: name, away: away, objects: map[string]object{}, grown: make(chan struct{})}
	s.put("/api/v1/namespaces/kube-system", object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kube-system", "uid": name}})
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// config is that of a client.
func (s *apiServer) config() *rest.Config {
	return &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}

// hang has the server take requests from now on, and answer none. Nor do its
// watches tell anything.
func (s *apiServer) hang() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = true
}

// setService has the load balancer of the Service web have an address.
func (s *apiServer) setService(namespace, name, address string) {
	s.put("/api/v1/namespaces/"+namespace+"/services/"+name, object{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name, "namespace": namespace},
		"spec":   map[string]any{"type": "LoadBalancer", "ports": []any{map[string]any{"port": 443}}},
		"status": map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": address}}}},
	})
}

// ServeHTTP implements http.Handler.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	time.Sleep(s.away)
	s.mu.Lock()
	hangs := s.hangs
	s.mu.Unlock()
	if hangs {
		<-r.Context().Done()
		return
	}
	if r.URL.Query().Get("watch") == "true" {
		s.watch(w, r)
		return
	}
	status, answer := s.answer(r)
	time.Sleep(s.away)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // a client that has gone needs none
}

// answer does what a request asks for.
func (s *apiServer) answer(r *http.Request) (int, object) {
	path, brief := r.URL.Path, strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	switch {
	case r.Method == http.MethodPatch:
		var applied object
		if err := json.NewDecoder(r.Body).Decode(&applied); err != nil {
			return failure(http.StatusBadRequest, err.Error())
		}
		status, object := s.apply(path, applied)
		return status, object.asked(brief)
	case r.Method != http.MethodGet:
		return failure(http.StatusMethodNotAllowed, r.Method)
	case listed(path):
		return http.StatusOK, s.list(path, r.URL.Query().Get("labelSelector"), brief)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.objects[path]; found != nil {
		return http.StatusOK, found.asked(brief)
	}
	return failure(http.StatusNotFound, path)
}

func failure(code int, message string) (int, object) {
	reasons := map[int]string{http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict"}
	return code, object{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reasons[code], "message": message}
}

// apply takes an object's new content, unless it is not what the applier took
// it for.
func (s *apiServer) apply(path string, applied object) (int, object) {
	s.mu.Lock()
	known, tell := s.objects[path], s.applied
	s.applies++
	s.mu.Unlock()
	if had, wanted := known.metadata()["resourceVersion"], applied.metadata()["resourceVersion"]; known != nil && wanted != nil && wanted != had {
		return failure(http.StatusConflict, fmt.Sprintf("%s is at %v, not %v", path, had, wanted))
	}
	if applied["kind"] == "CustomResourceDefinition" {
		applied["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
	}
	s.put(path, applied)
	if tell != nil {
		tell(applied)
	}
	return http.StatusOK, applied
}

// put stores an object and has the watches know.
func (s *apiServer) put(path string, o object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, known := event{"ADDED", path, o, time.Now()}, s.objects[path]
	metadata := o.metadata()
	metadata["resourceVersion"], metadata["generation"] = strconv.Itoa(len(s.events)+1), len(s.events)+1
	switch {
	case known != nil:
		now.kind, metadata["uid"] = "MODIFIED", known.metadata()["uid"]
	case metadata["uid"] == nil:
		metadata["uid"] = s.name + path
	}
	s.objects[path] = o
	s.events = append(s.events, now)
	close(s.grown)
	s.grown = make(chan struct{})
}

// list answers all objects below a path, of one namespace or of all.
func (s *apiServer) list(path, selector string, brief bool) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []any{}
	for at, found := range s.objects {
		if within(path, at) && found.selected(selector) {
			items = append(items, found.asked(brief))
		}
	}
	list := object{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
	if !brief {
		list["kind"], list["apiVersion"] = listKind(path), strings.Join(groupVersion(path), "/")
	}
	list["metadata"], list["items"] = map[string]any{"resourceVersion": strconv.Itoa(len(s.events))}, items
	return list
}

// watch tells of all events behind a resource version, each as long after it as
// the way takes.
func (s *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	query, brief := r.URL.Query(), strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	next, err := strconv.Atoi(query.Get("resourceVersion"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	flush := http.NewResponseController(w)
	if flush.Flush() != nil {
		return
	}
	for {
		s.mu.Lock()
		fresh, grown, hangs := s.events[next:], s.grown, s.hangs
		s.mu.Unlock()
		next += len(fresh)
		for _, e := range fresh {
			if hangs || !within(r.URL.Path, e.path) || !e.selected(query.Get("labelSelector")) {
				continue
			}
			time.Sleep(time.Until(e.at.Add(s.away)))
			if json.NewEncoder(w).Encode(map[string]any{"type": e.kind, "object": e.asked(brief)}) != nil || flush.Flush() != nil {
				return
			}
		}
		select {
		case <-grown:
		case <-r.Context().Done():
			return
		}
	}
}

// metadata is that of an object; not nil if there is one.
func (o object) metadata() map[string]any {
	metadata, _ := o["metadata"].(map[string]any)
	return metadata
}

// asked is the object as it was asked for: whole, or its metadata alone.
func (o object) asked(brief bool) object {
	if !brief || o["kind"] == "Status" {
		return o
	}
	return object{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": o["metadata"]}
}

// selected tells whether the labels are those of a selector, of one label at
// most.
func (o object) selected(selector string) bool {
	key, value, equals := strings.Cut(selector, "=")
	labels, _ := o.metadata()["labels"].(map[string]any)
	return selector == "" || labels[key] != nil && (!equals || labels[key] == value)
}

// groupVersion are the first parts of a path behind /api or /apis.
func groupVersion(path string) []string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		return parts[1:2]
	}
	return parts[1:3]
}

// resource splits what is behind the version: the namespace, the resource and
// the name, which may be empty.
func resource(path string) (namespace, plural, name string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	parts = append(parts[len(groupVersion(path))+1:], "", "", "", "")
	if parts[0] == "namespaces" && parts[2] != "" {
		return parts[1], parts[2], parts[3]
	}
	return "", parts[0], parts[1]
}

func listed(path string) bool {
	_, _, name := resource(path)
	return name == ""
}

// within tells whether a list or watch at a path has an object.
func within(list, at string) bool {
	namespace, plural, _ := resource(list)
	of, is, _ := resource(at)
	return plural == is && (namespace == "" || namespace == of) && strings.Join(groupVersion(list), "/") == strings.Join(groupVersion(at), "/")
}

// listKind is the kind of a list of what clients have types for.
func listKind(path string) string {
	_, plural, _ := resource(path)
	kind := map[string]string{
		"services": "Service", "deployments": "Deployment", "daemonsets": "DaemonSet", "pods": "Pod", "nodes": "Node",
		"endpointslices": "EndpointSlice", "ingresses": "Ingress",
	}[plural]
	return kind + "List"
}

// The fake is one as far as client-go can tell: objects are listed, watched and
// applied, as metadata and whole.
func TestTheFakeAPIServerIsAsFarAwayAsItSays(t *testing.T) {
	const away = 10 * time.Millisecond
	s := startAPIServer(t, "a", away)
	client := s.Client()
	began := time.Now()
	answer, err := client.Get(s.URL + "/api/v1/namespaces/kube-system")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.GreaterOrEqual(t, time.Since(began), 2*away)

	status, _ := s.apply("/api/v1/namespaces/shop/configmaps/a", object{"metadata": map[string]any{"name": "a", "namespace": "shop"}})
	require.Equal(t, http.StatusOK, status)
	status, _ = s.apply("/api/v1/namespaces/shop/configmaps/a", object{"metadata": map[string]any{"resourceVersion": "1"}})
	require.Equal(t, http.StatusConflict, status, "who takes it for another is refused")
	require.Len(t, s.list("/api/v1/configmaps", "", true)["items"], 1)
	require.Empty(t, s.list("/api/v1/namespaces/other/configmaps", "", true)["items"])
}
