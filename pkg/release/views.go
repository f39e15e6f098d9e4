package release

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// viewsOf are the views of DNS that the names of a binding are in, at least one.
func viewsOf(b plan.Binding) []string {
	switch {
	case b.Scope == intent.ClusterScope:
		return []string{"cluster-" + b.Cluster}
	case b.View != "":
		return strings.Split(b.View, ",")
	}
	return []string{"public"}
}

// keysIn are what a host name of a binding is claimed by: in each view the name, and
// those that resolvers see in its place.
func keysIn(b plan.Binding, host string) []nameclaim.Key {
	var keys []nameclaim.Key
	for _, view := range viewsOf(b) {
		for _, name := range externaldns.SeenAs(b.Prefix, host).Claims() {
			keys = append(keys, nameclaim.Key{View: view, Name: name})
		}
	}
	return keys
}

// keyPrefix is where in etcd the names of a record are; empty: they are no keys.
func keyPrefix(r intent.Record) string {
	return externaldns.NamesBelow(r.Provider, r.Parameters, r.ExtraArgs)
}

// privateViews are the views of a record whose zones are private ones, by what
// identifies these, joined by commas; empty: the zones are public, as far as can be
// told.
//
// With azure-private-dns a resource group has one zone of a name. With aws each zone
// is a view of its own. What is not identified is in one view, whoever's it is.
func privateViews(r intent.Record) string {
	value := func(parameter string) string { return strings.ToLower(externaldns.Value(r.Parameters, parameter)) }
	switch {
	case r.Provider == "azure-private-dns":
		return viewBy(r.Provider, "", value("azure-subscription-id"), value("azure-resource-group"))
	case r.Provider != "aws" || value("aws-zone-type") != "private":
		return ""
	}
	var all []string
	for _, text := range externaldns.Values(r.Parameters, "zone-id-filter") {
		for id := range strings.SplitSeq(text, ",") {
			all = append(all, viewBy(r.Provider, zoneOf(id), "", ""))
		}
	}
	if len(all) == 0 {
		return viewBy(r.Provider, "", "", "")
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

// zoneOf is what a zone is told from others by: the end of its id, which is what
// external-dns compares, without the path before it, as in /hostedzone/Z1.
func zoneOf(id string) string {
	const enough = 12 // the shortest id of a zone of Route 53
	id = strings.ToLower(strings.TrimSpace(id))
	id = id[strings.LastIndexByte(id, '/')+1:]
	return id[max(len(id)-enough, 0):]
}

func viewBy(parts ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return "private-" + hex.EncodeToString(hash[:8])
}
