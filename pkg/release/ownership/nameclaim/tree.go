package nameclaim

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"sort"
	"strings"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// treePrefix is where names are ordered by what they lie in. Each name has a key without
// a value if its provider answers a name with all names below it. Whether the name is
// still held is for its claim to say.
const treePrefix = "/signpost/name-tree/"

// leaf is a name's key in the tree. The keys of the names below it begin with it.
func (k Key) leaf() string {
	var path strings.Builder
	path.WriteString(treePrefix + url.PathEscape(k.View) + "/")
	for _, label := range slices.Backward(strings.Split(k.Name, ".")) {
		path.WriteString(url.PathEscape(label) + "/")
	}
	return path.String()
}

func leafAt(path string) (Key, error) {
	view, labels, _ := strings.Cut(strings.TrimPrefix(path, treePrefix), "/")
	parts := strings.Split(strings.TrimSuffix(labels, "/"), "/")
	slices.Reverse(parts)
	return keyAt(prefix + view + "/" + strings.Join(parts, "."))
}

// Above are the names that a name lies in, the nearest first.
func (k Key) Above() []Key {
	var keys []Key
	for _, rest, more := strings.Cut(k.Name, "."); more; _, rest, more = strings.Cut(rest, ".") {
		keys = append(keys, Key{k.View, rest})
	}
	return keys
}

// MostBelow is how many names below one are looked at.
const MostBelow = 10_000

// treePage is how many names of the tree are read at a time.
const treePage = 200

// Lower are the names of the tree below some names.
type Lower struct {
	Names    map[Key][]Key
	Many     []Key // those with more than [MostBelow] below them, which are not in Names
	Revision int64 // of the store, when the first of it was read
}

// Below answers which names of the tree lie below each of some names, but for those
// of which more than [MostBelow] do: they are many. It reads a page for each name at
// most, beside what it answers.
func (s Store) Below(ctx context.Context, keys []Key) (Lower, error) {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.leaf(), b.leaf()) })
	keys = slices.Compact(keys)
	lower := Lower{Names: map[Key][]Key{}}
	seen := window{prefix: treePrefix}
	if len(keys) == 1 {
		seen.prefix = keys[0].leaf() // nobody asks for what lies beside it
	}
	for _, key := range keys {
		leaf := key.leaf()
		if err := s.show(ctx, &seen, leaf); err != nil {
			return Lower{}, err
		}
		paths := seen.below(leaf)
		if len(paths) > MostBelow {
			lower.Many = append(lower.Many, key)
			continue
		}
		for _, path := range paths {
			name, err := leafAt(path)
			if err != nil {
				return Lower{}, err
			}
			lower.Names[key] = append(lower.Names[key], name)
		}
	}
	lower.Revision = seen.revision
	return lower, nil
}

// Unrelated are conditions of a write. If no name above or below some names was claimed at a
// revision of the store, they hold as long as none is.
func Unrelated(keys []Key, revision int64) []kv.Compare {
	var when []kv.Compare
	above := map[string]bool{}
	for _, key := range keys {
		when = append(when, kv.NotAfter(key.leaf(), revision))
		for _, upper := range key.Above() {
			if path := upper.path(); !above[path] {
				above[path] = true
				when = append(when, kv.Compare{Key: path})
			}
		}
	}
	return when
}

// window is a part of the tree without gaps: its keys behind one.
type window struct {
	prefix string // of what it may show
	after  string
	paths  []string
	end    bool // there are no more

	revision int64 // of the store, when the first part was shown
}

// covers tells whether a window shows all that begins with a leaf.
func (w window) covers(leaf string) bool {
	if w.after == "" || w.after > leaf {
		return false
	}
	last := len(w.paths) - 1
	return w.end || last >= 0 && w.paths[last] > leaf && !strings.HasPrefix(w.paths[last], leaf)
}

func (w window) below(leaf string) []string {
	from := sort.SearchStrings(w.paths, leaf)
	if from < len(w.paths) && w.paths[from] == leaf {
		from++
	}
	to := from
	for to < len(w.paths) && strings.HasPrefix(w.paths[to], leaf) {
		to++
	}
	return w.paths[from:to]
}

// show has a window show what begins with a leaf, or more than enough of it.
func (s Store) show(ctx context.Context, w *window, leaf string) error {
	if !w.covers(leaf) {
		*w = window{prefix: w.prefix, after: leaf, revision: w.revision}
	}
	for !w.covers(leaf) && len(w.paths) <= MostBelow {
		after := w.after
		if len(w.paths) > 0 {
			after = w.paths[len(w.paths)-1]
		}
		items, revision, err := s.KV.Range(ctx, kv.Range{Prefix: w.prefix, After: after, Limit: treePage, KeysOnly: true})
		if err != nil {
			return err
		}
		w.revision = cmp.Or(w.revision, revision)
		for _, item := range items {
			w.paths = append(w.paths, item.Key)
		}
		w.end = len(items) < treePage
	}
	return nil
}
