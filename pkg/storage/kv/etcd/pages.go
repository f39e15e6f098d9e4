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

// seen is what is remembered of a prefix: the page that began in front of all others, and the latest one. For each request
// etcd counts all keys of its range, also those behind the limit. So pages of a whole range would cost the square of what is
// read (ADR 0091).
type seen struct{ head, latest page }

// page is where keys were found. It tells how far away the end of the next page is likely to be.
type page struct {
	asked, end  string // where it began to look, and its last key
	first, last string // of the half whose keys are more alike: others may lie far in front
	keys        int64  // of this half; 0: nothing was read
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
	before, _ := s.pages.Get(r.Prefix)
	was := before.near(from)
	asked, wide, empty := from, uint64(roomy), false
	for try := 0; ; try++ {
		to, left := end, limit-int64(len(found))
		switch {
		case was.keys == 0 || try == mostTries || r.MinModRevision > 0:
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
			s.pages.Keep(r.Prefix, before.then(asked, found), mostPages)
			return found, r.Revision, nil
		case to == end:
			return found, r.Revision, nil
		}
		from, wide, empty = to, wider*wide, len(answer.Kvs) == 0
	}
}

// near is the page that tells most about one that begins to look at from.
func (s seen) near(from string) page {
	switch {
	case from < s.head.asked:
		return page{}
	case from < s.head.end:
		return s.head
	}
	return s.latest
}

// then is what is remembered after a page was read.
func (s seen) then(from string, found []*mvccpb.KeyValue) seen {
	s.latest = pageOf(from, found)
	switch {
	case s.head.keys == 0 || from <= s.head.asked:
		s.head = s.latest
	case s.latest.end < s.head.end: // more keys have come there since
		asked := s.head.asked
		s.head = s.latest
		s.head.asked = asked
	}
	return s
}

// pageOf is a page that began to look at from, and found some keys.
func pageOf(from string, found []*mvccpb.KeyValue) page {
	p := page{asked: from, end: string(found[len(found)-1].Key)}
	for _, half := range [][]*mvccpb.KeyValue{found[len(found)/2:], found[:len(found)/2]} {
		if len(half) == 0 {
			continue
		}
		first, last := string(half[0].Key), string(half[len(half)-1].Key)
		if p.keys == 0 || common(first, last) > common(p.first, p.last) {
			p.first, p.last, p.keys = first, last, int64(len(half))
		}
	}
	return p
}

// window is the end of a range that begins at from, and is likely to have so many keys, or wide times as many. It is the end
// of all if nothing speaks for less.
//
// Keys are compared by the eight bytes behind what is common to them: these are a number that grows with the key.
func (p page) window(from, end string, keys int64, wide uint64) string {
	from, same := p.same(from)
	apart := max(1, number(p.last[same:])-number(p.first[same:]))
	over, step := bits.Mul64(apart/uint64(p.keys)+1, uint64(keys))
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

// same answers where a range begins, or the page ends if it was asked for before. It answers, too, how many bytes of that the
// keys of the page begin with.
func (p page) same(from string) (begin string, same int) {
	if p.asked <= from && from < p.end {
		from = p.end
	}
	return from, min(common(p.first, p.last), common(from, p.last))
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
