package observed

import (
	"context"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// SightingKind is what a Sighting is of.
type SightingKind string

// The kinds.
const (
	OfReachability SightingKind = reachability
	OfDeployment   SightingKind = deploymentFolder
	OfPublished    SightingKind = publishedFolder
	OfAnswers      SightingKind = answerFolder
	OfService      SightingKind = serviceFolder
)

// Sighting is an observation that the state of names follows from. Of its last five
// fields that of its kind is set; none: it is observed no more.
type Sighting struct {
	Kind      SightingKind
	Cluster   string
	Namespace string // of the Deployment, the DNSEndpoint or the Service
	Name      string // likewise

	Reachability *Reachability
	Deployment   *Deployment
	Published    *Published
	Answers      *Answers
	Service      *address.Observation
}

// sightingOf reads an observation; false for one that names do not follow from. A damaged
// observation counts as none.
func sightingOf(item kv.Item) (Sighting, bool) {
	segments := strings.Split(strings.TrimPrefix(item.Key, prefix), "/")
	s := Sighting{Cluster: segments[0]}
	switch len(segments) {
	case 2: // cluster, kind
	case 4: //nolint:mnd // cluster, kind, namespace, name
		s.Namespace, s.Name = segments[2], segments[3]
	default:
		return s, false
	}
	s.Kind = SightingKind(segments[1])
	switch s.Kind {
	case OfReachability:
		s.Reachability = present[Reachability](item)
	case OfDeployment:
		s.Deployment = present[Deployment](item)
	case OfPublished:
		s.Published = present[Published](item)
	case OfAnswers:
		s.Answers = present[Answers](item)
	case OfService:
		s.Service = present[address.Observation](item)
	default:
		return s, false
	}
	return s, true
}

// present decodes an observation, nil for none.
func present[T any](item kv.Item) *T {
	value, err := decode[T](item)
	if err != nil {
		return nil
	}
	return &value
}

// EachSighting visits what the state of names follows from, page by page.
func (s *Store) EachSighting(ctx context.Context, visit func(Sighting)) error {
	return kv.Each(ctx, s.kv, prefix, func(item kv.Item) {
		if seen, ok := sightingOf(item); ok {
			visit(seen)
		}
	})
}

// Sightings is a batch of observations that changed. All changes up to its Revision are in it, or came before.
type Sightings struct {
	Seen     []Sighting
	Revision int64
	Lost     bool // history is missing: the reader looks at everything again
}

// WatchSightings tells what changes from a revision on (inclusive) until ctx ends, when
// the channel closes. It tells every few seconds how far it has come.
func (s *Store) WatchSightings(ctx context.Context, from int64) <-chan Sightings {
	return kv.Map(ctx, s.kv.Follow(ctx, prefix, from, kv.TellEvery), func(batch kv.Batch) Sightings {
		out := Sightings{Revision: batch.Revision, Lost: batch.Compacted}
		for _, event := range batch.Events {
			if seen, ok := sightingOf(event.Item); ok {
				out.Seen = append(out.Seen, seen)
			}
		}
		return out
	})
}
