// Package intent holds the domain of Signpost: the shapes of the documents that its users
// write, the errors of every layer, and the contract of the store for documents. It
// depends only on the standard library.
package intent

import "strings"

// Path names a document: alternating collection and name segments below the
// API's base path, as in "projects/shop/dns-update-records/lab". A composite
// app is named by two segments, its name and its version.
type Path string

// Join builds a path from its segments.
func Join(segments ...string) Path { return Path(strings.Join(segments, "/")) }

// Child is the path of the document called name in a collection below p.
func (p Path) Child(collection, name string) Path {
	return Join(string(p), collection, name)
}

// Split divides the path into its collection and the document's name in it.
// The name holds a slash for composite apps ("store/v1") and for the internal
// collections, which may be keyed by a whole path.
func (p Path) Split() (collection, name string) {
	text := string(p)
	if first, rest, _ := strings.Cut(text, "/"); internal(first) {
		return first, rest
	}
	for begin := 0; ; {
		last, names, named := strings.Cut(text[begin:], "/")
		if !named {
			return text, ""
		}
		end := strings.IndexByte(names, '/')
		if last == "composite-apps" && end >= 0 {
			if version := strings.IndexByte(names[end+1:], '/'); version < 0 {
				end = -1
			} else {
				end += 1 + version
			}
		}
		if end < 0 {
			return text[:begin+len(last)], names
		}
		begin += len(last) + 1 + end + 1
	}
}

// Collection is the collection that holds the document.
func (p Path) Collection() string {
	collection, _ := p.Split()
	return collection
}

// Name is the document's name in its collection.
func (p Path) Name() string {
	_, name := p.Split()
	return name
}

// Parent is the document that the collection belongs to, empty at the top.
func (p Path) Parent() Path {
	collection, _ := p.Split()
	cut := strings.LastIndexByte(collection, '/')
	if cut < 0 {
		return ""
	}
	return Path(collection[:cut])
}

// Segment is the name that follows a collection segment of the path, as in
// Segment("projects"); empty when the path has no such collection.
func (p Path) Segment(collection string) string {
	segments := strings.Split(string(p), "/")
	for at := 0; at+1 < len(segments); at += 2 {
		if segments[at] == collection {
			return segments[at+1]
		}
		if segments[at] == "composite-apps" {
			at++
		}
	}
	return ""
}

// shape is the path without names, as in "projects/dns-update-records"; empty if a name
// is missing.
func (p Path) shape() string {
	var collections []string
	for ; p != ""; p = p.Parent() {
		collection := p.Collection()
		collection = collection[strings.LastIndexByte(collection, '/')+1:]
		first, version, versioned := strings.Cut(p.Name(), "/")
		if first == "" || versioned && version == "" || versioned != (collection == "composite-apps") {
			return ""
		}
		collections = append([]string{collection}, collections...)
	}
	return strings.Join(collections, "/")
}

// Collections that the API does not show:
//   - the lifecycle of an owner (named by the owner's path)
//   - sealed secret values
//   - the installation's identity
//   - drained and abandoned clusters
//   - the reservations of namespaces by projects (named by the namespace)
//   - what the DNS of logical clouds offers to pods (named by the logical cloud, the
//     cluster and an id)
//   - notes about documents that another system keeps (named by their paths)
//   - events (named by the top document, its identity and the time)
//   - the past of host names (named by the host name, the project and its identity)
//   - failovers (named by their ids), which have operations of their own
const (
	LifecycleCollection    = "lifecycle"
	SecretCollection       = "secrets"
	InstallationCollection = "installation"
	OperationCollection    = "operations"
	NamespaceCollection    = "namespaces"
	OfferCollection        = "autopath-offers"
	NoteCollection         = "notes"
	HistoryCollection      = "history"
	NameHistoryCollection  = "name-history"
)

// Internal tells whether the API does not show a document.
func Internal(p Path) bool {
	collection, _, _ := strings.Cut(string(p), "/")
	return internal(collection)
}

func internal(collection string) bool {
	switch collection {
	case LifecycleCollection, SecretCollection, InstallationCollection, OperationCollection, NamespaceCollection, OfferCollection, NoteCollection, HistoryCollection, NameHistoryCollection, FailoverCollection:
		return true
	}
	return false
}
