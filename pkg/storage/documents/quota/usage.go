package quota

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Usage is what a project has.
type Usage struct {
	Documents int   `json:"documents"`
	Bytes     int64 `json:"bytes"` // of their bodies, and of what is sealed of them
}

func (u Usage) plus(other Usage) Usage {
	return Usage{u.Documents + other.Documents, u.Bytes + other.Bytes}
}

func (u Usage) negative() Usage { return Usage{-u.Documents, -u.Bytes} }

// growing and shrinking are the parts of a difference that are counted before and
// after a write.
func (u Usage) growing() Usage   { return Usage{max(u.Documents, 0), max(u.Bytes, 0)} }
func (u Usage) shrinking() Usage { return Usage{min(u.Documents, 0), min(u.Bytes, 0)} }

const usagePrefix = "/signpost/usage/"

func usageKey(project intent.Path) string { return usagePrefix + project.Name() }

// counts are what projects have, each in a key, which is counted when it is missing.
type counts struct {
	kv     kv.KV
	count  Count
	sealed func(context.Context) (map[intent.Path]int64, error) // by project

	seed  maphash.Seed
	turns [turns]sync.Mutex // so that writes of this process do not make each other begin again
}

const turns = 64

// add counts what a project gets more, unless it may not have that.
func (c *counts) add(ctx context.Context, project intent.Path, more Usage, quotas intent.Quotas) error {
	return c.change(ctx, project, func(had Usage) (Usage, error) {
		has := had.plus(more)
		switch {
		case more.Documents > 0 && quotas.Documents != nil && has.Documents > *quotas.Documents:
			return has, exceeded(project, fmt.Sprintf("%d documents", had.Documents), fmt.Sprint(*quotas.Documents), "documents")
		case more.Bytes > 0 && quotas.Bytes != nil && has.Bytes > *quotas.Bytes:
			return has, exceeded(project, fmt.Sprintf("%d bytes of documents, would have %d", had.Bytes, has.Bytes), fmt.Sprint(*quotas.Bytes), "bytes")
		}
		return has, nil
	})
}

func exceeded(project intent.Path, has, may, quota string) error {
	return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("project %s has %s, and may have %s: delete what is not needed, or have an admin raise spec.quotas.%s of the project", project.Name(), has, may, quota)}
}

// settle counts a write or its failure, also after the request has ended. A wrong count
// stays until the next recount.
func (c *counts) settle(ctx context.Context, project intent.Path, delta Usage) {
	const patience = 5 * time.Second
	if delta == (Usage{}) || project == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_ = c.change(ctx, project, func(had Usage) (Usage, error) { return had.plus(delta), nil })
}

// change replaces what a project has. It is counted before that where nobody has.
func (c *counts) change(ctx context.Context, project intent.Path, next func(Usage) (Usage, error)) error {
	turn := &c.turns[maphash.String(c.seed, string(project))%turns]
	turn.Lock()
	defer turn.Unlock()
	for {
		item, had, err := c.read(ctx, project)
		if err != nil {
			return err
		}
		has, err := next(had)
		if err != nil {
			return err
		}
		if done, err := c.write(ctx, project, item, has); done || err != nil {
			return err
		}
	}
}

func (c *counts) read(ctx context.Context, project intent.Path) (*kv.Item, Usage, error) {
	item, _, err := c.kv.Get(ctx, usageKey(project))
	if err != nil {
		return nil, Usage{}, err
	}
	var had Usage
	if item == nil || json.Unmarshal(item.Value, &had) != nil {
		had, err = c.first(ctx, project)
	}
	return item, had, err
}

// first counts what a project has that was not counted before. A new one has nothing.
func (c *counts) first(ctx context.Context, project intent.Path) (Usage, error) {
	documents, bytes, err := c.count(ctx, project)
	if err != nil || documents == 0 {
		return Usage{}, err
	}
	sealed, err := c.sealed(ctx)
	return Usage{documents, bytes + sealed[project]}, err
}

// write is not done when another process was first. A project without anything is
// forgotten, by a deletion alone, which a full store allows.
func (c *counts) write(ctx context.Context, project intent.Path, item *kv.Item, has Usage) (done bool, err error) {
	has = has.growing() // never below 0
	raw, err := json.Marshal(has)
	if err != nil {
		return false, err
	}
	then := kv.Put(usageKey(project), raw)
	if has.Documents == 0 && has.Bytes == 0 {
		then = kv.Delete(usageKey(project))
	}
	done, _, err = c.kv.Txn(ctx, []kv.Compare{kv.Unchanged(usageKey(project), item)}, then)
	return done, err
}

// Usages are what projects have, by their names, as far as they have written since
// that is counted.
func (s *Store) Usages(ctx context.Context) (map[string]Usage, error) {
	items, _, err := s.counts.kv.Range(ctx, kv.Range{Prefix: usagePrefix})
	if err != nil {
		return nil, err
	}
	all := make(map[string]Usage, len(items))
	for _, item := range items {
		var has Usage
		if json.Unmarshal(item.Value, &has) == nil {
			all[strings.TrimPrefix(item.Key, usagePrefix)] = has
		}
	}
	return all, nil
}

// underWay is longer than a write takes from its count to its end.
const underWay = time.Minute

// miscount is a count that differs from what a project has.
type miscount struct {
	item *kv.Item // of the count
	has  Usage
}

// Recount corrects counts after crashes. A write under way has counted, and may not have stored its document yet. So a
// count is corrected only if a minute later it is the same, and the documents are. Else it is left for the next time.
func (s *Store) Recount(ctx context.Context) error {
	all, err := s.Usages(ctx)
	if err != nil {
		return err
	}
	wrong, err := s.counts.miscounts(ctx, maps.Keys(all))
	if err != nil || len(wrong) == 0 {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(underWay):
	}
	still, err := s.counts.miscounts(ctx, maps.Keys(wrong))
	if err != nil {
		return err
	}
	for name, now := range still {
		if was := wrong[name]; was.item.ModRevision != now.item.ModRevision || was.has != now.has {
			continue
		}
		if _, err := s.counts.write(ctx, intent.Join("projects", name), now.item, now.has); err != nil {
			return err
		}
	}
	return nil
}

// miscounts are the counts of projects that are wrong, by name. Each is read before its documents are counted.
func (c *counts) miscounts(ctx context.Context, projects iter.Seq[string]) (map[string]miscount, error) {
	sealed, err := c.sealed(ctx)
	if err != nil {
		return nil, err
	}
	wrong := map[string]miscount{}
	for name := range projects {
		project := intent.Join("projects", name)
		item, _, err := c.kv.Get(ctx, usageKey(project))
		if err != nil {
			return nil, err
		}
		documents, bytes, err := c.count(ctx, project)
		if err != nil {
			return nil, err
		}
		var had Usage
		has := Usage{documents, bytes + sealed[project]}
		if item != nil && (json.Unmarshal(item.Value, &had) != nil || had != has) {
			wrong[name] = miscount{item, has}
		}
	}
	return wrong, nil
}
