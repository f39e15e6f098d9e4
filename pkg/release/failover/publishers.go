package failover

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// hostOf is the host name of a row: an SRV record is below it.
func hostOf(row intent.MovedName) render.NameAt {
	host := row.Name
	for strings.HasPrefix(host, "_") {
		_, host, _ = strings.Cut(host, ".")
	}
	return render.NameAt{Project: row.Project, Record: row.Record, Name: host}
}

// publishers are the owners that give host names at their providers, by the claims of the names,
// ordered. A claim may outlast its owner.
func (m *Mover) publishers(ctx context.Context, hosts map[render.NameAt]bool) (map[render.NameAt][]intent.Path, error) {
	providers, err := m.providers(ctx, hosts)
	if err != nil {
		return nil, err
	}
	keys, all := map[render.NameAt][]nameclaim.Key{}, map[nameclaim.Key]bool{}
	for at := range hosts {
		if b, found := providers[at.Provider()]; found {
			keys[at] = state.KeysIn(b, at.Name)
		}
		for _, key := range keys[at] {
			all[key] = true
		}
	}
	claims, err := nameclaim.Store{KV: m.KV}.Read(ctx, slices.SortedFunc(maps.Keys(all), byName))
	if err != nil {
		return nil, err
	}
	out := map[render.NameAt][]intent.Path{}
	for at := range keys {
		for _, key := range keys[at] {
			claim := claims[key]
			for _, e := range claim.Entries {
				if claim.Project == at.Project && !e.Stays && e.Through == at.Provider() {
					out[at] = append(out[at], e.Group)
				}
			}
		}
		slices.Sort(out[at])
		out[at] = slices.Compact(out[at])
	}
	return out, nil
}

func byName(a, b nameclaim.Key) int {
	return cmp.Or(cmp.Compare(a.View, b.View), cmp.Compare(a.Name, b.Name))
}

// providers are the providers of host names, as bindings without names.
func (m *Mover) providers(ctx context.Context, hosts map[render.NameAt]bool) (map[intent.Path]plan.Binding, error) {
	paths := map[intent.Path]bool{}
	for at := range hosts {
		paths[at.Provider()] = true
	}
	out := map[intent.Path]plan.Binding{}
	if len(paths) == 0 {
		return out, nil
	}
	docs, err := m.Documents.GetAll(ctx, slices.Sorted(maps.Keys(paths)))
	for _, doc := range docs {
		record, wrong := intent.Of[intent.Record](doc)
		err = cmp.Or(err, wrong)
		out[doc.Path] = plan.Binding{Scope: intent.Public, View: state.PrivateScopes(record.Spec), Prefix: state.KeyPrefix(record.Spec)}
	}
	return out, err
}
