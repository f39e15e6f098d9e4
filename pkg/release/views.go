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

// keysIn are what a name of a binding is claimed by, one key for each view.
func keysIn(b plan.Binding, name string) []nameclaim.Key {
	var keys []nameclaim.Key
	for _, view := range viewsOf(b) {
		keys = append(keys, nameclaim.Key{View: view, Name: name})
	}
	return keys
}

// privateViews are the views of a record whose zones are private ones, by what
// identifies these, joined by commas; none: the zones are public, as far as can be
// told. whole says that its names come into no zone that another view may be of.
//
// With azure-private-dns a resource group has one zone of a name. With aws each zone
// is a view of its own. What is not identified is in one view, whoever's it is.
func privateViews(r intent.Record) (views string, whole bool) {
	value := func(parameter string) string { return strings.ToLower(externaldns.Value(r.Parameters, parameter)) }
	switch {
	case r.Provider == "azure-private-dns":
		subscription, group := value("azure-subscription-id"), value("azure-resource-group")
		return viewBy(r.Provider, "", subscription, group), subscription != "" && group != ""
	case r.Provider != "aws" || value("aws-zone-type") != "private":
		return "", true
	}
	var all []string
	whole = true
	for _, text := range externaldns.Values(r.Parameters, "zone-id-filter") {
		for id := range strings.SplitSeq(text, ",") {
			zone := zoneOf(id)
			all, whole = append(all, viewBy(r.Provider, zone, "", "")), whole && zone != ""
		}
	}
	if len(all) == 0 {
		return viewBy(r.Provider, "", "", ""), false
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ","), whole
}

// zoneOf is what zones are told apart by that end in an id, which is how external-dns
// looks for them: the end that all ids of one zone have in common. Empty for one of
// which too little is given. The path before an id, as in /hostedzone/Z1, says where
// it begins.
func zoneOf(id string) string {
	const enough = 12 // the shortest id of a zone of Route 53
	id = strings.ToLower(strings.TrimSpace(id))
	slash := strings.LastIndexByte(id, '/')
	id = id[slash+1:]
	if slash < 0 && len(id) < enough {
		return ""
	}
	return id[max(len(id)-enough, 0):]
}

func viewBy(parts ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return "private-" + hex.EncodeToString(hash[:8])
}

// checkZones refuses to begin with a record whose private zones are not identified:
// its names could come into zones where they are others'.
func (d *draft) checkZones(use Use) {
	r := d.records[use.Record.Name()]
	if _, whole := privateViews(r.frozen.Spec); whole || r.live() || use.Scope != intent.Public {
		return
	}
	parameter, missing := "zone-id-filter", "give the zones' whole ids"
	if r.frozen.Spec.Provider == "azure-private-dns" {
		parameter, missing = "azure-resource-group", "give it, and azure-subscription-id"
	}
	d.fail(use.Record, "/spec/external-dns-parameters/"+parameter, "does not tell the record's private zones from others', where its names may be another project's; %s", missing)
}
