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

// parsed remembers objects by what they were read from. There may be very many owners with one object: these are parsed
// again.
type parsed struct {
	recent.Memory[source, bundle.Object]
	texts recent.Texts
}

// source is a key as a revision of the store has written it.
type source struct {
	key      string
	revision int64
}

// resource reads "…/resource/<name>+<Kind>/" of one app and cluster, which may be one of several objects.
func (p *parsed) resource(cluster, app string, item kv.Item, several bool) (bundle.Object, error) {
	from := source{item.Key, item.ModRevision}
	if o, known := p.Get(from); known {
		return o, nil
	}
	var text string
	if err := json.Unmarshal(item.Value, &text); err != nil {
		return bundle.Object{}, fmt.Errorf("%s holds no text: %w", item.Key, err)
	}
	o, err := bundle.Stored(p.texts.Shared(cluster), p.texts.Shared(app), []byte(text))
	p.share(&o)
	if err == nil && several && len(text) <= smallParsed {
		p.Keep(from, o, mostParsed)
	}
	return o, err
}

// share makes an object share the texts that are those of many.
func (p *parsed) share(o *bundle.Object) {
	for _, text := range []*string{&o.Group, &o.Kind, &o.Namespace} {
		*text = p.texts.Shared(*text)
	}
	if o.Published == nil {
		return
	}
	o.Published.Record, o.Published.Scope = p.texts.Shared(o.Published.Record), p.texts.Shared(o.Published.Scope)
	for n := range o.Published.Names {
		name := &o.Published.Names[n]
		name.Type = p.texts.Shared(name.Type)
		name.Targets = p.texts.All(name.Targets)
	}
}
