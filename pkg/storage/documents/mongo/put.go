package mongo

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

// targetPatience is how long a writer waits for the deleter of a document to
// which it refers.
const targetPatience = 5 * time.Second

// Put implements intent.Store.
func (s *Store) Put(ctx context.Context, write intent.Write) (intent.Document, error) {
	d, err := draft.Of(write)
	if err != nil {
		return intent.Document{}, err
	}
	var doc intent.Document
	err = s.insist(ctx, d.Path, func(ctx context.Context) (bool, error) {
		var done bool
		doc, done, err = s.tryPut(ctx, d)
		return done, err
	})
	return doc, err
}

// insist tries until it is done: others are changing the same record.
func (s *Store) insist(ctx context.Context, path intent.Path, try func(context.Context) (bool, error)) error {
	if _, has := ctx.Deadline(); !has {
		limited, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		ctx = limited
	}
	for attempt := 0; ; attempt++ {
		done, err := try(ctx)
		if done || err != nil {
			return err
		}
		if err := pause(ctx, attempt); err != nil {
			return &intent.Error{Code: intent.Unavailable, Detail: string(path) + " is being changed by others", Err: err}
		}
	}
}

func (s *Store) tryPut(ctx context.Context, d draft.Draft) (intent.Document, bool, error) {
	found, err := s.find(ctx, d.Path)
	if err != nil {
		return intent.Document{}, false, err
	}
	if err := d.Condition.Check(d.Path, found.revision()); err != nil {
		return intent.Document{}, false, err
	}
	next, changed, err := d.Next(found.document(), time.Now(), nil)
	if err != nil || !changed {
		return next, !changed, err
	}
	if found.busy() {
		return next, false, s.help(ctx, found)
	}
	before := found
	if added, _ := draft.Diff(refsOf(found), next.Refs); len(added) > 0 {
		if before, err = s.stage(ctx, d.Path, found, next, added); before == nil || err != nil {
			return next, false, err
		}
	}
	token, err := s.token()
	if err != nil {
		return next, false, err
	}
	result, err := s.swap(ctx, "promote", before, promoted(d.Path, next, token))
	if err == nil && result == overtaken {
		err = draft.Unknown(d.Path, nil)
	}
	return next, result == done, err
}

func refsOf(r *record) []intent.Path {
	if doc := r.document(); doc != nil {
		return doc.Refs
	}
	return nil
}

// stage writes the content as pending and checks the documents to which it newly refers.
// It answers the staged record, nil when another write came between. A refused stage is
// taken back.
func (s *Store) stage(ctx context.Context, path intent.Path, found *record, next intent.Document, added []intent.Path) (*record, error) {
	token, err := s.token()
	if err != nil {
		return nil, err
	}
	pending := staged(path, found, next, token, time.Now())
	if result, err := s.swap(ctx, "stage", found, pending); result != done || err != nil {
		return nil, err
	}
	missing, err := s.awaitTargets(ctx, added)
	if err == nil && missing != "" {
		err = draft.MissingReference(path, missing)
	}
	if err != nil {
		s.takeBack(ctx, "unstage", pending)
		return nil, err
	}
	return pending, nil
}

// takeBack undoes a stage or a mark. Sweep removes what it leaves.
func (s *Store) takeBack(ctx context.Context, name string, r *record) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if token, err := s.token(); err == nil {
		_, _ = s.swap(ctx, name, r, r.restored(token))
	}
}

// awaitTargets checks that each target has been seen there and not being
// deleted, and names the first one that is not. It gives deleters the time to
// finish, or to see who refers to their document and let it be.
func (s *Store) awaitTargets(ctx context.Context, targets []intent.Path) (intent.Path, error) {
	deadline := time.Now().Add(targetPatience)
	for attempt := 0; ; attempt++ {
		deleting, missing, err := s.checkTargets(ctx, targets)
		switch {
		case err != nil || missing != "" || len(deleting) == 0:
			return missing, err
		case time.Now().After(deadline):
			return deleting[0], nil
		}
		if err := pause(ctx, attempt); err != nil {
			return "", &intent.Error{Code: intent.Unavailable, Detail: string(deleting[0]) + " is being deleted", Err: err}
		}
		targets = deleting
	}
}

// checkTargets answers which targets are being deleted, and the first that is
// missing.
func (s *Store) checkTargets(ctx context.Context, targets []intent.Path) (deleting []intent.Path, missing intent.Path, err error) {
	projection := options.Find().SetProjection(bson.D{{Key: "live.revision", Value: 1}, {Key: "deleting", Value: 1}, {Key: "staged", Value: 1}})
	found, err := s.all(ctx, "look for what is referred to", bson.D{among(targets)}, projection)
	if err != nil {
		return nil, "", err
	}
	byID := make(map[string]*record, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	for _, target := range targets {
		r := byID[string(target)]
		if r.revision() == 0 {
			return nil, target, nil
		}
		if r.Deleting {
			deleting = append(deleting, target)
			if err := s.helpPath(ctx, r); err != nil {
				return nil, "", err
			}
		}
	}
	return deleting, "", nil
}
