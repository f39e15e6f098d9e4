package emco

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// State is what EMCO's rsync says of a context, in its words: Created, Instantiating,
// Instantiated, InstantiateFailed, Updating, Updated, UpdatedFailed, Terminating,
// Terminated or TerminateFailed. If it has said nothing, State is empty.
type State struct {
	Status  string // of the context
	Current string // what rsync has done
	Desired string // what it has been told to do

	// Told is the event that rsync was told of last: Instantiate, Update, UpdateDelete or
	// Terminate; empty for none. It is written down before EMCO goes on, and stays so.
	// Other is the id of the context that an Update replaces, or that this one is
	// replaced by in an UpdateDelete.
	Told  string
	Other string

	// StatusContext is the id of the context that has the statuses: the first
	// one of the deployment intent group, after updates too.
	StatusContext string
}

// State answers the state of a context, of one that is not Signpost's business
// as well. It has the code Invalid for an id that is none, NotFound, and
// Conflict for a state that cannot be read.
func (s *Store) State(ctx context.Context, id string) (State, error) {
	if err := checkID(id); err != nil {
		return State{}, err
	}
	for {
		root, revision, err := s.kv.Get(ctx, contextKey(id))
		if err != nil {
			return State{}, err
		}
		r := reading{id: id, root: root, revision: revision}
		if root == nil {
			return State{}, about(id, intent.NotFound, "does not exist")
		}
		err = s.each(ctx, revision, r.ofContext, contextKey(id), statusLevel, currentStateLevel, desiredStateLevel, statusContextLevel, queueLevel)
		switch {
		case errors.Is(err, kv.ErrCompacted):
			continue
		case err != nil:
			return State{}, err
		}
		return r.state()
	}
}

// each hands over the keys of these levels that are there, as they were at a
// revision.
func (s *Store) each(ctx context.Context, revision int64, take func(level string, item kv.Item), below string, levels ...string) error {
	for _, one := range levels {
		items, _, err := s.kv.Range(ctx, kv.Range{Prefix: below + one, Limit: 1, Revision: revision})
		if err != nil {
			return err
		}
		if len(items) == 1 && items[0].Key == below+one {
			take(one, items[0])
		}
	}
	return nil
}

func (r *reading) state() (State, error) {
	state := State{StatusContext: r.id}
	for from, into := range map[string]*string{statusLevel: &state.Status, currentStateLevel: &state.Current, desiredStateLevel: &state.Desired} {
		item, exists := r.status[from]
		var value struct{ Status string }
		if exists && json.Unmarshal(item.Value, &value) != nil {
			return State{}, about(r.id, intent.Conflict, "holds no state at %s", item.Key)
		}
		*into = value.Status
	}
	if err := r.told(&state); err != nil {
		return State{}, err
	}
	if item, exists := r.status[statusContextLevel]; exists {
		if json.Unmarshal(item.Value, &state.StatusContext) != nil || !intent.IsContextID(state.StatusContext) {
			return State{}, about(r.id, intent.Conflict, "holds no id of a context at %s", item.Key)
		}
	}
	return state, nil
}

// told reads the queue of events, which rsync only adds to.
func (r *reading) told(state *State) error {
	item, exists := r.status[queueLevel]
	if !exists {
		return nil
	}
	var queue struct {
		AcQueue []struct {
			Event string `json:"event"`
			UCID  string `json:"uCID"`
		}
	}
	if json.Unmarshal(item.Value, &queue) != nil {
		return about(r.id, intent.Conflict, "holds no queue of events at %s", item.Key)
	}
	for _, e := range queue.AcQueue {
		switch e.Event {
		case "Instantiate", "Update", "UpdateDelete", "Terminate":
			state.Told, state.Other = e.Event, e.UCID
		}
	}
	return nil
}

// Change says what has happened to contexts of EMCO.
type Change struct {
	Contexts []Changed // each once, in order of the last that happened
	Lost     bool      // history is missing: the reader looks at all contexts again
}

// Changed says what of a context has changed.
type Changed struct {
	ID       string
	State    bool // what State answers
	Observed bool // what Observed answers for those whose StatusContext it is
	Meta     bool
	Gone     bool // the whole context was deleted; a later one may have its id
}

// Watch delivers what happens to contexts from a revision on (inclusive; 0 for
// now) until ctx ends, when the channel closes. Contexts of all kinds are
// among them: EMCO keeps those of logical clouds and networks in the same
// place, and so does Signpost.
func (s *Store) Watch(ctx context.Context, from int64) <-chan Change {
	return s.watch(ctx, contextPrefix, from, changeOf)
}

func (s *Store) watch(ctx context.Context, prefix string, from int64, changeOf func(kv.Batch) Change) <-chan Change {
	out := make(chan Change)
	go func() {
		defer close(out)
		for batch := range s.kv.Watch(ctx, prefix, from) {
			change := changeOf(batch)
			if len(change.Contexts) == 0 && !change.Lost {
				continue
			}
			select {
			case out <- change:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func changeOf(batch kv.Batch) Change {
	change := Change{Lost: batch.Compacted}
	at := map[string]int{}
	for _, event := range batch.Events {
		id, below, _ := strings.Cut(strings.TrimPrefix(event.Key, contextPrefix), "/")
		was := Changed{ID: id}
		n, known := at[id]
		if known {
			was = change.Contexts[n]
		}
		now := was.with(below, event.Deleted)
		switch {
		case now == was:
		case known:
			change.Contexts[n] = now
		default:
			at[id] = len(change.Contexts)
			change.Contexts = append(change.Contexts, now)
		}
	}
	return change
}

func (c Changed) with(below string, deleted bool) Changed {
	switch l := levelOf(below); {
	case below == "":
		c.Gone = deleted
	case below == metaLevel:
		c.Meta = true
	case below == statusLevel, below == currentStateLevel, below == desiredStateLevel, below == statusContextLevel, below == queueLevel:
		c.State = true
	case l.cluster != "" && l.rest == statusLevel:
		c.Observed = true
	}
	return c
}
