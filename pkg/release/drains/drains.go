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
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Drain is a DNSEndpoint that is about to go, or has gone. The external-dns that published its names outlives these. So it stays
// without users, too, until all of its drains are over.
type Drain struct {
	Endpoint string    `json:"-"`
	Targets  int       `json:"targets"`         // the most that one of its names had
	Since    time.Time `json:"since,omitzero"`  // when it was confirmed to be gone; zero before
	Noted    int64     `json:"noted,omitempty"` // with Since, the store's revision that noted it: what was heard of its names before does not count

	left []intent.Leftover // its names that are still answered when it is over
	read kv.Item
}

// Drains are all of one external-dns, each with a key of its own: very many names may go at once. The keys of a public external-dns
// do not say where it runs, so that nothing is to be done about them when it moves.
type Drains struct {
	kv    kv.KV
	under string // {record}//{scope}/[{cluster}/], behind which DNSEndpoints come
}

// Layout of the keys.
const (
	allDrains = "/signpost/drains/"
	allLeft   = "/signpost/left/" // the same of drains that are over
)

// For are the drains of an external-dns.
func For(s *state.Store, use state.Use) Drains {
	under := string(use.Record) + "//" + string(use.Scope) + "/"
	if use.Scope != intent.Public {
		under += use.Cluster + "/"
	}
	return Drains{s.KV, under}
}

// All reads them all, in order of their DNSEndpoints.
func (d Drains) All(ctx context.Context) ([]Drain, error) {
	return d.read(ctx, kv.Range{Prefix: allDrains + d.under})
}

// Named reads those of some DNSEndpoints.
func (d Drains) Named(ctx context.Context, endpoints []string) ([]Drain, error) {
	return d.read(ctx, kv.Range{Keys: d.keys(allDrains, endpoints)})
}

func (d Drains) keys(all string, endpoints []string) []string {
	keys := make([]string, len(endpoints)) // not nil: none are asked for
	for n, endpoint := range endpoints {
		keys[n] = all + d.under + endpoint
	}
	return keys
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
		drains[n].Endpoint, drains[n].read = strings.TrimPrefix(item.Key, allDrains+d.under), item
	}
	return drains, nil
}

// Note writes down that DNSEndpoints are about to go, also if they had gone before. They may have had more targets then.
func (d Drains) Note(ctx context.Context, going []Drain) error {
	const opsOfEach = 2
	for some := range slices.Chunk(going, kv.MaxOps/opsOfEach) {
		known, err := d.Named(ctx, endpointsOf(some))
		if err != nil {
			return err
		}
		var ops []kv.Op
		for _, drain := range some {
			targets := drain.Targets
			for _, before := range known {
				if before.Endpoint == drain.Endpoint {
					targets = max(targets, before.Targets)
				}
			}
			raw, err := json.Marshal(Drain{Targets: targets})
			if err != nil {
				return err
			}
			ops = append(ops, kv.Put(allDrains+d.under+drain.Endpoint, raw), kv.Delete(allLeft+d.under+drain.Endpoint))
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

// begin notes since when DNSEndpoints are gone, and answers the drains as they are then. Drains that others have noted meanwhile
// stay, and are not among them.
func (d Drains) begin(ctx context.Context, gone []Drain, since time.Time) ([]Drain, error) {
	var begun []Drain
	for _, drain := range gone {
		if drain.Noted == 0 {
			drain.Noted = drain.read.ModRevision
		}
		drain.Since = since
		begun = append(begun, drain)
	}
	return d.change(ctx, begun, func(drain Drain) (kv.Op, error) { return drain.put() })
}

// restart has their time begin anew, as if they had just been noted. ErrStale: others have noted some of them meanwhile.
func (d Drains) restart(ctx context.Context, all []Drain) error {
	changed, err := d.change(ctx, all, func(drain Drain) (kv.Op, error) {
		drain.Since, drain.Noted = time.Time{}, 0
		return drain.put()
	})
	if err == nil && len(changed) < len(all) {
		return &intent.Error{Code: appcontext.ErrStale, Detail: "other names of the provider go meanwhile; try again"}
	}
	return err
}

func (d Drain) put() (kv.Op, error) {
	raw, err := json.Marshal(d)
	return kv.Put(d.read.Key, raw), err
}

// end drops drains, and keeps what is left of them. It tells whether all are ended: those are not that others have noted
// meanwhile.
func (d Drains) end(ctx context.Context, over []Drain, now time.Time) (all bool, err error) {
	all = true
	var clean []Drain
	for _, drain := range over {
		if len(drain.left) == 0 {
			clean = append(clean, drain)
			continue
		}
		raw, err := json.Marshal(left{now, drain.left})
		if err != nil {
			return false, err
		}
		done, _, err := d.kv.Txn(ctx, []kv.Compare{kv.Unchanged(drain.read.Key, &drain.read)}, kv.Delete(drain.read.Key), kv.Put(allLeft+d.under+drain.Endpoint, raw))
		if err != nil {
			return false, err
		}
		all = all && done
	}
	ended, err := d.change(ctx, clean, func(drain Drain) (kv.Op, error) { return kv.Delete(drain.read.Key), nil })
	return all && len(ended) == len(clean), err
}

// change writes drains that are as they were read, many at once, and answers those. If one of them is not, a later look takes up the
// others that were to be written with it.
func (d Drains) change(ctx context.Context, drains []Drain, to func(Drain) (kv.Op, error)) (changed []Drain, err error) {
	for some := range slices.Chunk(drains, kv.MaxOps) {
		var when []kv.Compare
		var ops []kv.Op
		for _, drain := range some {
			op, err := to(drain)
			if err != nil {
				return changed, err
			}
			when, ops = append(when, kv.Unchanged(drain.read.Key, &drain.read)), append(ops, op)
		}
		done, revision, err := d.kv.Txn(ctx, when, ops...)
		if err != nil {
			return changed, err
		}
		if !done {
			continue
		}
		for _, drain := range some {
			drain.read.ModRevision = revision
			changed = append(changed, drain)
		}
	}
	return changed, nil
}
