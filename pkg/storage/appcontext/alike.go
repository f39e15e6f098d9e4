package appcontext

import (
	"encoding/json"
	"strings"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// Bounds of what pointers share.
const (
	mostLists = 512
	smallList = 4 << 10 // bytes; larger lists are those of large groups, and are not shared
)

// alike makes pointers share what they say of clusters. Nearly all names of a provider say the same, and each pointer is
// in several memories.
type alike struct {
	lists recent.Memory[string, map[string][]string] // by their JSON; not changed any more
	texts recent.Texts
}

// pointer reads a pointer. Nobody may change its maps.
func (a *alike) pointer(item kv.Item) (Pointer, error) {
	type fields Pointer
	var stored struct {
		fields
		Clusters json.RawMessage `json:"clusters"`
		Services json.RawMessage `json:"services"`
	}
	if err := json.Unmarshal(item.Value, &stored); err != nil {
		return Pointer{revision: item.ModRevision}, err
	}
	p := Pointer(stored.fields)
	p.Owner, p.revision = Owner(strings.TrimPrefix(item.Key, pointerPrefix)), item.ModRevision
	var err error
	if p.Clusters, err = a.list(stored.Clusters); err != nil {
		return p, err
	}
	p.Services, err = a.list(stored.Services)
	return p, err
}

// list reads a list of texts for each cluster.
func (a *alike) list(raw json.RawMessage) (map[string][]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if known, is := a.lists.Get(string(raw)); is {
		return known, nil
	}
	var read map[string][]string
	if err := json.Unmarshal(raw, &read); err != nil || len(read) == 0 {
		return read, err
	}
	of := make(map[string][]string, len(read))
	for cluster, texts := range read {
		of[a.texts.Shared(cluster)] = a.texts.All(texts)
	}
	if len(raw) <= smallList {
		a.lists.Keep(string(raw), of, mostLists)
	}
	return of, nil
}
