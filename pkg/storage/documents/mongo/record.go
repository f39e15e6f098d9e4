package mongo

import (
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// record is a document as it is stored. Each change of any kind gives it another Token,
// and each change compares the Token that it read. So every change is a compare-and-swap,
// and its Token tells whether it happened.
type record struct {
	ID         string    `bson:"_id"` // the path
	Collection string    `bson:"collection"`
	Name       string    `bson:"name"`
	Token      string    `bson:"token"`
	Live       *version  `bson:"live,omitempty"`     // what readers see, nil until the first promotion
	Pending    *version  `bson:"pending,omitempty"`  // what a writer wants to make of it
	Deleting   bool      `bson:"deleting,omitempty"` // a deleter is looking for references
	Staged     time.Time `bson:"staged,omitempty"`   // since when it has been pending or deleting
	Holds      []string  `bson:"holds,omitempty"`    // references of Live and Pending together, in one index
}

// version is a document's content.
type version struct {
	UID       string    `bson:"uid"`
	Revision  int64     `bson:"revision"`
	CreatedAt time.Time `bson:"createdAt"`
	UpdatedAt time.Time `bson:"updatedAt"`
	Refs      []string  `bson:"refs,omitempty"`
	Body      string    `bson:"body"` // a text, so that people can read it
	Schema    int       `bson:"schema"`
}

func versionOf(doc intent.Document) *version {
	v := &version{
		UID:       doc.UID,
		Revision:  doc.Revision,
		CreatedAt: doc.CreatedAt,
		UpdatedAt: doc.UpdatedAt,
		Body:      string(doc.Body),
		Schema:    doc.Schema,
	}
	for _, ref := range doc.Refs {
		v.Refs = append(v.Refs, string(ref))
	}
	return v
}

// document is what readers see of the record, nil when they see nothing.
func (r *record) document() *intent.Document {
	if r == nil || r.Live == nil {
		return nil
	}
	doc := &intent.Document{
		Path:      intent.Path(r.ID),
		UID:       r.Live.UID,
		Revision:  r.Live.Revision,
		CreatedAt: r.Live.CreatedAt.UTC(),
		UpdatedAt: r.Live.UpdatedAt.UTC(),
		Body:      []byte(r.Live.Body),
		Schema:    r.Live.Schema,
	}
	for _, ref := range r.Live.Refs {
		doc.Refs = append(doc.Refs, intent.Path(ref))
	}
	return doc
}

// revision is 0 for what readers do not see.
func (r *record) revision() int64 {
	if r == nil || r.Live == nil {
		return 0
	}
	return r.Live.Revision
}

// schema is the newest schema version that a content of the record needs.
func (r *record) schema() int {
	newest := 1
	for _, v := range []*version{r.Live, r.Pending} {
		if v != nil {
			newest = max(newest, v.Schema)
		}
	}
	return newest
}

// busy says that somebody is changing the record, or died over it.
func (r *record) busy() bool { return r != nil && (r.Pending != nil || r.Deleting) }

// staged is the record with a content that its writer has not promoted.
func staged(path intent.Path, found *record, next intent.Document, token string, now time.Time) *record {
	collection, name := path.Split()
	r := &record{ID: string(path), Collection: collection, Name: name, Token: token, Pending: versionOf(next), Staged: now}
	r.Holds = r.Pending.Refs
	if found != nil {
		r.Live = found.Live
		r.Holds = union(found.Live.Refs, r.Pending.Refs)
	}
	return r
}

// promoted is the record with the content for all to see.
func promoted(path intent.Path, next intent.Document, token string) *record {
	collection, name := path.Split()
	live := versionOf(next)
	return &record{ID: string(path), Collection: collection, Name: name, Token: token, Live: live, Holds: live.Refs}
}

// marked is the record while its deleter looks for references.
func (r *record) marked(token string, now time.Time) *record {
	m := *r
	m.Token, m.Deleting, m.Staged = token, true, now
	return &m
}

// restored is the record without what was pending or marked, nil when nothing
// is left of it.
func (r *record) restored(token string) *record {
	if r.Live == nil {
		return nil
	}
	return &record{ID: r.ID, Collection: r.Collection, Name: r.Name, Token: token, Live: r.Live, Holds: r.Live.Refs}
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
