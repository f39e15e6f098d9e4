package emco

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Apply brings a context to what the patch says, all of it or nothing, and answers
// whether anything was to be done. The context must have been read by Read. It has the
// code PreconditionFailed if the context was changed meanwhile: the caller reads again.
// It has Conflict or Invalid if the patch does not fit the context. If the error has the
// code Unavailable, nobody knows whether the patch was applied: reading and applying
// again brings it about.
func (s *Store) Apply(ctx context.Context, c *Context, p Patch) (bool, error) {
	all, err := c.writes(p)
	if err != nil || len(all) == 0 {
		return false, err
	}
	if fits(all) {
		ops := make([]kv.Op, len(all))
		for i, w := range all {
			ops[i] = kv.Put(w.key, w.after)
		}
		done, _, err := s.kv.Txn(ctx, c.unchanged(all), ops...)
		if err == nil && !done {
			err = changedMeanwhile(c.ID)
		}
		return err == nil, err
	}
	ended, err := s.byJournal(ctx, c, all)
	switch {
	case err != nil:
		return false, err
	case ended == forward:
		return true, nil
	case ended == back:
		return false, changedMeanwhile(c.ID)
	}
	return true, s.applied(ctx, c.ID, p)
}

// applied fails unless all that the patch says is so: somebody else has brought
// it to its end.
func (s *Store) applied(ctx context.Context, id string, p Patch) error {
	now, err := s.Read(ctx, id)
	if err != nil {
		return err
	}
	left, err := now.writes(p)
	if intent.CodeOf(err) == intent.Conflict || err == nil && len(left) > 0 {
		return changedMeanwhile(id)
	}
	return err
}

// unchanged compares that a context is as it was read. Writes of rsync and the monitor
// into a context at work do not concern a patch of the children alone.
func (c *Context) unchanged(all []write) []kv.Compare {
	when := []kv.Compare{kv.Unchanged(metaKey(c.ID), &c.meta)}
	if !slices.ContainsFunc(all, func(w write) bool { return w.key != metaKey(c.ID) }) {
		return when
	}
	when = append(when,
		kv.Unchanged(journalKey(c.ID), nil),
		kv.Exists(contextKey(c.ID)), kv.Exists(contextKey(c.ID)+appOrderLevel),
		kv.NotAfter(appsKey(c.ID), c.Revision))
	return append(when, remain(c.ID, all, maxCompares-len(when))...)
}

// maxCompares is how many compares a transaction of thousands may have.
const maxCompares = kv.MaxOps / 2

// remain compares that the overwritten keys are still there, which NotAfter does not see.
// It compares each key if they are few, else the clusters or the apps.
func remain(id string, all []write, most int) []kv.Compare {
	whole, cluster, app := 10, 7, 5 // segments of /context/<id>/app/<app>/cluster/<cluster>/resource/<key>/
	for _, depth := range []int{whole, cluster, app} {
		var when []kv.Compare
		last := ""
		for _, w := range all {
			parts := strings.SplitAfter(w.key, "/")
			key := strings.Join(parts[:min(depth, len(parts))], "")
			if key != last && w.before != nil && w.key != metaKey(id) {
				last = key
				when = append(when, kv.Exists(key))
			}
		}
		if len(when) <= most {
			return when
		}
	}
	return nil
}

// fits tells whether one transaction can hold all.
func fits(all []write) bool {
	size := 0
	for _, w := range all {
		size += len(w.key) + len(w.after)
	}
	return len(all) <= kv.MaxOps*kv.MaxOps/4 && (size <= kv.MaxBytes || len(all) == 1)
}
