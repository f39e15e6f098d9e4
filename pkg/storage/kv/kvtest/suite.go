// Package kvtest holds the conformance suite of kv.KV and an in-memory Fake
// that passes it.
package kvtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// patience is how long a test waits for what has to come.
const patience = 10 * time.Second

// Subject is what the suite tests: a kv.KV that forgets its history when it is
// told to.
type Subject interface {
	kv.KV
	Compact(ctx context.Context) error
}

// Run proves that what open gives, empty and new for each call, keeps the
// contract of kv.KV.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"ReadsWhatWasWritten":                     readsWhatWasWritten,
		"RangeSelects":                            rangeSelects,
		"RangeReadsAtARevision":                   rangeReadsAtARevision,
		"RangeReadsManyKeysAtOneRevision":         rangeOfKeys,
		"ComparesDecide":                          comparesDecide,
		"ComparesAWholePrefix":                    comparesAWholePrefix,
		"TransactionIsWholeOrNot":                 transactionIsWholeOrNot,
		"TransactionOfThousandsOfOperations":      transactionOfThousands,
		"TransactionRefusals":                     transactionRefusals,
		"ConcurrentSwapsAllCount":                 concurrentSwapsAllCount,
		"WatchDeliversEveryChangeInOrder":         watchDelivers,
		"WatchKeepsATransactionTogether":          watchKeepsTogether,
		"WatchFromThePast":                        watchFromThePast,
		"WatchEndsWithItsContext":                 watchEnds,
		"WatchTellsOfCompactionAndGoesOn":         watchTellsOfCompaction,
		"WhoFollowsIsToldHowFarItHasCome":         followTells,
		"LeasedKeyGoesWithItsLease":               leasedKeyGoes,
		"LeaseIsLostWithItsContext":               leaseIsLostWithItsContext,
		"EndedLeaseIsAConflict":                   endedLeaseIsAConflict,
		"CancelledRequestIsUnavailable":           cancelledIsUnavailable,
		"CompactedRevisionIsErrCompacted":         compactedRevision,
		"DeletingNothingChangesNoRevision":        deletingNothing,
		"PingAnswers":                             func(t *testing.T, s Subject) { require.NoError(t, s.Ping(t.Context())) },
		"LongRangeIsCompleteAndInOrder":           longRange,
		"KeysOutsideThePrefixAreNeverInTheAnswer": neighbours,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func put(t *testing.T, s kv.KV, key, value string) int64 {
	t.Helper()
	done, revision, err := s.Txn(t.Context(), nil, kv.Put(key, []byte(value)))
	require.NoError(t, err)
	require.True(t, done)
	return revision
}

func get(t *testing.T, s kv.KV, key string) *kv.Item {
	t.Helper()
	item, _, err := s.Get(t.Context(), key)
	require.NoError(t, err)
	return item
}

func keys(t *testing.T, s kv.KV, r kv.Range) []string {
	t.Helper()
	items, _, err := s.Range(t.Context(), r)
	require.NoError(t, err)
	require.NotNil(t, items)
	list := []string{}
	for _, item := range items {
		list = append(list, item.Key)
	}
	return list
}

func readsWhatWasWritten(t *testing.T, s Subject) {
	require.Nil(t, get(t, s, "k"))
	first := put(t, s, "k", "one")
	require.Equal(t, &kv.Item{Key: "k", Value: []byte("one"), CreateRevision: first, ModRevision: first}, get(t, s, "k"))
	second := put(t, s, "k", "two")
	require.Greater(t, second, first)
	require.Equal(t, &kv.Item{Key: "k", Value: []byte("two"), CreateRevision: first, ModRevision: second}, get(t, s, "k"))
	_, now, err := s.Get(t.Context(), "other")
	require.NoError(t, err)
	require.Equal(t, second, now, "the store's revision comes with every answer")
}

func rangeOfKeys(t *testing.T, s Subject) {
	const many = 2*kv.MaxOps + 7
	var all []string
	for n := range many {
		all = append(all, fmt.Sprintf("k/%03d", many-n))
		put(t, s, all[n], "old")
	}
	old := put(t, s, "k/new", "new")
	put(t, s, all[0], "changed")
	require.Equal(t, all, keys(t, s, kv.Range{Keys: all}), "in the order in which they are named")
	require.Equal(t, []string{all[3], all[1]}, keys(t, s, kv.Range{Keys: []string{all[3], "k/none", all[1]}}))
	require.Empty(t, keys(t, s, kv.Range{Keys: []string{}}))
	put(t, s, "l/a", "with the prefix")
	put(t, s, "l/b", "with the prefix")
	require.Equal(t, []string{all[3], "l/a", "l/b"}, keys(t, s, kv.Range{Keys: []string{all[3], "k/none"}, Prefix: "l/"}))
	require.Equal(t, append(slices.Clone(all), "l/a", "l/b"), keys(t, s, kv.Range{Keys: all, Prefix: "l/"}))
	const page = 1000
	for n := range page {
		put(t, s, fmt.Sprintf("m/%04d", n), "more than a page with l")
	}
	require.Len(t, keys(t, s, kv.Range{Keys: []string{"l/a"}, Prefix: "m/"}), page+1)
	put(t, s, "m/last", "of the second page")
	require.Len(t, keys(t, s, kv.Range{Keys: []string{"l/a"}, Prefix: "m/"}), page+1+1)
	require.Equal(t, []string{"l/a", "l/b"}, keys(t, s, kv.Range{Keys: []string{}, Prefix: "l/"}))
	require.Equal(t, []string{all[3], "k/new", "l/a", "l/b"}, keys(t, s, kv.Range{Keys: []string{all[3]}, Ahead: []string{"k/new", "none/", "l/"}}))
	require.Len(t, keys(t, s, kv.Range{Keys: all, Prefix: "m/", Ahead: []string{"m/", "l/"}}), many+page+1+kv.AheadLimit+2)
	items, revision, err := s.Range(t.Context(), kv.Range{Keys: all, Revision: old})
	require.NoError(t, err)
	require.Equal(t, old, revision)
	require.Equal(t, "old", string(items[0].Value))
}

func rangeSelects(t *testing.T, s Subject) {
	var third int64
	for i, key := range []string{"p/a", "p/b", "p/b/c", "p/d", "q/a"} {
		revision := put(t, s, key, "v")
		if i == 2 {
			third = revision
		}
	}
	for _, one := range []struct {
		reason string
		r      kv.Range
		want   []string
	}{
		{"all below the prefix, in order", kv.Range{Prefix: "p/"}, []string{"p/a", "p/b", "p/b/c", "p/d"}},
		{"a limit", kv.Range{Prefix: "p/", Limit: 2}, []string{"p/a", "p/b"}},
		{"bytes that suffice", kv.Range{Prefix: "p/", Bytes: 4}, []string{"p/a", "p/b", "p/b/c", "p/d"}},
		{"bytes that do not", kv.Range{Prefix: "p/", Bytes: 2}, []string{"p/a", "p/b", "p/b/c"}},
		{"bytes behind a limit", kv.Range{Prefix: "p/", Bytes: 2, Limit: 1}, []string{"p/a"}},
		{"after a key", kv.Range{Prefix: "p/", After: "p/b"}, []string{"p/b/c", "p/d"}},
		{"after a key that is not there", kv.Range{Prefix: "p/", After: "p/bb"}, []string{"p/d"}},
		{"after a key ahead of the prefix", kv.Range{Prefix: "p/b", After: "a"}, []string{"p/b", "p/b/c"}},
		{"after all", kv.Range{Prefix: "p/", After: "q"}, []string{}},
		{"written since", kv.Range{Prefix: "p/", MinModRevision: third}, []string{"p/b/c", "p/d"}},
		{"nothing", kv.Range{Prefix: "r/"}, []string{}},
		{"everything", kv.Range{}, []string{"p/a", "p/b", "p/b/c", "p/d", "q/a"}},
	} {
		require.Equal(t, one.want, keys(t, s, one.r), one.reason)
	}
	items, _, err := s.Range(t.Context(), kv.Range{Prefix: "p/", KeysOnly: true})
	require.NoError(t, err)
	require.Empty(t, items[0].Value)
	require.NotZero(t, items[0].ModRevision)
}

func rangeReadsAtARevision(t *testing.T, s Subject) {
	put(t, s, "p/a", "one")
	then := put(t, s, "p/b", "one")
	put(t, s, "p/a", "two")
	put(t, s, "p/c", "two")
	_, _, err := s.Txn(t.Context(), nil, kv.Delete("p/b"))
	require.NoError(t, err)
	items, revision, err := s.Range(t.Context(), kv.Range{Prefix: "p/", Revision: then})
	require.NoError(t, err)
	require.Equal(t, then, revision)
	require.Len(t, items, 2)
	require.Equal(t, "one", string(items[0].Value))
	require.Equal(t, []string{"p/a", "p/c"}, keys(t, s, kv.Range{Prefix: "p/"}))
}

func longRange(t *testing.T, s Subject) {
	const n = 2500
	var want []string
	var ops []kv.Op
	for i := range n {
		key := fmt.Sprintf("long/%05d", i)
		want = append(want, key)
		ops = append(ops, kv.Put(key, []byte("v")))
	}
	_, _, err := s.Txn(t.Context(), nil, ops...)
	require.NoError(t, err)
	require.Equal(t, want, keys(t, s, kv.Range{Prefix: "long/"}))
	require.Equal(t, want[:2001], keys(t, s, kv.Range{Prefix: "long/", Limit: 2001}))
	require.Equal(t, want[:101], keys(t, s, kv.Range{Prefix: "long/", Bytes: 100, Limit: 2001}))
}

func neighbours(t *testing.T, s Subject) {
	for _, key := range []string{"a", "a/", "a/b", "a0", "a.", "b"} {
		put(t, s, key, "v")
	}
	require.Equal(t, []string{"a/", "a/b"}, keys(t, s, kv.Range{Prefix: "a/"}))
	_, _, err := s.Txn(t.Context(), nil, kv.DeletePrefix("a/"))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "a.", "a0", "b"}, keys(t, s, kv.Range{}))
}

func compactedRevision(t *testing.T, s Subject) {
	old := put(t, s, "k", "one")
	put(t, s, "k", "two")
	require.NoError(t, s.Compact(t.Context()))
	_, _, err := s.Range(t.Context(), kv.Range{Prefix: "k", Revision: old})
	require.ErrorIs(t, err, kv.ErrCompacted)
	require.Equal(t, []string{"k"}, keys(t, s, kv.Range{Prefix: "k"}))
}

func cancelledIsUnavailable(t *testing.T, s Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := s.Get(ctx, "k")
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	_, _, err = s.Range(ctx, kv.Range{Prefix: "k"})
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	_, _, err = s.Txn(ctx, nil, kv.Put("k", nil))
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.Equal(t, intent.Unavailable, intent.CodeOf(s.Ping(ctx)))
	require.True(t, strings.Contains(err.Error(), "txn") || strings.Contains(err.Error(), "transaction"), "the error names what was tried: %v", err)
}
