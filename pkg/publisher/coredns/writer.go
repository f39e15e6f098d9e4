package coredns

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

const (
	page     = 64  // keys of one range of a read
	pages    = 32  // of one range, before a name is refused that has too much below it
	mostKeys = 100 // that one transaction changes; etcd allows 128 operations
)

// Writer writes names to one etcd.
type Writer struct {
	client *clientv3.Client
	prefix string // between slashes
	marks  marks.Marks
	strict bool // values name their owner (coredns-strictly-owned)
	dialed *lastError
}

// version is what a State was read from.
type version struct {
	records []entry
	marks   map[string][]entry // by the type that is marked
}

// Close closes the connections.
func (w *Writer) Close() { _ = w.client.Close() }

// Read answers the state of each of the names, by one request. It reads the keys of the names and
// of their marks. Keys of other names are read only if they stand below one of the names.
func (w *Writer) Read(ctx context.Context, names []string, _ ...string) (map[string]publisher.State, error) {
	if len(names) > publisher.Most {
		return nil, fault.Errorf(publisher.Invalid, "a read of %d names; the most are %d", len(names), publisher.Most)
	}
	var directories []string
	for _, name := range names {
		directories = append(directories, w.directories(name)...)
	}
	slices.Sort(directories) // a name may be that of another name's mark
	found, crowded, err := w.list(ctx, slices.Compact(directories))
	if err != nil {
		return nil, err
	}
	states, unread := make(map[string]publisher.State, len(names)), publisher.Unread{}
	for _, name := range names {
		states[name] = w.state(name, found)
		for _, directory := range w.directories(name) {
			if err := crowded[directory]; err != nil {
				delete(states, name)
				unread[name] = err
			}
		}
	}
	return states, unread.Err()
}

// directories are those of a name and of its marks.
func (w *Writer) directories(name string) []string {
	all := []string{path(w.prefix, name)}
	for _, kind := range publisher.Managed() {
		all = append(all, path(w.prefix, w.marks.Name(name, kind)))
	}
	return all
}

// state puts a name's records and marks together.
func (w *Writer) state(name string, found map[string][]entry) publisher.State {
	v := version{records: found[path(w.prefix, name)], marks: map[string][]entry{}}
	state := publisher.State{Name: name, Sets: sets(name, v.records), Orphans: map[string]publisher.Mark{}}
	for _, kind := range publisher.Managed() {
		mark, is := publisher.Mark{}, false
		for _, e := range found[path(w.prefix, w.marks.Name(name, kind))] {
			if read, ok := marks.Parse(e.service.Text); ok && e.service.Text != "" {
				mark, is = read, true
				v.marks[kind] = append(v.marks[kind], e)
			}
		}
		has := false
		for n := range state.Sets {
			if state.Sets[n].Type == kind {
				state.Sets[n].Mark, has = mark, true
			}
		}
		if is && !has {
			state.Orphans[kind] = mark
		}
	}
	state.Version = v
	return state
}

// list reads the entries of directories, the first page of all at one revision. A directory with too much below it is
// crowded, with the reason.
func (w *Writer) list(ctx context.Context, directories []string) (found map[string][]entry, crowded map[string]error, err error) {
	found, crowded = map[string][]entry{}, map[string]error{}
	var ops []clientv3.Op
	for _, directory := range directories {
		ops = append(ops, clientv3.OpGet(directory), clientv3.OpGet(directory+"/", clientv3.WithPrefix(), clientv3.WithLimit(page)))
	}
	for start := 0; start < len(ops); start += mostKeys {
		part := ops[start:min(start+mostKeys, len(ops))]
		answer, err := w.client.Txn(ctx).Then(part...).Commit()
		if err != nil {
			return nil, nil, w.failed("read", err)
		}
		revision := answer.Header.Revision
		for n, response := range answer.Responses {
			directory, got := directories[(start+n)/2], (*clientv3.GetResponse)(response.GetResponseRange())
			switch err := w.more(ctx, directory, revision, got, found); fault.Of(err) {
			case "":
			case publisher.Invalid:
				crowded[directory] = err
			default:
				return nil, nil, err
			}
		}
	}
	return found, crowded, nil
}

// more keeps the entries of a page, and reads on where keys are left. Further keys of
// a name below are passed by.
func (w *Writer) more(ctx context.Context, directory string, revision int64, got *clientv3.GetResponse, found map[string][]entry) error {
	for range pages {
		last := ""
		for _, pair := range got.Kvs {
			last = string(pair.Key)
			e := entry{key: last, revision: pair.ModRevision}
			if err := json.Unmarshal(pair.Value, &e.service); err != nil {
				continue // CoreDNS does not answer from it either
			}
			if e.isOf(directory) {
				found[directory] = append(found[directory], e)
			}
		}
		if !got.More {
			return nil
		}
		var err error
		got, err = w.client.Get(ctx, after(directory, last), clientv3.WithRange(clientv3.GetPrefixRangeEnd(directory+"/")),
			clientv3.WithLimit(page), clientv3.WithRev(revision))
		if err != nil {
			return w.failed("read", err)
		}
	}
	return fault.Errorf(publisher.Invalid, "more than %d keys stand below %s, and CoreDNS answers that name with all of them; publish another name", pages*page, directory)
}

// after is where a range goes on after a key: behind all that stands below the key's first label.
func after(directory, key string) string {
	rest := strings.TrimPrefix(key, directory+"/")
	first, _, deeper := strings.Cut(rest, "/")
	if !deeper {
		return key + "\x00"
	}
	return directory + "/" + first + "0" // the next character after the slash
}

// Write changes one name by one transaction. It compares all keys of the change with what was read. Each
// change of a set writes its mark, so that of two changes that were read alike one fails.
func (w *Writer) Write(ctx context.Context, change publisher.Change) error {
	steps, err := change.Steps(w.marks.Owner())
	if err != nil || len(steps) == 0 {
		return err
	}
	v, ok := change.Before.Version.(version)
	if !ok {
		return fault.Errorf(publisher.Invalid, "a change of %s was not read by this writer", change.Before.Name)
	}
	t := newTransaction(w, change.Before.Name, v)
	for _, step := range steps {
		if err := t.add(step); err != nil {
			return err
		}
	}
	return t.commit(ctx)
}
