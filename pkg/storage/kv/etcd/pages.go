package etcd

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// page is where keys were found: so many from the first to the last. It tells how far away the end of the next page is likely to be.
// For each request etcd counts all keys of its range, also those behind the limit. So pages of a whole range would cost the
// square of what is read (ADR 0091).
type page struct {
	first, last string
	keys        int64

	earliest, begin string // of all pages, the earliest began to look at one key, and found another one first
}

// Bounds of what is remembered, and of the windows of one page.
const (
	mostPages = 256
	many      = 4000 // keys that are counted for no more than a further request costs
	roomy     = 2    // a window is for so many times the keys that are asked for
	wider     = 8    // as each window is that follows one with too few keys
	mostTries = 4    // windows, before the rest of the range is one
)

// page reads up to limit keys of a range, from one on, and the revision that they were read at. They are fewer if there are
// no more.
func (s *KV) page(ctx context.Context, r kv.Range, from string, limit int64) (found []*mvccpb.KeyValue, revision int64, err error) {
	from = cmp.Or(from, "\x00")
	end := clientv3.GetPrefixRangeEnd(r.Prefix)
	was, known := s.pages.Get(r.Prefix)
	if known = known && from >= was.earliest; !known {
		was = page{earliest: from}
	}
	asked, wide, empty := from, uint64(roomy), false
	for try := 0; ; try++ {
		to, left := end, limit-int64(len(found))
		switch {
		case !known || try == mostTries || r.MinModRevision > 0:
		case empty:
			to = was.beyond(from, end)
		default:
			to = was.window(from, end, left, wide)
		}
		answer, err := s.between(ctx, r, from, to, left)
		if err != nil {
			return nil, 0, err
		}
		r.Revision = cmp.Or(r.Revision, answer.Header.Revision)
		found = append(found, answer.Kvs...)
		switch {
		case int64(len(found)) >= limit && (to != end || answer.Count > many):
			s.pages.Keep(r.Prefix, was.then(asked, found), mostPages)
			return found, r.Revision, nil
		case to == end:
			return found, r.Revision, nil
		}
		from, wide, empty = to, wider*wide, len(answer.Kvs) == 0
	}
}

// then is the page that was read after this one.
func (p page) then(from string, found []*mvccpb.KeyValue) page {
	next := page{first: string(found[0].Key), last: string(found[len(found)-1].Key), keys: int64(len(found)), earliest: p.earliest, begin: p.begin}
	if from == p.earliest {
		next.begin = next.first
	}
	return next
}

// window is the end of a range that begins at from, and is likely to have so many keys, or wide times as many. It is the end
// of all if nothing speaks for less.
//
// Keys are compared by the eight bytes behind what is common to them: these are a number that grows with the key.
func (p page) window(from, end string, keys int64, wide uint64) string {
	from, same := p.same(from)
	apart := max(1, number(p.last[same:])-number(p.first[same:]))
	over, step := bits.Mul64(apart/uint64(max(1, p.keys))+1, uint64(keys))
	more, step := bits.Mul64(step, wide)
	next, carry := bits.Add64(number(from[same:]), step, 0)
	if over != 0 || more != 0 || carry != 0 {
		return p.beyond(from, end)
	}
	return earlier(string(binary.BigEndian.AppendUint64([]byte(from[:same]), next)), end)
}

// beyond is the end of a range that begins at from if keys that begin as those of the page do are at an end. The range
// has those that begin with the next byte in place of their last one.
func (p page) beyond(from, end string) string {
	from, same := p.same(from)
	next := clientv3.GetPrefixRangeEnd(from[:same])
	if next == noEnd {
		return end
	}
	return earlier(clientv3.GetPrefixRangeEnd(next), end)
}

// same answers where the keys of a range begin, and how many bytes of that the keys of the page begin with, too.
func (p page) same(from string) (begin string, same int) {
	begin = max(from, p.begin)
	return begin, min(common(p.first, p.last), common(begin, p.last))
}

// noEnd ends a range behind all keys.
const noEnd = "\x00"

// earlier is the earlier one of two ends.
func earlier(to, end string) string {
	if to == noEnd || end != noEnd && to > end {
		return end
	}
	return to
}

// common is how many bytes two keys begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// number is what a key begins with, as a number that orders as keys do.
func number(key string) uint64 {
	var first [8]byte
	copy(first[:], key)
	return binary.BigEndian.Uint64(first[:])
}

// between reads up to limit keys from one key to another.
func (s *KV) between(ctx context.Context, r kv.Range, from, to string, limit int64) (*clientv3.GetResponse, error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	options := []clientv3.OpOption{clientv3.WithRange(to), clientv3.WithLimit(limit), clientv3.WithRev(r.Revision)}
	if r.MinModRevision > 0 {
		options = append(options, clientv3.WithMinModRev(r.MinModRevision))
	}
	if r.KeysOnly {
		options = append(options, clientv3.WithKeysOnly())
	}
	return s.read(ctx, from, options...)
}
