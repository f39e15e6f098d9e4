package emco

import (
	"slices"
	"strings"
	"sync"
)

// documents are what EMCO's services keep in their common database, by the
// path that they are read at.
type documents struct {
	mu     sync.Mutex
	order  []string // paths, in the order in which they were made
	byPath map[string]document
}

type document struct {
	value any    // a pointer to one of the shapes
	file  []byte // of a cluster its kubeconfig, of an app its manifests
}

func newDocuments() *documents { return &documents{byPath: map[string]document{}} }

func (d *documents) put(path string, value document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, exists := d.byPath[path]; !exists {
		d.order = append(d.order, path)
	}
	d.byPath[path] = value
}

func (d *documents) get(path string) (document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	value, exists := d.byPath[path]
	return value, exists
}

func (d *documents) remove(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byPath, path)
	d.order = slices.DeleteFunc(d.order, func(p string) bool { return p == path })
}

// in lists the documents of a collection, oldest first. A name takes so many
// segments of the path.
func (d *documents) in(collection string, segments int) []document {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []document
	for _, path := range d.order {
		name, isBelow := strings.CutPrefix(path, collection+"/")
		if isBelow && strings.Count(name, "/") == segments-1 {
			found = append(found, d.byPath[path])
		}
	}
	return found
}

// hasBelow tells whether anything is kept below a path.
func (d *documents) hasBelow(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.order, func(p string) bool { return strings.HasPrefix(p, path+"/") })
}

// read answers the document of a shape at a path; false if there is none.
func read[T any](d *documents, path string) (T, bool) {
	found, _ := d.get(path)
	value, ok := found.value.(*T)
	if !ok {
		return *new(T), false
	}
	return *value, true
}

// list answers the documents of a shape in a collection.
func list[T any](d *documents, collection string) []T {
	var values []T
	for _, found := range d.in(collection, 1) {
		if value, ok := found.value.(*T); ok {
			values = append(values, *value)
		}
	}
	return values
}
