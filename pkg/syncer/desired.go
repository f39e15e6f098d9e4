package syncer

import (
	"bytes"
	"context"
	"fmt"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/cluster"
)

// wanted is an object that current contexts hold for a cluster.
type wanted struct {
	object  bundle.Object
	digest  string
	shared  bool // it is somebody else's, in which keys are ours
	marks   cluster.Marks
	owners  []string // in order
	losing  []string // those of owners whose content differs from the first one's
	message string   // about the losing ones
}

// share is what one owner wants in the cluster.
type share struct {
	pointer appcontext.Pointer
	objects map[bundle.ID]*wanted
}

// desired is the union of what all owners want in one cluster. Shares whose
// pointer has not moved are not read again.
type desired struct {
	shares  map[appcontext.Owner]share
	objects map[bundle.ID]*wanted
}

// staleAttempts is how often a pointer may move while its context is read.
const staleAttempts = 5

// load brings the union up to the current pointers. It fails, and changes
// nothing, unless every owner's objects could be read: what is not known to be
// unwanted must not be deleted.
func (d *desired) load(ctx context.Context, x *index, contexts Contexts, name, installation string) error {
	for attempt := 1; ; attempt++ {
		shares, changed, err := d.read(ctx, x.pointers(name), contexts, name, installation)
		if err == nil {
			if changed || d.objects == nil {
				d.shares, d.objects = shares, union(x.pointers(name), shares)
			}
			return nil
		}
		if attempt == staleAttempts {
			return err
		}
		if _, _, refreshed := x.refresh(ctx); refreshed != nil {
			return refreshed
		}
	}
}

func (d *desired) read(ctx context.Context, pointers []appcontext.Pointer, contexts Contexts, name, installation string) (map[appcontext.Owner]share, bool, error) {
	shares := map[appcontext.Owner]share{}
	changed := len(pointers) != len(d.shares)
	for _, p := range pointers {
		if before, ok := d.shares[p.Owner]; ok && samePointer(before.pointer, p) {
			shares[p.Owner] = before
			continue
		}
		changed = true
		objects, err := contexts.ObjectsOn(ctx, p, name)
		if err != nil {
			return nil, false, fmt.Errorf("read what %s wants: %w", p.Owner, err)
		}
		s := share{pointer: p, objects: map[bundle.ID]*wanted{}}
		for _, o := range objects {
			marks, err := cluster.MarksOf(o, installation)
			if err != nil {
				return nil, false, fmt.Errorf("read what %s wants: %w", p.Owner, err)
			}
			s.objects[o.ID] = &wanted{object: o, digest: o.Digest(), shared: o.Shared(), marks: marks}
		}
		shares[p.Owner] = s
	}
	return shares, changed, nil
}

// union merges the shares. Where owners differ on an object, the first one's
// content counts, and the others are told.
func union(pointers []appcontext.Pointer, shares map[appcontext.Owner]share) map[bundle.ID]*wanted {
	out := map[bundle.ID]*wanted{}
	for _, p := range pointers {
		owner := string(p.Owner)
		for id, mine := range shares[p.Owner].objects {
			w, ok := out[id]
			if !ok {
				first := *mine
				first.owners = []string{owner}
				out[id] = &first
				continue
			}
			w.owners = append(w.owners, owner)
			if !bytes.Equal(w.object.JSON, mine.object.JSON) {
				w.losing = append(w.losing, owner)
				w.message = fmt.Sprintf("%s and %s want different contents: that of %s is applied", w.owners[0], w.losing[0], w.owners[0])
			}
		}
	}
	return out
}
