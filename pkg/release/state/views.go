package state

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
)

// ZoneScopes are the views of DNS that the names of a binding are in, at least one.
func ZoneScopes(b plan.Binding) []string {
	switch {
	case b.Scope == intent.ClusterScope:
		return []string{"cluster-" + b.Cluster}
	case b.View != "":
		return strings.Split(b.View, ",")
	}
	return []string{publicView}
}

// publicView is that of all zones that are not known to be private.
const publicView = "public"

// PublicKey is what a host name is claimed by in public zones.
func PublicKey(host string) nameclaim.Key { return nameclaim.Key{View: publicView, Name: host} }

// KeysIn are what a host name of a binding is claimed by: in each view the name, and
// those that resolvers see in its place.
func KeysIn(b plan.Binding, host string) []nameclaim.Key {
	var keys []nameclaim.Key
	for _, view := range ZoneScopes(b) {
		for _, name := range externaldns.SeenAs(b.Prefix, host).Claims() {
			keys = append(keys, nameclaim.Key{View: view, Name: name})
		}
	}
	return keys
}

// KeyPrefix is where in etcd the names of a record are; empty: they are no keys.
func KeyPrefix(r intent.Record) string {
	return externaldns.NamesBelow(r.Provider, r.Parameters, r.ExtraArgs)
}

// InPlace tells whether a record has its names in the same views of DNS as another, and
// below the same keys of etcd if any. Claims of names by the one are then claims by
// the other.
func InPlace(is, was intent.Record) bool {
	return KeyPrefix(is) == KeyPrefix(was) && ScopesWithin(PrivateScopes(is), PrivateScopes(was))
}

// ScopesWithin tells whether private scopes of one record are all those of another, too.
func ScopesWithin(some, of string) bool {
	all := ZoneScopes(plan.Binding{View: of})
	return !slices.ContainsFunc(ZoneScopes(plan.Binding{View: some}), func(view string) bool { return !slices.Contains(all, view) })
}

// PrivateScopes are the views of a record whose zones are or may be private, named by
// their identities, joined by commas. If it is empty, the zones are public.
//
// With azure-private-dns a resource group has one zone of a name. With aws each zone is a
// view of its own, and external-dns sees to zones of both kinds unless the record says
// one. All zones without an identity are in one view.
func PrivateScopes(r intent.Record) string {
	value := func(parameter string) string { return strings.ToLower(externaldns.Value(r.Parameters, parameter)) }
	account := externaldns.AccountOf(r.Provider)
	switch {
	case account.Private:
		parts := []string{r.Provider, ""}
		for _, parameter := range account.Place {
			parts = append(parts, value(parameter))
		}
		return scopeBy(parts...)
	case !account.ZoneIDs || value(account.Visibility) == "public":
		return ""
	}
	var all []string
	for _, text := range externaldns.Values(r.Parameters, "zone-id-filter") {
		for id := range strings.SplitSeq(text, ",") {
			all = append(all, scopeBy(r.Provider, zoneOf(id), "", ""))
		}
	}
	if len(all) == 0 {
		all = []string{scopeBy(r.Provider, "", "", "")}
	}
	if value(account.Visibility) != "private" {
		all = append(all, publicView)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

// zoneOf tells a zone from others: it is the end of its id, which external-dns compares,
// without the path before it, as in /hostedzone/Z1.
func zoneOf(id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	id = id[strings.LastIndexByte(id, '/')+1:]
	return id[max(len(id)-externaldns.ShortestZoneID, 0):]
}

func scopeBy(parts ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return "private-" + hex.EncodeToString(hash[:8])
}
