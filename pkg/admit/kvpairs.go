package admit

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// kvPairs admits the KV pairs of a logical cloud or of a cluster. The values
// of the document called dns-update-record-list name records; those of others
// are the user's own.
func (a *Admitter) kvPairs(ctx context.Context, r *review, in, _ *intent.KVPairs) error {
	at := spec + "/kv"
	if in.KV == nil {
		in.KV = []map[string]json.RawMessage{}
	}
	places := map[string]pointer{}
	for i, pair := range in.KV {
		if len(pair) != 1 {
			r.refusef(at.index(i), "has %d keys; give each pair as an object of one key, as {\"key1\": \"value\"}", len(pair))
		}
		for _, key := range slices.Sorted(maps.Keys(pair)) {
			here := at.index(i).key(key)
			if first, twice := places[key]; twice {
				r.refusef(here, "%s is given at %s already; give each key once", quote(key), first)
			} else {
				places[key] = here
			}
			if err := a.kvPair(ctx, r, here, key, pair[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Admitter) kvPair(ctx context.Context, r *review, at pointer, key string, raw json.RawMessage) error {
	if key == "" {
		r.refusef(at, "has an empty key; give it a name")
	}
	if len(raw) == 0 || string(raw) == "null" {
		r.refusef(at, "has no value; give one, or leave the pair out")
		return nil
	}
	if r.path.Name() != intent.AssociationName {
		return nil
	}
	if record, ok := text(raw); ok {
		return a.association(ctx, r, at, record)
	}
	r.refusef(at, "is no text; give the name of a record in quotes")
	return nil
}

// text is the text that a JSON value is, if it is one.
func text(raw json.RawMessage) (string, bool) {
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// association checks one record of an association and notes the reference. On
// a cluster a bare name means the record of the project that plans, which is
// none in particular.
func (a *Admitter) association(ctx context.Context, r *review, at pointer, value string) error {
	project, record := r.project(), value
	if project == "" {
		var qualified bool
		if project, record, qualified = strings.Cut(value, "/"); !qualified {
			project, record = "", value
		} else if !isLabelValue(project) {
			r.refusef(at, "%s names no project; give project/record", quote(value))
			return nil
		}
	}
	if !isLabelValue(record) {
		r.refusef(at, "%s is no name of a record; %s", quote(value), valueAdvice)
		return nil
	}
	if project == "" {
		return nil
	}
	path := recordPath(project, record)
	if err := a.welcome(ctx, r, at, project); err != nil {
		return err
	}
	found, err := find[intent.Record](ctx, a.store, path)
	if err != nil {
		return err
	}
	if found == nil {
		a.missing(r, at, path)
	}
	r.refer(path)
	return nil
}

// welcome checks that a cluster's association names no project that the
// cluster shuts out.
func (a *Admitter) welcome(ctx context.Context, r *review, at pointer, project string) error {
	if r.project() != "" {
		return nil
	}
	cluster, err := find[intent.Cluster](ctx, a.store, r.path.Parent())
	if err == nil && cluster != nil && len(cluster.Projects) > 0 && !slices.Contains(cluster.Projects, project) {
		r.conflictf(at, "%s allows only the projects %s, not %s", r.path.Parent(), strings.Join(cluster.Projects, ", "), project)
	}
	return err
}

func recordPath(project, record string) intent.Path {
	return intent.Join("projects", project, "dns-update-records", record)
}
