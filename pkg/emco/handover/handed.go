package handover

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// handed is what was handed over of an owner on one cluster: the record, and what the
// contexts hold that it names.
type handed struct {
	store   *Store
	cluster string
	owner   appcontext.Owner
	fence   kv.Compare

	record              record
	given, before, rest bundle.Bundle // what Context, Before and Rest hold
}

// Empty tells whether rsync has nothing of the owner any more.
func (h *handed) Empty() bool { return h.record.empty() }

// asGiven is an object by the app that it was handed over with.
func (h *handed) asGiven(o bundle.Object) bundle.Object {
	if given, found := h.given.Find(o.ID); found {
		return given
	}
	return o
}

// Contexts are those that rsync has, or had.
func (h *handed) Contexts() []string {
	return spend(h.record.Spent, h.record.Context, h.record.Before, h.record.Rest, h.record.First)
}

// Gave tells whether rsync has been given an object as it is.
func (h *handed) Gave(o bundle.Object) bool { return same(h.given, o) }

// Loses tells whether rsync has been given objects that are not among those
// that are wanted.
func (h *handed) Loses(wanted func(bundle.ID) bool) bool {
	return slices.ContainsFunc(h.given, func(o bundle.Object) bool { return !wanted(o.ID) })
}
