package appcontext

import (
	"encoding/json"
	"fmt"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// Objects that were read lately are remembered, so that a step that finds nothing new does
// not parse again what the last one has parsed.
const (
	mostParsed  = 2048
	smallParsed = 4 << 10 // bytes; larger ones are not remembered
)

// parsed remembers objects by what they were read from.
type parsed struct {
	recent.Memory[source, bundle.Object]
}

// source is a key as a revision of the store has written it.
type source struct {
	key      string
	revision int64
}

// resource reads "…/resource/<name>+<Kind>/" of one app and cluster.
func (p *parsed) resource(cluster, app string, item kv.Item) (bundle.Object, error) {
	from := source{item.Key, item.ModRevision}
	if o, known := p.Get(from); known {
		return o, nil
	}
	var text string
	if err := json.Unmarshal(item.Value, &text); err != nil {
		return bundle.Object{}, fmt.Errorf("%s holds no text: %w", item.Key, err)
	}
	o, err := bundle.Stored(cluster, app, []byte(text))
	if err == nil && len(text) <= smallParsed {
		p.Keep(from, o, mostParsed)
	}
	return o, err
}
