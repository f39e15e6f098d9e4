package state

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// RecordLifecycle is the document that pins a record as it is deployed. It
// lives in the internal lifecycle collection under the record's path. While
// the record is deployed it refers to the record, its home and its sealed
// values, so that none of these can be deleted.
type RecordLifecycle struct {
	Seq       int64            `json:"seq"` // of the frozen record, from 1
	Record    plan.Record      `json:"record"`
	Deployed  bool             `json:"deployed"`         // an external-dns of it is, or is about to be, in a cluster
	ContextID string           `json:"contextID"`        // of the last pinning or update
	Moving    bool             `json:"moving,omitempty"` // its external-dns waits at its new home for the names to follow
	PinnedAt  time.Time        `json:"pinnedAt"`
	Trace     string           `json:"trace,omitempty"`    // of the request that pinned or updated it, as traceparent
	Adopting  *intent.Adoption `json:"adopting,omitempty"` // whose names its external-dns takes over; nil: nobody's
	Events    []intent.Event   `json:"events,omitempty"`

	revision int64
}

// keptRecord is the lifecycle of a provider that was read lately, and what it was decoded from.
type keptRecord struct {
	body []byte
	read RecordLifecycle
}

// RecordLifecycle reads what is deployed of a provider. All of its users ask for that, so that it is decoded once. It is
// shared: nobody may change its slices, maps and pointers.
func (s *Store) RecordLifecycle(ctx context.Context, record intent.Path) (l RecordLifecycle, err error) {
	doc, err := s.Documents.Get(ctx, LifecyclePath(record))
	if intent.CodeOf(err) == intent.NotFound {
		return RecordLifecycle{}, nil
	}
	if err != nil {
		return RecordLifecycle{}, err
	}
	if known, is := s.records.Get(record); is && bytes.Equal(known.body, doc.Body) {
		l = known.read
	} else if err = json.Unmarshal(doc.Body, &l); err == nil {
		l.Events = slices.Clip(l.Events)
		s.records.Keep(record, keptRecord{doc.Body, l}, mostPinned)
	}
	l.revision = doc.Revision
	return l, err
}

// SwapRecord writes a provider's lifecycle if nobody has written it since it was read.
func (s *Store) SwapRecord(ctx context.Context, record intent.Path, l RecordLifecycle) (RecordLifecycle, error) {
	var refs []intent.Path
	if l.Deployed {
		refs = recordRefs(l.Record)
	}
	if extra := len(l.Events) - keptEvents; extra > 0 {
		l.Events = slices.Clone(l.Events[extra:])
	}
	doc, err := SwapDocument(ctx, s.Documents, l, intent.Write{Path: LifecyclePath(record), Refs: refs}, l.revision)
	l.revision = doc.Revision
	return l, err
}

// SaveRecord stores a provider's lifecycle as it was changed, unless it says what was
// read. Of its new events the history is told, and a controller.
func (s *Store) SaveRecord(ctx context.Context, was, is RecordLifecycle) error {
	if same(was, is) {
		return nil
	}
	if _, err := s.SwapRecord(ctx, is.Record.Path, is); err != nil {
		return err
	}
	if told := is.Events[len(was.Events):]; len(told) > 0 {
		s.Tell(ctx, is.Record.Path, told...)
		s.Wake(is.Record.Path)
	}
	return nil
}

func recordRefs(r plan.Record) []intent.Path {
	refs := []intent.Path{r.Path}
	if r.Home != nil && !r.Home.IsPublisher() {
		refs = append(refs, r.Home.Path())
	}
	for _, c := range r.Spec.Credentials {
		if c.ValueRef != "" {
			refs = append(refs, intent.Join(intent.SecretCollection, c.ValueRef))
		}
	}
	return refs
}

// Freeze pins a live record: its spec, its external-dns version, its owner id. A pinned
// value stays, unless the spec now says otherwise.
func (s *Store) Freeze(doc intent.Document, project plan.Project, home *intent.ClusterRef, before RecordLifecycle) (plan.Record, error) {
	resource, err := intent.Of[intent.Record](doc)
	if err != nil {
		return plan.Record{}, err
	}
	r := plan.Record{
		Installation: s.Installation, Path: doc.Path, UID: doc.UID, Project: project,
		Revision: doc.Revision, Name: doc.Path.Name(), Spec: resource.Spec, Home: home,
	}
	pinned := ""
	if before.Record.UID == doc.UID && before.Deployed {
		pinned = before.Record.Version
	}
	r.Version, r.Image = image(s.ImageRegistry, resource.Spec, pinned)
	r.OwnerID = plan.OwnerID(s.Installation, doc.UID)
	if own := OwnOwnerID(resource.Spec); own != "" {
		r.OwnerID = own
	}
	SetPace(&r, 0, before)
	return r, nil
}

// image resolves the external-dns version and image of a record: the record's
// own, else the pinned version, else the default.
func image(registry string, spec intent.Record, pinned string) (version, image string) {
	if spec.Image != "" {
		return versionOf(spec.Image), spec.Image
	}
	version = spec.Version
	version = cmp.Or(version, pinned, externaldns.DefaultVersion.String())
	return version, DefaultImage(registry, externaldns.Image) + ":" + version
}

// versionOf reads the version from an image's tag. An image whose tag is no
// version counts as the default version.
func versionOf(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if _, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":"); tagged {
		if v, err := externaldns.ParseVersion(tag); err == nil {
			return v.String()
		}
	}
	return externaldns.DefaultVersion.String()
}

// AtRest reports whether the provider is deployed, and nothing about its external-dns is under way.
func (l *RecordLifecycle) AtRest() bool {
	return l.Deployed && !l.Moving && l.Adopting == nil
}

// Deploys reports whether what is deployed of a provider is what its document says. A
// document that says the same at another revision is deployed.
func (l *RecordLifecycle) Deploys(doc intent.Document) (bool, error) {
	resource, err := intent.Of[intent.Record](doc)
	if err != nil || !l.Deployed || l.Record.UID != doc.UID {
		return false, err
	}
	now := l.Record
	now.Spec = resource.Spec
	return SameRecord(l.Record, now), nil
}

// SameRecord says whether two frozen records deploy the same.
func SameRecord(a, b plan.Record) bool {
	a.Revision, b.Revision = 0, 0
	return same(a, b)
}
