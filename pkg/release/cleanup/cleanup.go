// Package cleanup keeps each external-dns until it has removed the names of deleted DNSEndpoints from DNS (ADR 0097).
package cleanup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Cleanup is a deleted DNSEndpoint whose names its external-dns still has to remove from DNS. An external-dns without users ends
// only when all of its cleanups have ended.
type Cleanup struct {
	Endpoint string    `json:"-"`
	Targets  int       `json:"targets"` // the most that one of its names had
	NotedAt  time.Time `json:"at"`

	GoneSince     time.Time `json:"since,omitzero"`  // when the DNSEndpoint was confirmed to be gone; zero before, as is NotedRevision
	NotedRevision int64     `json:"noted,omitempty"` // the store's revision that noted the cleanup: answers before it are about an earlier one

	leftovers []intent.Leftover // its names that are still answered when it ends
	item      kv.Item
}

// Cleanups are those of one external-dns. Each has a key of its own, because thousands of names may be deleted at once. Keys of the
// public scope do not have the home of the external-dns, so that they stay valid when its provider moves.
type Cleanups struct {
	kv    kv.KV
	under string // {record}//{scope}/[{cluster}/], which the name of a DNSEndpoint follows
}

// Layout of the keys.
const (
	cleanupsPrefix  = "/signpost/cleanups/"
	leftoversPrefix = "/signpost/leftovers/" // the same of cleanups that have ended
)

// Of returns the cleanups of an external-dns.
func Of(s *state.Store, use state.Use) Cleanups {
	under := string(use.Record) + "//" + string(use.Scope) + "/"
	if use.Scope != intent.Public {
		under += use.Cluster + "/"
	}
	return Cleanups{s.KV, under}
}

// All reads all of them, in order of their DNSEndpoints, and the revision that they were read at.
func (c Cleanups) All(ctx context.Context) ([]Cleanup, int64, error) {
	return c.read(ctx, kv.Range{Prefix: cleanupsPrefix + c.under})
}

// Get reads those of some DNSEndpoints.
func (c Cleanups) Get(ctx context.Context, endpoints []string) ([]Cleanup, error) {
	all, _, err := c.read(ctx, kv.Range{Keys: c.keys(cleanupsPrefix, endpoints)})
	return all, err
}

func (c Cleanups) keys(prefix string, endpoints []string) []string {
	keys := make([]string, len(endpoints)) // not nil: none are asked for
	for n, endpoint := range endpoints {
		keys[n] = prefix + c.under + endpoint
	}
	return keys
}

func (c Cleanups) read(ctx context.Context, of kv.Range) ([]Cleanup, int64, error) {
	items, revision, err := c.kv.Range(ctx, of)
	if err != nil {
		return nil, 0, err
	}
	all := make([]Cleanup, len(items))
	for n, item := range items {
		if err := json.Unmarshal(item.Value, &all[n]); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", item.Key, err)
		}
		all[n].Endpoint, all[n].item = strings.TrimPrefix(item.Key, cleanupsPrefix+c.under), item
	}
	return all, revision, nil
}

// noneSince compares that no cleanup was noted after a revision.
func (c Cleanups) noneSince(revision int64) kv.Compare {
	return kv.NotAfter(cleanupsPrefix+c.under, revision)
}

// attempts is how often cleanups are noted again because others were noted meanwhile.
const attempts = 8

// Note writes down that DNSEndpoints are about to be deleted. An earlier cleanup of one begins anew. The higher number of targets counts, because
// the names may have had them when they went first.
func (c Cleanups) Note(ctx context.Context, deleted []Cleanup, now time.Time) error {
	const opsOfEach = 2
	for some := range slices.Chunk(deleted, kv.MaxOps/opsOfEach) {
		done := false
		for n := 0; n < attempts && !done; n++ {
			var err error
			if done, err = c.note(ctx, some, now); err != nil {
				return err
			}
		}
		if !done {
			return overtaken()
		}
	}
	return nil
}

func overtaken() error {
	return &intent.Error{Code: appcontext.ErrStale, Detail: "other names of the provider are deleted meanwhile; try again"}
}

// note answers false if others have changed one of the cleanups meanwhile.
func (c Cleanups) note(ctx context.Context, deleted []Cleanup, now time.Time) (bool, error) {
	known, err := c.Get(ctx, endpointsOf(deleted))
	if err != nil {
		return false, err
	}
	var when []kv.Compare
	var ops []kv.Op
	for _, next := range deleted {
		key, targets := cleanupsPrefix+c.under+next.Endpoint, next.Targets
		unchanged := kv.Unchanged(key, nil)
		for _, before := range known {
			if before.Endpoint == next.Endpoint {
				targets = max(targets, before.Targets)
				unchanged = kv.Unchanged(key, &before.item)
			}
		}
		raw, err := json.Marshal(Cleanup{Targets: targets, NotedAt: now.UTC()})
		if err != nil {
			return false, err
		}
		when, ops = append(when, unchanged), append(ops, kv.Put(key, raw), kv.Delete(leftoversPrefix+c.under+next.Endpoint))
	}
	done, _, err := c.kv.Txn(ctx, when, ops...)
	return done, err
}

func endpointsOf(all []Cleanup) []string {
	endpoints := make([]string, len(all))
	for n, one := range all {
		endpoints[n] = one.Endpoint
	}
	return endpoints
}

// startTimers notes since when DNSEndpoints are gone, and answers their cleanups as they are then. Cleanups that were noted again
// meanwhile are not among them.
func (c Cleanups) startTimers(ctx context.Context, gone []Cleanup, now time.Time) ([]Cleanup, error) {
	started := slices.Clone(gone)
	for n := range started {
		one := &started[n]
		if one.NotedRevision == 0 {
			one.NotedRevision = one.item.ModRevision
		}
		one.GoneSince = now
	}
	return c.writeUnchanged(ctx, started, Cleanup.put)
}

// resetTimers has cleanups begin anew, as if they had just been noted. ErrStale: others have noted some of them meanwhile.
func (c Cleanups) resetTimers(ctx context.Context, all []Cleanup) error {
	var started []Cleanup
	for _, one := range all {
		if !one.GoneSince.IsZero() {
			one.GoneSince, one.NotedRevision = time.Time{}, 0
			started = append(started, one)
		}
	}
	reset, err := c.writeUnchanged(ctx, started, Cleanup.put)
	if err == nil && len(reset) < len(started) {
		return overtaken()
	}
	return err
}

func (one Cleanup) put() ([]kv.Op, error) {
	raw, err := json.Marshal(one)
	return []kv.Op{kv.Put(one.item.Key, raw)}, err
}

// end deletes cleanups, and keeps their leftovers. It tells whether all are deleted: those are not that were noted again meanwhile.
func (c Cleanups) end(ctx context.Context, over []Cleanup, now time.Time) (all bool, err error) {
	ended, err := c.writeUnchanged(ctx, over, func(one Cleanup) ([]kv.Op, error) {
		ops := []kv.Op{kv.Delete(one.item.Key)}
		if len(one.leftovers) == 0 {
			return ops, nil
		}
		raw, err := json.Marshal(storedLeftovers{now, one.leftovers})
		return append(ops, kv.Put(leftoversPrefix+c.under+one.Endpoint, raw)), err
	})
	return len(ended) == len(over), err
}

// writeUnchanged writes cleanups that are as they were read, many at once, and answers those. If one of them is not, a later look
// takes up the others that were to be written with it.
func (c Cleanups) writeUnchanged(ctx context.Context, all []Cleanup, as func(Cleanup) ([]kv.Op, error)) (written []Cleanup, err error) {
	const opsOfEach = 2
	for some := range slices.Chunk(all, kv.MaxOps/opsOfEach) {
		var when []kv.Compare
		var ops []kv.Op
		for _, one := range some {
			its, err := as(one)
			if err != nil {
				return written, err
			}
			when, ops = append(when, kv.Unchanged(one.item.Key, &one.item)), append(ops, its...)
		}
		done, revision, err := c.kv.Txn(ctx, when, ops...)
		if err != nil {
			return written, err
		}
		if !done {
			continue
		}
		for _, one := range some {
			one.item.ModRevision = revision
			written = append(written, one)
		}
	}
	return written, nil
}
