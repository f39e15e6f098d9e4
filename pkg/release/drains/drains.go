// Package drains has each external-dns outlive the DNSEndpoints that leave it, so that it removes their names
// (ADR 0097).
package drains

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Drain is a DNSEndpoint that is about to go, or has gone. The external-dns that published its names outlives these. So it stays
// without users, too, until all of its drains are over.
type Drain struct {
	Endpoint string            `json:"-"`
	Targets  int               `json:"targets"`         // the most that one of its names had
	Noted    int64             `json:"noted,omitempty"` // the store's revision when it was about to go: what was heard of its names before does not count
	Since    time.Time         `json:"since,omitzero"`  // when it was confirmed to be gone; zero before
	Over     time.Time         `json:"over,omitzero"`   // since when nobody waits for it any more; zero before
	Left     []intent.Leftover `json:"left,omitempty"`  // its names that were still answered then; of none, nothing is kept

	read kv.Item
}

// Drains are all of one external-dns, each with a key of its own: very many names may go at once. A public external-dns takes them
// along to another home.
type Drains struct {
	kv     kv.KV
	folder string
}

const allDrains = "/signpost/drains/" // {record}//{scope}/[{cluster}/]{DNSEndpoint}

// Of are the drains of an external-dns.
func Of(s *state.Store, use state.Use) Drains {
	folder := prefix(use.Record) + string(use.Scope) + "/"
	if use.Scope != intent.Public {
		folder += use.Cluster + "/"
	}
	return Drains{s.KV, folder}
}

func prefix(record intent.Path) string { return allDrains + string(record) + "//" }

// Any tells whether an external-dns of a record has drains.
func Any(ctx context.Context, s *state.Store, record intent.Path) (bool, error) {
	items, _, err := s.KV.Range(ctx, kv.Range{Prefix: prefix(record), Limit: 1, KeysOnly: true})
	return len(items) > 0, err
}

// All reads them all, in order of their DNSEndpoints.
func (d Drains) All(ctx context.Context) ([]Drain, error) {
	return d.read(ctx, kv.Range{Prefix: d.folder})
}

// Of reads those of some DNSEndpoints.
func (d Drains) Of(ctx context.Context, endpoints []string) ([]Drain, error) {
	keys := make([]string, len(endpoints))
	for n, endpoint := range endpoints {
		keys[n] = d.folder + endpoint
	}
	return d.read(ctx, kv.Range{Keys: keys})
}

func (d Drains) read(ctx context.Context, of kv.Range) ([]Drain, error) {
	items, _, err := d.kv.Range(ctx, of)
	if err != nil {
		return nil, err
	}
	drains := make([]Drain, len(items))
	for n, item := range items {
		if err := json.Unmarshal(item.Value, &drains[n]); err != nil {
			return nil, fmt.Errorf("%s: %w", item.Key, err)
		}
		drains[n].Endpoint, drains[n].read = strings.TrimPrefix(item.Key, d.folder), item
	}
	return drains, nil
}

// Note writes down that DNSEndpoints are about to go, also if they had gone before.
func (d Drains) Note(ctx context.Context, going []Drain) error {
	for some := range slices.Chunk(going, kv.MaxOps) {
		known, err := d.Of(ctx, endpointsOf(some))
		if err != nil {
			return err
		}
		var ops []kv.Op
		for _, drain := range some {
			if slices.ContainsFunc(known, func(k Drain) bool {
				return k.Endpoint == drain.Endpoint && k.Since.IsZero() && k.Targets >= drain.Targets
			}) {
				continue
			}
			raw, err := json.Marshal(Drain{Targets: drain.Targets})
			if err != nil {
				return err
			}
			ops = append(ops, kv.Put(d.folder+drain.Endpoint, raw))
		}
		if len(ops) == 0 {
			continue
		}
		if _, _, err := d.kv.Txn(ctx, nil, ops...); err != nil {
			return err
		}
	}
	return nil
}

func endpointsOf(drains []Drain) []string {
	endpoints := make([]string, len(drains))
	for n, drain := range drains {
		endpoints[n] = drain.Endpoint
	}
	return endpoints
}

// begin notes since when DNSEndpoints are gone; zero: as if they had just been noted. A drain stays that others have noted meanwhile.
func (d Drains) begin(ctx context.Context, gone []Drain, since time.Time) error {
	_, err := d.change(ctx, gone, func(drain Drain) (Drain, bool) {
		if drain.Noted == 0 {
			drain.Noted = drain.read.ModRevision
		}
		drain.Since = since
		return drain, true
	})
	return err
}

// end notes that nobody waits for them any more, and forgets those of which nothing is left. A drain stays that others have noted
// meanwhile: not all are ended then.
func (d Drains) end(ctx context.Context, over []Drain, now time.Time) (all bool, err error) {
	return d.change(ctx, over, func(drain Drain) (Drain, bool) {
		drain.Over = now
		return drain, len(drain.Left) > 0
	})
}

// forget drops them. A drain stays that others have noted meanwhile.
func (d Drains) forget(ctx context.Context, over []Drain) error {
	_, err := d.change(ctx, over, func(Drain) (Drain, bool) { return Drain{}, false })
	return err
}

// change rewrites drains, or drops them if they are not to be kept. It tells whether all are as they were read.
func (d Drains) change(ctx context.Context, drains []Drain, to func(Drain) (is Drain, kept bool)) (all bool, err error) {
	var when []kv.Compare
	var ops []kv.Op
	for _, drain := range drains {
		op := kv.Delete(drain.read.Key)
		if is, kept := to(drain); kept {
			raw, err := json.Marshal(is)
			if err != nil {
				return false, err
			}
			op = kv.Put(drain.read.Key, raw)
		}
		when, ops = append(when, kv.Unchanged(drain.read.Key, &drain.read)), append(ops, op)
	}
	all = true
	for batch := range kv.Batches(slices.Values(ops)) {
		done, _, err := d.kv.Txn(ctx, when[:len(batch)], batch...)
		if err != nil {
			return false, err
		}
		when, all = when[len(batch):], all && done
	}
	return all, nil
}
