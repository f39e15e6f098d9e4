// Package ledger records, per cluster, the objects that Signpost has there. Each object
// has an entry, written as intent before the first request and removed when the object is
// confirmed to be absent. Deletions follow from it (ledger minus current bundles) and are
// never queued. So they survive dead clusters, repeated instantiation, and restarts.
//
// A cluster's entries are written by one worker at a time, fenced by the key that it
// owns; anybody reads them.
package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Status is how far an object has come.
type Status string

// The statuses.
const (
	Pending  Status = "Pending"  // nothing was tried yet
	Applied  Status = "Applied"  // the cluster has it with the content of Digest
	Retrying Status = "Retrying" // the last attempt failed, and another one may well succeed
	Failed   Status = "Failed"   // the cluster refuses it, or somebody else's object is in its place
	Deleted  Status = "Deleted"  // the delete was accepted, its end is awaited
)

// Entry is what is known of one object.
type Entry struct {
	ID              bundle.ID `json:"-"`
	UID             string    `json:"uid,omitempty"`
	ResourceVersion string    `json:"version,omitempty"`
	Generation      int64     `json:"generation,omitempty"`
	Digest          string    `json:"digest,omitempty"` // of the content that was last applied, empty before the first time
	Owners          []string  `json:"owners,omitempty"` // whose current contexts hold the object, who held it first in front; whose did last, when it is Going
	Losing          []string  `json:"losing,omitempty"` // those of Owners who want another content than the one applied
	CreatedByUs     bool      `json:"ours,omitempty"`   // false: somebody else's, used as it is or in the way
	Shared          bool      `json:"shared,omitempty"` // somebody else's, in which keys are ours
	Going           bool      `json:"going,omitempty"`  // no current context holds it any more: it is to go
	Kept            bool      `json:"kept,omitempty"`   // it is to go but others still use it (a namespace)
	Status          Status    `json:"-"`
	Message         string    `json:"message,omitempty"`
	Drift           string    `json:"drift,omitempty"` // what others have added to it, where that stays
	Since           time.Time `json:"since,omitzero"`  // UTC, of the last change of Status or Digest

	Stages *Stages `json:"-"` // of a DNSEndpoint, of its last change, up to Written; not changed any more
}

// Progress is the entry's state as an owner sees it who wants the content of
// a digest. Nothing is Applied but what was applied with that content.
func (e Entry) Progress(owner, digest string) (Status, string) {
	switch {
	case slices.Contains(e.Losing, owner):
		return Failed, e.Message
	case e.Going, e.Status == Applied && e.Digest != digest:
		return Pending, ""
	}
	return e.Status, strings.Join(slices.DeleteFunc([]string{e.Message, e.Drift}, func(text string) bool { return text == "" }), "; ")
}

// Written is since when the cluster has the object with the content of a digest. It is zero if that is not so, or not known.
func (e Entry) Written(digest string) time.Time {
	switch {
	case e.Going || e.Status != Applied || e.Digest != digest:
		return time.Time{}
	case e.Stages == nil:
		return e.Since
	}
	return e.Stages.Times().Written
}

// Of selects the entries that an owner's contexts hold or held last.
func Of(entries []Entry, owner string) []Entry {
	var out []Entry
	for _, e := range entries {
		if slices.Contains(e.Owners, owner) {
			out = append(out, e)
		}
	}
	return out
}

// Held tells whether something of ours may be in the cluster: the object, or
// keys in it.
func (e Entry) Held() bool { return e.CreatedByUs || e.Shared }

// Lingers tells whether the end of the object is not waited for when its
// owner's objects are deleted: a namespace takes its time, or stays.
func (e Entry) Lingers() bool {
	return e.ID.Kind == "Namespace" && e.ID.Group == ""
}

// Equal tells whether the entries say the same of the same object, whenever
// that came about.
func (e Entry) Equal(other Entry) bool {
	same := slices.Equal(e.Owners, other.Owners) && slices.Equal(e.Losing, other.Losing)
	return same && e.ID == other.ID && e.UID == other.UID && e.ResourceVersion == other.ResourceVersion &&
		e.Generation == other.Generation && e.Digest == other.Digest && e.CreatedByUs == other.CreatedByUs && e.Shared == other.Shared &&
		e.Going == other.Going && e.Kept == other.Kept && e.Status == other.Status && e.Message == other.Message
}

// Layout of the keys.
const (
	prefix         = "/signpost/ledger/"
	identityPrefix = "/signpost/cluster/"
	claimPrefix    = "/signpost/identity/"
	coreGroup      = "core"
	noNamespace    = "_"
	segmentsOfKey  = 5 // cluster, group, kind, namespace, name
)

func clusterPrefix(cluster string) string { return prefix + cluster + "/" }

// Key is where the object's entry is.
func Key(id bundle.ID) string {
	group, namespace := id.Group, id.Namespace
	group, namespace = cmp.Or(group, coreGroup), cmp.Or(namespace, noNamespace)
	return clusterPrefix(id.Cluster) + strings.Join([]string{group, id.Kind, namespace, id.Name}, "/")
}

func parseKey(key string) (bundle.ID, error) {
	segments := strings.Split(strings.TrimPrefix(key, prefix), "/")
	if len(segments) != segmentsOfKey {
		return bundle.ID{}, fmt.Errorf("%s is not a key of the ledger", key)
	}
	id := bundle.ID{Cluster: segments[0], Group: segments[1], Kind: segments[2], Namespace: segments[3], Name: segments[4]}
	if id.Group == coreGroup {
		id.Group = ""
	}
	if id.Namespace == noNamespace {
		id.Namespace = ""
	}
	return id, nil
}

func decode(item kv.Item) (Entry, error) {
	id, err := parseKey(item.Key)
	if err != nil {
		return Entry{}, err
	}
	e := storedEntry{}
	if err := json.Unmarshal(item.Value, &e); err != nil {
		return Entry{}, fmt.Errorf("%s: %w", item.Key, err)
	}
	e.Entry.ID, e.Entry.Status = id, cmp.Or(e.Status, Applied)
	if e.Stages != nil {
		e.Entry.Stages = e.Stages.stages(e.Since)
	}
	return e.Entry, nil
}

func decodeAll(items []kv.Item) ([]Entry, error) {
	entries := make([]Entry, len(items))
	for n, item := range items {
		var err error
		if entries[n], err = decode(item); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// storedEntry is an entry as its key holds it: without what is usual (ADR 0087).
type storedEntry struct {
	Entry
	Status Status        `json:"status,omitempty"` // none: Applied
	Stages *storedStages `json:"stages,omitempty"`
}

func (e Entry) stored() storedEntry {
	out := storedEntry{Entry: e}
	if e.Status != Applied {
		out.Status = e.Status
	}
	if e.Stages != nil {
		out.Stages = e.Stages.stored(e.Since)
	}
	return out
}
