package observed

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// Answers is what the authoritative servers last said of the names of a
// DNSEndpoint.
type Answers struct {
	Project string       `json:"project"`
	Record  string       `json:"record"` // whose external-dns publishes the names
	Scope   string       `json:"scope"`
	Names   []NameAnswer `json:"names"` // ordered by name and type

	// Gone is when none of the targets was answered any more after the DNSEndpoint
	// had gone; UTC. It is zero while one is, as long as that is not known, and where
	// one was never seen to be: it may still come.
	Gone time.Time `json:"gone,omitzero"`

	Revision int64 `json:"-"` // the store's revision that wrote it
}

// NameAnswer is what they said of one name and type.
type NameAnswer struct {
	Name    string          `json:"name"`
	Type    string          `json:"type"`
	Targets []string        `json:"targets"`        // that the DNSEndpoint gives to them, ordered
	Seen    bool            `json:"seen,omitempty"` // a server has answered some of the targets
	Verdict string          `json:"verdict"`        // what the answers say, in a word
	Message string          `json:"message"`        // the same in words for the user
	Since   time.Time       `json:"since"`          // UTC, of the last change of Verdict or Targets
	Answers []intent.Answer `json:"answers,omitempty"`
}

func answerPrefix(cluster string) string { return clusterPrefix(cluster) + answerFolder + "/" }

// Answers answers the results for the names of some DNSEndpoints of a namespace, by the
// DNSEndpoint. Names of missing ones were never asked for.
func (s *Store) Answers(ctx context.Context, cluster, namespace string, endpoints ...string) (map[string]Answers, error) {
	under := answerPrefix(cluster) + namespace + "/"
	return s.answers(ctx, under, below(under, endpoints))
}

// AllAnswers answers the same of all DNSEndpoints of a cluster, by
// "namespace/name".
func (s *Store) AllAnswers(ctx context.Context, cluster string) (map[string]Answers, error) {
	under := answerPrefix(cluster)
	return s.answers(ctx, under, kv.Range{Prefix: under})
}

func (s *Store) answers(ctx context.Context, under string, of kv.Range) (map[string]Answers, error) {
	items, _, err := s.kv.Range(ctx, of)
	if err != nil {
		return nil, err
	}
	out, texts := map[string]Answers{}, recent.Texts{}
	for _, item := range items {
		a := Answers{Revision: item.ModRevision}
		if err := json.Unmarshal(item.Value, &a); err != nil {
			return nil, fmt.Errorf("%s: %w", item.Key, err)
		}
		share(&a, &texts)
		out[strings.TrimPrefix(item.Key, under)] = a
	}
	return out, nil
}

// share has answers share the texts that those of many names have in common.
func share(a *Answers, texts *recent.Texts) {
	for _, text := range []*string{&a.Project, &a.Record, &a.Scope} {
		*text = texts.Shared(*text)
	}
	for n := range a.Names {
		one := &a.Names[n]
		one.Targets = texts.All(one.Targets)
		for _, text := range []*string{&one.Type, &one.Verdict, &one.Message} {
			*text = texts.Shared(*text)
		}
		for k := range one.Answers {
			of := &one.Answers[k]
			of.Targets = texts.All(of.Targets)
			for _, text := range []*string{&of.Server, &of.Rcode, &of.Message} {
				*text = texts.Shared(*text)
			}
		}
	}
}

// below selects keys of a folder by their names there.
func below(folder string, names []string) kv.Range {
	keys := make([]string, len(names)) // not nil: none are asked for
	for n, name := range names {
		keys[n] = folder + name
	}
	return kv.Range{Keys: keys}
}

// parseAnswers reads the answers that an event tells of; ok is false for other events.
func parseAnswers(event kv.Event) (a Answers, ok bool) {
	_, what, _ := strings.Cut(strings.TrimPrefix(event.Key, prefix), "/")
	if event.Deleted || !strings.HasPrefix(what, answerFolder+"/") {
		return a, false
	}
	return a, json.Unmarshal(event.Value, &a) == nil
}

// largestAnswers is how much is stored of one DNSEndpoint's answers. Of more, what
// each server said is left out; what does not fit even so is not known.
const largestAnswers = 256 << 10 // bytes

// SetAnswers makes the DNSEndpoints ("namespace/name") of which answers are kept
// the ones of all.
func (w *Writer) SetAnswers(ctx context.Context, all map[string]*Answers) error {
	changed := maps.Clone(all)
	if changed == nil {
		changed = map[string]*Answers{}
	}
	for _, endpoint := range w.belowBut(answerPrefix(w.cluster), func(endpoint string) bool { return all[endpoint] != nil }) {
		changed[endpoint] = nil
	}
	return w.ChangeAnswers(ctx, changed)
}

// ChangeAnswers writes the answers of some DNSEndpoints ("namespace/name"), and removes those that are nil.
func (w *Writer) ChangeAnswers(ctx context.Context, changed map[string]*Answers) error {
	var put, remove []kv.Op
	under := answerPrefix(w.cluster)
	for _, endpoint := range slices.Sorted(maps.Keys(changed)) {
		now := changed[endpoint]
		if now == nil {
			if w.stored.of(under+endpoint) != nil {
				remove = append(remove, kv.Delete(under+endpoint))
			}
			continue
		}
		raw, err := json.Marshal(now)
		if err != nil {
			return err
		}
		if len(raw) > largestAnswers {
			if raw, err = json.Marshal(now.short()); err != nil {
				return err
			}
		}
		if len(raw) <= kv.MaxBytes && !w.stored.has(under+endpoint, raw) {
			put = append(put, kv.Put(under+endpoint, raw))
		}
	}
	return w.apply(ctx, nil, append(put, remove...)...)
}

// short is without what each server said.
func (a Answers) short() Answers {
	a.Names = slices.Clone(a.Names)
	for i := range a.Names {
		a.Names[i].Answers = nil
	}
	return a
}
