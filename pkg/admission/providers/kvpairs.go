package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// CheckKVPairs admits the KV pairs of a logical cloud or of a cluster. The values
// of the document called dns-update-record-list name records; those of others
// are the user's own.
func CheckKVPairs(ctx context.Context, a *review.Checker, r *review.Review, in, _ *intent.KVPairs) error {
	at := review.Spec + "/kv"
	if in.KV == nil {
		in.KV = []map[string]json.RawMessage{}
	}
	places := map[string]review.Pointer{}
	for i, pair := range in.KV {
		if len(pair) != 1 {
			r.Refusef(at.Index(i), "has %d keys; give each pair as an object of one key, as {\"key1\": \"value\"}", len(pair))
		}
		for _, key := range slices.Sorted(maps.Keys(pair)) {
			here := at.Index(i).Key(key)
			if first, twice := places[key]; twice {
				r.Refusef(here, "%s is given at %s already; give each key once", review.Quote(key), first)
			} else {
				places[key] = here
			}
			if err := checkKVPair(ctx, a, r, here, key, pair[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

// ShowKVPairs warns of a document that is called nearly as the one that associates
// providers.
func ShowKVPairs(_ context.Context, _ *review.Companions, path intent.Path, _ *intent.KVPairs) (*review.Status, error) {
	name := path.Name()
	if name == intent.AssociationName || nearest.Name(name, []string{intent.AssociationName}) == "" {
		return nil, nil
	}
	return &review.Status{Warnings: []intent.Warning{{
		Parameter: "name", Message: fmt.Sprintf("%s associates no providers; if it is to do so, call it %s", review.Quote(name), intent.AssociationName),
	}}}, nil
}

func checkKVPair(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, key string, raw json.RawMessage) error {
	if key == "" {
		r.Refusef(at, "has an empty key; give it a name")
	}
	if len(raw) == 0 || string(raw) == "null" {
		r.Refusef(at, "has no value; give one, or leave the pair out")
		return nil
	}
	if r.Path.Name() != intent.AssociationName {
		return nil
	}
	if record, ok := Text(raw); ok {
		return checkAssociation(ctx, a, r, at, record)
	}
	r.Refusef(at, "is not a string; give the name of a provider in quotes")
	return nil
}

// Text is the text that a JSON value is, if it is one.
func Text(raw json.RawMessage) (string, bool) {
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// checkAssociation checks one record of an association and notes the reference. On
// a cluster a bare name means the record of the project that plans, which is
// none in particular.
func checkAssociation(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, value string) error {
	project, record := r.Project(), value
	if project == "" {
		var qualified bool
		if project, record, qualified = strings.Cut(value, "/"); !qualified {
			project, record = "", value
		} else if !review.IsLabelValue(project) {
			r.Refusef(at, "%s names no project; give project/provider", review.Quote(value))
			return nil
		}
	}
	if !review.IsLabelValue(record) {
		r.Refusef(at, "%s is not a name of a provider; %s", review.Quote(value), review.ValueAdvice)
		return nil
	}
	if project == "" {
		return nil
	}
	path := RecordPath(project, record)
	if err := checkWelcome(ctx, a, r, at, project); err != nil {
		return err
	}
	found, err := review.Find[intent.Record](ctx, a.Store, path)
	if err != nil {
		return err
	}
	if found == nil {
		a.Missing(r, at, path)
	}
	r.Refer(path)
	return nil
}

// checkWelcome checks that a cluster's association names no project that the
// cluster shuts out.
func checkWelcome(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, project string) error {
	if r.Project() != "" {
		return nil
	}
	cluster, err := review.Find[intent.Cluster](ctx, a.Store, r.Path.Parent())
	if err == nil && cluster != nil && len(cluster.Projects) > 0 && !slices.Contains(cluster.Projects, project) {
		r.Conflictf(at, "%s allows only the projects %s, not %s; have an administrator add it to the cluster's projects", r.Path.Parent(), strings.Join(cluster.Projects, ", "), project)
	}
	return err
}

// RecordPath is the document of a provider.
func RecordPath(project, record string) intent.Path {
	return intent.Join("projects", project, "dns-update-records", record)
}
