package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Redirected warns of credentials that a provider keeps while it changes the server to
// which external-dns shows them. The author of the change need not know them, and an
// update sends them there.
func Redirected(was, is intent.Record) []string {
	var kept []string
	for _, c := range is.Credentials {
		if slices.ContainsFunc(was.Credentials, func(old intent.Credential) bool { return reflect.DeepEqual(old, c) }) {
			kept = append(kept, strings.TrimPrefix(c.Key(), "environment "))
		}
	}
	places := changedPlaces(was, is)
	if len(kept) == 0 || len(places) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s stays as it was, and points to %s now: check that this is intended", state.Few(kept), state.Few(places))}
}

// changedPlaces names what of a record says to whom its credentials go, and has
// changed.
func changedPlaces(was, is intent.Record) []string {
	var places []string
	for _, place := range []struct {
		name    string
		was, is any
	}{
		{"provider", was.Provider, is.Provider}, {"image", was.Image, is.Image},
		{"webhook", was.Webhook, is.Webhook}, {"extraArgs", was.ExtraArgs, is.ExtraArgs},
	} {
		if !reflect.DeepEqual(place.was, place.is) {
			places = append(places, place.name)
		}
	}
	for _, name := range namesIn(was.Environment, is.Environment) {
		if was.Environment[name] != is.Environment[name] {
			places = append(places, "environment "+name)
		}
	}
	for _, name := range namesIn(was.Parameters, is.Parameters) {
		if externaldns.LeadsTo(name) && !slices.Equal(externaldns.Values(was.Parameters, name), externaldns.Values(is.Parameters, name)) {
			places = append(places, name)
		}
	}
	return places
}

// namesIn is the keys of both maps, in order.
func namesIn[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}
