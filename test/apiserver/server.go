// Package apiserver is a Kubernetes API server inside the test's process. It
// answers as far as Signpost and external-dns ask: objects of all kinds by
// their paths, lists, watches, server-side apply by one owner, deletion with
// preconditions, status, and the discovery of DNSEndpoints. It admits
// everything and everybody. What a real kube-apiserver does beyond that is
// proven on real ones.
package apiserver

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Server is a Kubernetes API server in this process.
type Server struct {
	*httptest.Server

	// Applied is told of each object that was applied, unless it is nil. Set it
	// before the first request.
	Applied func(Object)

	name string
	away time.Duration // there, and as much back

	mu      sync.Mutex
	hangs   bool
	objects map[string]Object   // by path
	kinds   map[string][]string // the paths of each kind, in order
	events  []event             // all there ever were; the n-th leads to resource version n+1
	grown   chan struct{}       // closed with the next event
	applies int
}

// event is what watches tell.
type event struct {
	kind string // ADDED, MODIFIED or DELETED
	path string
	Object
	at time.Time
}

// Start starts a server with the namespace by which clusters are told apart.
// A request takes the time away to arrive, and its answer as long to come back.
// The server ends with the test.
func Start(t testing.TB, name string, away time.Duration) *Server {
	t.Helper()
	s := &Server{name: name, away: away, objects: map[string]Object{}, kinds: map[string][]string{}, grown: make(chan struct{})}
	s.Put("/api/v1/namespaces/kube-system", Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kube-system", "uid": name}})
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Config is the configuration of a client.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}

// Hang makes the server take requests and answer none from now on. Its watches
// tell nothing either.
func (s *Server) Hang() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = true
}

// Applies returns how many objects were applied so far.
func (s *Server) Applies() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applies
}

// Get returns the object at a path, or nil.
func (s *Server) Get(path string) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[path]
}

// SetService gives the load balancer of a Service an address.
func (s *Server) SetService(namespace, name, address string) {
	s.Put("/api/v1/namespaces/"+namespace+"/services/"+name, Object{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name, "namespace": namespace},
		"spec":   map[string]any{"type": "LoadBalancer", "ports": []any{map[string]any{"port": 443}}},
		"status": map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": address}}}},
	})
}

// Put stores an object and tells the watches.
func (s *Server) Put(path string, o Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(path, o)
}

func (s *Server) put(path string, o Object) {
	known, metadata, kind := s.objects[path], o.metadata(), "ADDED"
	version := len(s.events) + 1
	metadata["resourceVersion"], metadata["generation"] = strconv.Itoa(version), version
	switch {
	case known != nil:
		kind, metadata["uid"] = "MODIFIED", known.metadata()["uid"]
	case metadata["uid"] == nil:
		metadata["uid"] = s.name + path + strconv.Itoa(version)
	}
	s.objects[path] = o
	if at, is := slices.BinarySearch(s.kinds[kindOf(path)], path); !is {
		s.kinds[kindOf(path)] = slices.Insert(s.kinds[kindOf(path)], at, path)
	}
	s.tell(kind, path, o)
}

// tell adds an event. The caller holds the lock.
func (s *Server) tell(kind, path string, o Object) {
	s.events = append(s.events, event{kind, path, o, time.Now()})
	close(s.grown)
	s.grown = make(chan struct{})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	_ = json.NewEncoder(w).Encode(answer) //nolint:errchkjson // a client that has gone needs none
}

// answer does what a request asks for.
func (s *Server) answer(r *http.Request) (int, Object) {
	path, brief := r.URL.Path, strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	if r.Method == http.MethodGet {
		if found := discovered(path); found != nil {
			return http.StatusOK, found
		}
		if listed(path) {
			return http.StatusOK, s.list(path, r.URL.Query(), brief)
		}
		if found := s.Get(path); found != nil {
			return http.StatusOK, found.asked(brief)
		}
		return failure(http.StatusNotFound, path)
	}
	sent := Object{}
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil && r.Method != http.MethodDelete {
		return failure(http.StatusBadRequest, err.Error())
	}
	switch r.Method {
	case http.MethodPatch:
		status, applied := s.apply(path, sent)
		return status, applied.asked(brief)
	case http.MethodPut:
		path = strings.TrimSuffix(path, "/status")
		if !s.SetStatus(path, sent["status"]) {
			return failure(http.StatusNotFound, path)
		}
		return http.StatusOK, s.Get(path)
	case http.MethodDelete:
		return s.remove(path, sent)
	case http.MethodPost: // a review of rights: everybody may do everything
		sent["status"] = map[string]any{"allowed": true}
		return http.StatusCreated, sent
	default:
		return failure(http.StatusMethodNotAllowed, r.Method)
	}
}

// apply takes an object's new content, unless it is not what the applier took
// it for.
func (s *Server) apply(path string, applied Object) (int, Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applies++
	known := s.objects[path]
	if had, wanted := known.metadata()["resourceVersion"], applied.metadata()["resourceVersion"]; known != nil && wanted != nil && wanted != had {
		return failure(http.StatusConflict, fmt.Sprintf("%s is at %v, not %v", path, had, wanted))
	}
	switch {
	case applied["kind"] == "CustomResourceDefinition":
		applied["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
	case known["status"] != nil:
		applied["status"] = known["status"]
	}
	s.put(path, applied)
	if s.Applied != nil {
		s.Applied(applied)
	}
	return http.StatusOK, applied
}

// SetStatus replaces the status of the object at a path and nothing else. It
// reports whether there is such an object.
func (s *Server) SetStatus(path string, status any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.objects[path]
	if known == nil {
		return false
	}
	changed := maps.Clone(known)
	metadata := maps.Clone(known.metadata())
	metadata["resourceVersion"] = strconv.Itoa(len(s.events) + 1)
	changed["metadata"], changed["status"] = metadata, status
	s.objects[path] = changed
	s.tell("MODIFIED", path, changed)
	return true
}

// remove deletes an object, and with a namespace all that is in it, if it is
// the one that the preconditions speak of.
func (s *Server) remove(path string, options Object) (int, Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.objects[path]
	if known == nil {
		return failure(http.StatusNotFound, path)
	}
	preconditions, _ := options["preconditions"].(map[string]any)
	for field, wanted := range preconditions {
		if had := known.metadata()[field]; had != wanted {
			return failure(http.StatusConflict, fmt.Sprintf("%s of %s is %v, not %v", field, path, had, wanted))
		}
	}
	for at, o := range s.objects {
		_, inside := strings.CutPrefix(at, path+"/")
		namespaced, _, _ := resource(at)
		if at == path || inside || known["kind"] == "Namespace" && namespaced == known.metadata()["name"] {
			delete(s.objects, at)
			if n, is := slices.BinarySearch(s.kinds[kindOf(at)], at); is {
				s.kinds[kindOf(at)] = slices.Delete(s.kinds[kindOf(at)], n, n+1)
			}
			s.tell("DELETED", at, o)
		}
	}
	return http.StatusOK, known
}

// list answers all objects below a path, of one namespace or of all, in pages of the limit that is asked for.
func (s *Server) list(path string, query url.Values, brief bool) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths := s.kinds[kindOf(path)]
	if name, one := strings.CutPrefix(query.Get("fieldSelector"), "metadata.name="); one { // of one namespace
		paths = slices.DeleteFunc([]string{path + "/" + name}, func(at string) bool { return s.objects[at] == nil })
	}
	version, at, further := strings.Cut(query.Get("continue"), " ")
	if !further {
		version = strconv.Itoa(len(s.events)) // of all pages: watches tell what has changed since
	}
	metadata, items := map[string]any{"resourceVersion": version}, []any{}
	limit, _ := strconv.Atoi(query.Get("limit"))
	from, _ := slices.BinarySearch(paths, at)
	for _, at := range paths[from:] {
		found := s.objects[at]
		if !within(path, at) || !found.selected(query.Get("labelSelector")) {
			continue
		}
		if limit > 0 && len(items) == limit {
			metadata["continue"] = version + " " + at
			break
		}
		items = append(items, found.asked(brief))
	}
	list := Object{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
	if !brief {
		list["kind"], list["apiVersion"] = listKind(path), strings.Join(groupVersion(path), "/")
	}
	list["metadata"], list["items"] = metadata, items
	return list
}

// watch tells of all events after a resource version, each as long after it as
// the way takes.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
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
			told := json.NewEncoder(w).Encode(map[string]any{"type": e.kind, "object": e.asked(brief)})
			if told != nil || flush.Flush() != nil {
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

// Items returns the objects below the path of a collection, of one namespace or
// of all, in the order of their paths.
func (s *Server) Items(path string) []Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var items []Object
	for _, at := range s.kinds[kindOf(path)] {
		found := s.objects[at]
		if within(path, at) {
			items = append(items, found)
		}
	}
	return items
}

// Kubeconfig returns a kubeconfig for the server, all data inline.
func (s *Server) Kubeconfig() ([]byte, error) {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{s.name: {Server: s.URL, CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"anybody": {Token: "none is needed"}},
		Contexts:       map[string]*clientcmdapi.Context{s.name: {Cluster: s.name, AuthInfo: "anybody"}},
		CurrentContext: s.name,
	})
}
