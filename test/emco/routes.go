package emco

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
)

// collection is a kind of document with its place in the paths.
type collection struct {
	path    string     // of the collection, below /v2/
	item    string     // pattern of a document's name
	shape   func() any // a new, empty document
	called  string     // "… not found", "… already exists"
	hasFile bool       // the body is a form with the fields metadata and file
	null    bool       // a list of none is null, not []
	fixed   bool       // there is no PUT
}

// The paths that others are below.
const (
	projectPath  = "projects/{project}"
	appsPath     = projectPath + "/composite-apps/{compositeApp}/{compositeAppVersion}"
	digPath      = appsPath + "/deployment-intent-groups/{deploymentIntentGroup}"
	cloudPath    = projectPath + "/logical-clouds/{logicalCloud}"
	clustersPath = "cluster-providers/{clusterProvider}/clusters"
)

func shape[T any]() any { return new(T) }

func orchestratorCollections() []collection {
	placements := digPath + "/generic-placement-intents"
	return []collection{
		{path: "projects", item: "{project}", shape: shape[named], called: "Project", null: true},
		{path: "controllers", item: "{controller}", shape: shape[controller], called: "Controller", null: true},
		{path: projectPath + "/composite-apps", item: "{compositeApp}/{compositeAppVersion}", shape: shape[compositeApp], called: "CompositeApp"},
		{path: appsPath + "/apps", item: "{app}", shape: shape[named], called: "App", hasFile: true, null: true},
		{path: appsPath + "/deployment-intent-groups", item: "{deploymentIntentGroup}", shape: shape[deploymentIntentGroup], called: "DeploymentIntentGroup"},
		{path: digPath + "/intents", item: "{groupIntent}", shape: shape[groupIntent], called: "Intent"},
		{path: placements, item: "{genericPlacementIntent}", shape: shape[named], called: "GenericPlacementIntent"},
		{
			path: placements + "/{genericPlacementIntent}/app-intents", item: "{genericAppPlacementIntent}",
			shape: shape[appIntent], called: "AppIntent",
		},
	}
}

func dcmCollections() []collection {
	return []collection{
		{path: projectPath + "/logical-clouds", item: "{logicalCloud}", shape: shape[logicalCloud], called: "Logical Cloud", null: true},
		{path: cloudPath + "/cluster-references", item: "{clusterReference}", shape: shape[clusterReference], called: "Cluster reference", null: true, fixed: true},
		{path: cloudPath + "/user-permissions", item: "{userPermission}", shape: shape[userPermission], called: "User Permission", null: true, fixed: true},
		{path: cloudPath + "/kv-pairs", item: "{logicalCloudKv}", shape: shape[kvPairs], called: "Key Value", null: true, fixed: true},
	}
}

func clmCollections() []collection {
	return []collection{
		{path: "cluster-providers", item: "{clusterProvider}", shape: shape[named], called: "Cluster provider"},
		{path: clustersPath, item: "{cluster}", shape: shape[cluster], called: "Cluster", hasFile: true, fixed: true},
		{path: clustersPath + "/{cluster}/labels", item: "{clusterLabel}", shape: shape[clusterLabel], called: "Cluster label"},
		{path: clustersPath + "/{cluster}/kv-pairs", item: "{clusterKv}", shape: shape[kvPairs], called: "Cluster key value pair"},
	}
}

// routes serves collections, and what is special: other methods and paths, and
// those that are answered in a way of their own.
func routes(docs *documents, collections []collection, special map[string]http.HandlerFunc) http.Handler {
	handlers := map[string]http.HandlerFunc{}
	for _, c := range collections {
		handlers["POST /v2/"+c.path] = c.create(docs)
		handlers["GET /v2/"+c.path] = c.list(docs)
		if !c.fixed {
			handlers["PUT /v2/"+c.path+"/"+c.item] = c.replace(docs)
		}
		handlers["GET /v2/"+c.path+"/"+c.item] = c.read(docs)
		handlers["DELETE /v2/"+c.path+"/"+c.item] = c.remove(docs)
	}
	maps.Copy(handlers, special)
	mux := http.NewServeMux()
	for pattern, handler := range handlers {
		mux.HandleFunc(pattern, handler)
	}
	return mux
}

// below is a request's path as documents are kept.
func below(r *http.Request) string {
	return strings.Trim(strings.TrimPrefix(r.URL.Path, "/v2/"), "/")
}

func (c collection) create(docs *documents) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, name, ok := c.accept(w, r)
		if !ok {
			return
		}
		if docs.isOrphan(below(r)) {
			http.Error(w, noParent, http.StatusConflict)
			return
		}
		path := below(r) + "/" + name
		if _, exists := docs.get(path); exists {
			http.Error(w, c.called+" already exists", http.StatusConflict)
			return
		}
		docs.put(path, value)
		answer(w, http.StatusCreated, value.value)
	}
}

// noParent is what EMCO's database says of a document that would hang in the
// air, to POST and PUT alike.
const noParent = "Cannot perform requested operation. Parent resource not found"

// isOrphan tells whether the document that a collection belongs to is missing.
func (d *documents) isOrphan(collection string) bool {
	cut := strings.LastIndex(collection, "/")
	if cut < 0 {
		return false
	}
	_, exists := d.get(collection[:cut])
	return !exists
}

func (c collection) replace(docs *documents) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, name, ok := c.accept(w, r)
		if !ok {
			return
		}
		if !strings.HasSuffix(below(r), "/"+name) {
			http.Error(w, "Mismatched name in PUT request", http.StatusBadRequest)
			return
		}
		if docs.isOrphan(strings.TrimSuffix(below(r), "/"+name)) {
			http.Error(w, noParent, http.StatusConflict)
			return
		}
		docs.put(below(r), value)
		answer(w, http.StatusCreated, value.value)
	}
}

func (c collection) read(docs *documents) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		found, exists := docs.get(below(r))
		if !exists {
			http.Error(w, c.called+" not found", http.StatusNotFound)
			return
		}
		if c.hasFile {
			answerWithFile(w, r, found)
			return
		}
		answer(w, http.StatusOK, found.value)
	}
}

func (c collection) list(docs *documents) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var values []any
		if !c.null {
			values = []any{}
		}
		for _, found := range docs.in(below(r), strings.Count(c.item, "/")+1) {
			values = append(values, found.value)
		}
		answer(w, http.StatusOK, values)
	}
}

func (c collection) remove(docs *documents) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, exists := docs.get(below(r)); !exists {
			http.Error(w, "The requested resource not found", http.StatusNotFound)
			return
		}
		if docs.hasBelow(below(r)) {
			http.Error(w, "Cannot delete parent without deleting child references first", http.StatusConflict)
			return
		}
		docs.remove(below(r))
		w.WriteHeader(http.StatusNoContent)
	}
}

// accept reads a body into the collection's shape and answers it with its name
// in paths; false if the request has been answered with what is wrong.
func (c collection) accept(w http.ResponseWriter, r *http.Request) (document, string, bool) {
	body, file, err := c.body(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return document{}, "", false
	}
	value := c.shape()
	switch err := json.Unmarshal(body, value); {
	case len(body) == 0:
		http.Error(w, "Empty body", http.StatusBadRequest)
		return document{}, "", false
	case err != nil:
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return document{}, "", false
	}
	if err := complete(value); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return document{}, "", false
	}
	return document{value: value, file: file}, nameOf(value), true
}

// body reads a body, and the file of a form.
func (c collection) body(r *http.Request) (body, file []byte, err error) {
	if !c.hasFile {
		body, err = io.ReadAll(r.Body)
		return body, nil, err
	}
	content, _, err := r.FormFile("file")
	if err != nil {
		return nil, nil, errors.New("Unable to process file") //nolint:staticcheck // EMCO's words
	}
	defer content.Close()
	file, err = io.ReadAll(content)
	return []byte(r.FormValue("metadata")), file, err
}

func answer(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that has gone misses it
}
