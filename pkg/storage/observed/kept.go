package observed

import (
	"bytes"
	"crypto/sha256"
	"strings"
)

// kept is what is stored of one cluster, by the prefix of its kind and by its key. So what is of one kind is listed at
// its own cost. Of answers it has sums only: there may be very many, and nobody reads here what they say.
type kept map[string]map[string][]byte

// kindOf is the prefix of the kind that a key is of: as far as the slash behind the kind. The key of what there is one of
// is all of it.
func kindOf(key string) string {
	cluster, what, _ := strings.Cut(strings.TrimPrefix(key, prefix), "/")
	if kind, _, ok := strings.Cut(what, "/"); ok {
		return key[:len(prefix)+len(cluster)+1+len(kind)+1]
	}
	return key
}

func (k kept) of(key string) []byte { return k[kindOf(key)][key] }

func (k kept) put(key string, value []byte) {
	kind := kindOf(key)
	if k[kind] == nil {
		k[kind] = map[string][]byte{}
	}
	k[kind][key] = short(kind, value)
}

// has tells whether a value is the one that is stored by a key.
func (k kept) has(key string, value []byte) bool {
	stored := k.of(key)
	return stored != nil && bytes.Equal(stored, short(kindOf(key), value))
}

// short is what is kept of a value of a kind.
func short(kind string, value []byte) []byte {
	if !strings.HasSuffix(kind, "/"+answerFolder+"/") {
		return value
	}
	sum := sha256.Sum256(value)
	return sum[:]
}

func (k kept) drop(key string) { delete(k[kindOf(key)], key) }
