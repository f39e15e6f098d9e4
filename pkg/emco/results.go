package emco

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Place is where a resource is in a context.
type Place struct {
	App     string
	Cluster string // "provider+cluster"
	Key     string // "name+Kind"
}

// Result is what rsync has noted about a resource.
type Result struct {
	Status  string // Pending, Applied, Failed, Retrying or Deleted; empty: nothing yet
	Context string // id of the context for which it worked on the resource last
}

// Results are what rsync has noted in a context that has the statuses.
type Results struct {
	Resources map[Place]Result
	Waiting   map[string]bool // clusters that rsync waits for
}

// Results answers what rsync has noted about the resources of a context, which
// is the StatusContext of those that it was asked about. There is nothing to
// answer for a context that is not there.
func (s *Store) Results(ctx context.Context, id string) (Results, error) {
	r := Results{Resources: map[Place]Result{}, Waiting: map[string]bool{}}
	if err := checkID(id); err != nil {
		return r, err
	}
	err := s.pages(ctx, kv.Range{Prefix: appsKey(id)}, func(items []kv.Item) error {
		for _, item := range items {
			r.take(levelOf(strings.TrimPrefix(item.Key, contextKey(id))), item.Value)
		}
		return nil
	})
	return r, err
}

// take files a key. A value of another form says nothing.
func (r *Results) take(l level, value []byte) {
	if l.cluster == "" {
		return
	}
	if l.rest == "readystatus/" {
		var ready string
		r.Waiting[l.cluster] = r.Waiting[l.cluster] || json.Unmarshal(value, &ready) == nil && ready == "Retrying"
		return
	}
	key, what, ok := strings.Cut(strings.TrimPrefix(l.rest, "resource/"), "/")
	if !ok || !strings.HasPrefix(l.rest, "resource/") {
		return
	}
	at := Place{l.app, l.cluster, key}
	result := r.Resources[at]
	switch what {
	case statusLevel:
		var state struct{ Status string }
		_ = json.Unmarshal(value, &state)
		result.Status = state.Status
	case "reference/":
		_ = json.Unmarshal(value, &result.Context)
	default:
		return
	}
	r.Resources[at] = result
}

// activePrefix is where rsync notes the contexts that it has work left for.
const activePrefix = "/activecontext/"

// Active tells whether rsync works on a context, or will.
func (s *Store) Active(ctx context.Context, id string) (bool, error) {
	item, _, err := s.kv.Get(ctx, activePrefix+id+"/")
	return item != nil, err
}

// WatchActive delivers the contexts that rsync has begun to work on, or is done with,
// from a revision on (inclusive; 0 for now). When ctx ends, the channel closes.
func (s *Store) WatchActive(ctx context.Context, from int64) <-chan Change {
	return s.watch(ctx, activePrefix, from, func(batch kv.Batch) Change {
		change := Change{Lost: batch.Compacted}
		for _, event := range batch.Events {
			id := strings.TrimSuffix(strings.TrimPrefix(event.Key, activePrefix), "/")
			change.Contexts = append(change.Contexts, Changed{ID: id, State: true})
		}
		return change
	})
}

// Resting compares that rsync has no work left for a context.
func Resting(id string) kv.Compare { return kv.Compare{Key: activePrefix + id + "/"} }

// StatusesIn has rsync note in another context what becomes of this one's
// resources, as EMCO does for updates.
func StatusesIn(id, statuses string) kv.Op {
	return kv.Put(contextKey(id)+statusContextLevel, jsonOf(statuses))
}

// Installed has rsync believe that it has installed a context.
func Installed(id string) kv.Op {
	return kv.Put(contextKey(id)+currentStateLevel, []byte(`{"Status":"Instantiated"}`))
}
