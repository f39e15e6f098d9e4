package etcd

import (
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The layout. A double slash ends the first of two paths: no path has one.
//
//	/signpost/doc/<collection>//<name>            the document: an envelope
//	/signpost/ref/<target path>//<source path>    empty: source refers to target
//	/signpost/deleted                             the mark that a deletion takes away
const (
	docRoot    = "/signpost/doc/"
	refRoot    = "/signpost/ref/"
	deletedKey = "/signpost/deleted"
	separator  = "//"
)

func docKey(path intent.Path) string {
	collection, name := path.Split()
	return docRoot + collection + separator + name
}

// Key is where a document is kept.
func Key(path intent.Path) string { return docKey(path) }

func collectionPrefix(collection string) string { return docRoot + collection + separator }

func pathOf(docKey string) intent.Path {
	collection, name, _ := strings.Cut(strings.TrimPrefix(docKey, docRoot), separator)
	return intent.Join(collection, name)
}

func refPrefix(target intent.Path) string { return refRoot + string(target) + separator }

func refKey(target, source intent.Path) string { return refPrefix(target) + string(source) }

func sourceOf(refKey string) intent.Path {
	_, source, _ := strings.Cut(strings.TrimPrefix(refKey, refRoot), separator)
	return intent.Path(source)
}
