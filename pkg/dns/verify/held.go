package verify

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
)

// Holding is what a name has at its authoritative servers before anybody here
// has published it.
type Holding struct {
	Types []string // of A, AAAA and CNAME, those that it has; none: it is free
	Owner string   // the owner id of the external-dns that marks it as its own; empty: none does

	AbsentFor time.Duration // how long resolvers may keep that a free name does not exist; 0: not known

	Elsewhere bool // the mark is where an external-dns with the affixes that were asked for does not look
}

// Held asks for the existing records of a name at the servers given, or at the first
// server of its zone that speaks for it. The marks say how the external-dns that is to
// publish the name marks it. Marks of others with the same affixes, or none, are found.
func (v *Verifier) Held(ctx context.Context, name string, marks externaldns.InDNS, servers []netip.AddrPort) (Holding, error) {
	if len(servers) == 0 {
		found, err := v.finder.serversOf(ctx, name)
		if err != nil {
			return Holding{}, err
		}
		servers = found
	}
	err := fmt.Errorf("no server speaks for %s", name)
	for _, server := range servers[:min(len(servers), MostServers)] {
		var held Holding
		if held, err = v.heldAt(ctx, name, marks, server); err == nil || ctx.Err() != nil {
			return held, err
		}
	}
	return Holding{}, err
}

func (v *Verifier) heldAt(ctx context.Context, name string, marks externaldns.InDNS, server netip.AddrPort) (Holding, error) {
	var held Holding
	for _, kind := range []string{"A", "AAAA"} {
		r := v.client.ask(ctx, server, name, kind)
		switch {
		case r.Err != nil:
			return held, r.Err
		case !r.Authoritative || r.Rcode != noError && r.Rcode != noName:
			return held, fmt.Errorf("%s does not speak for %s", server, name)
		case r.Rcode == noName:
			held.AbsentFor = r.AbsentFor
			return held, nil
		case r.CNAME != "":
			held.Types = []string{"CNAME"}
		case len(r.Values) > 0:
			held.Types = append(held.Types, kind)
		default:
			held.AbsentFor = max(held.AbsentFor, r.AbsentFor)
		}
		if r.CNAME != "" {
			break
		}
	}
	for _, mark := range marksOf(name, held.Types, marks) {
		r := v.client.ask(ctx, server, mark, "TXT")
		if r.Err != nil {
			return held, r.Err
		}
		if held.Owner = owner(r.Values); held.Owner != "" {
			held.Elsewhere = !slices.Contains(ownMarks(name, held.Types, marks), mark)
			break
		}
	}
	return held, nil
}

// marksOf are the names of the TXT records that may mark a name as somebody's. They have
// these affixes or none, with the type (external-dns v0.12 and later) or without
// (before).
func marksOf(name string, types []string, marks externaldns.InDNS) []string {
	names := slices.Concat(ownMarks(name, types, marks), ownMarks(name, types, externaldns.InDNS{Aliases: marks.Aliases}))
	var distinct []string
	for _, one := range names {
		if !slices.Contains(distinct, one) && !strings.Contains(one, "%") {
			distinct = append(distinct, one)
		}
	}
	return distinct
}

// ownMarks are those of these that have the affixes: where an external-dns looks
// that has them.
func ownMarks(name string, types []string, marks externaldns.InDNS) []string {
	var names []string
	for _, kind := range types {
		names = append(names, marks.Mark(name, kind))
	}
	if len(types) == 0 {
		return nil
	}
	if marks.Aliases { // addresses that are answered in place of a CNAME may be marked as one
		names = append(names, marks.Mark(name, "CNAME"))
	}
	label, rest, _ := strings.Cut(name, ".")
	return append(names, marks.Prefix+label+marks.Suffix+"."+rest)
}
