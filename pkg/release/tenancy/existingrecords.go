package tenancy

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// LookupBudget is how long the servers of zones are waited for, and of how many names
// they are asked.
type LookupBudget struct {
	within time.Duration
	most   int
}

// quickLookup holds no request up that says nothing of what is there already.
func quickLookup() LookupBudget { return LookupBudget{within: 3 * time.Second, most: 50} }

// ThoroughLookup is for one that does.
func ThoroughLookup() LookupBudget { return LookupBudget{within: 10 * time.Second, most: 500} }

const lookAtOnce = 8 // names

// LookupResult is what a name has that was published by nobody here.
type LookupResult struct {
	state.NameKey
	Held verify.Holding
}

// WarnOfExistingRecords warns of names that a plan would create and that the
// authoritative servers answer already, for which external-dns would leave them alone. Of
// other names it tells for how long resolvers may keep that they do not exist. Names that
// cannot be asked for in time are not known, and not told.
func (s *Keeper) WarnOfExistingRecords(ctx context.Context, p *resolve.Proposal) {
	if p.Action == intent.Terminate {
		return
	}
	created := map[state.NameKey]bool{}
	for _, change := range p.View.Names {
		if change.Action == "create" {
			created[state.NameKey{Name: change.Name, Record: change.Record}] = true
		}
	}
	names := slices.DeleteFunc(publicNames(p.Draft.Group), func(name state.NameKey) bool { return !created[name] })
	for _, seen := range s.LookUp(ctx, quickLookup(), p.Draft.Frozen(), names) {
		if len(seen.Held.Types) == 0 {
			tellAbsence(p.View.Names, seen)
			continue
		}
		record := p.Draft.Records[seen.Record].Frozen
		text := warningOf(seen, record)
		if text != "" && state.KeyPrefix(record.Spec) != "" {
			text += "; or the answer comes from names below it, which a deleted provider left in the etcd: delete keys without an owner there"
		}
		if text != "" {
			p.View.Warnings = append(p.View.Warnings, text)
		}
	}
}

// tellAbsence tells of a name that a plan would create for how long resolvers may keep that it does not exist.
func tellAbsence(names []intent.NameChange, seen LookupResult) {
	for n := range names {
		if names[n].Name == seen.Name && names[n].Record == seen.Record && seen.Held.AbsentFor > 0 {
			names[n].AbsentFor = seen.Held.AbsentFor.String()
		}
	}
}

// warningOf tells what becomes of a name that is there; empty where it is the
// record's own.
func warningOf(seen LookupResult, record plan.Record) string {
	shows := seen.Name + " exists already (" + strings.Join(seen.Held.Types, ", ") + ")"
	marks := ShownOf(record).Owner
	switch {
	case marks != "" && seen.Held.Owner == marks:
		return ""
	case marks == "":
		return shows + ": external-dns of provider " + record.Name + " writes no readable marks of ownership, and may change it"
	case seen.Held.Owner != "" && resolve.CannotAdopt(record) == "":
		return shows + ", and belongs to the external-dns with owner id \"" + seen.Held.Owner + "\"; provider " + record.Name + " leaves it alone until it adopts it: stop that external-dns, then update the provider with adopt=" + seen.Held.Owner
	case seen.Held.Owner != "":
		return shows + ", and belongs to the external-dns with owner id \"" + seen.Held.Owner + "\"; provider " + record.Name + " leaves it alone"
	case record.Spec.DeployOn.BuiltIn() && resolve.CannotAdopt(record) == "":
		return shows + " without a mark of external-dns; provider " + record.Name + " leaves it alone until it adopts it: stop the program that writes it, then update the provider with adopt=" + publisher.Unmarked
	}
	return shows + " without a mark of external-dns; provider " + record.Name + " leaves it alone; delete it at the DNS provider to have it published"
}

// CheckOwnerInZone refuses an owner id that a user has set and that names of the zone
// have already, if the record never had it. Its external-dns would treat those names as
// its own, and with policy sync delete them.
func (s *Keeper) CheckOwnerInZone(ctx context.Context, p *resolve.Proposal) error {
	if p.Action == intent.Terminate {
		return nil
	}
	doubtful := slices.DeleteFunc(publicNames(p.Draft.Group), func(name state.NameKey) bool {
		r := p.Draft.Records[name.Record]
		id := state.OwnOwnerID(r.Frozen.Spec)
		return id == "" || r.Lifecycle.Record.OwnerID == id
	})
	for _, seen := range s.LookUp(ctx, quickLookup(), p.Draft.Frozen(), doubtful) {
		record := p.Draft.Records[seen.Record].Frozen
		if seen.Held.Owner == record.OwnerID {
			p.Draft.Fail(record.Path, state.AtOwnerID, "%s already belongs to an external-dns with owner id %q, which is not the one of this provider; it would take over all names of the other; remove txt-owner-id", seen.Name, record.OwnerID)
		}
	}
	return nil
}

// publicNames are the names of a group that servers outside the clusters answer.
func publicNames(group plan.Group) []state.NameKey {
	var names []state.NameKey
	for _, b := range group.Bindings {
		for _, host := range b.Hosts {
			if b.Scope == intent.Public {
				names = append(names, state.NameKey{Name: host.Name, Record: b.Record})
			}
		}
	}
	return names
}

// LookUp answers what the names have at their authoritative servers, ordered by name. It
// leaves out names of which that cannot be found out in time.
func (s *Keeper) LookUp(ctx context.Context, how LookupBudget, records map[string]plan.Record, names []state.NameKey) []LookupResult {
	if s.Ownership.LookupExisting == nil || len(names) == 0 {
		return nil
	}
	slices.SortFunc(names, state.CompareNames)
	names = slices.Compact(names)
	ctx, cancel := context.WithTimeout(ctx, how.within)
	defer cancel()
	var mu sync.Mutex
	var seen []LookupResult
	var looking errgroup.Group
	looking.SetLimit(lookAtOnce)
	for _, name := range names[:min(len(names), how.most)] {
		record := records[name.Record]
		shown := ShownOf(record)
		if shown.Hidden != "" || shown.Private != "" && record.Spec.Verify == nil {
			continue
		}
		looking.Go(func() error {
			held, err := s.Ownership.LookupExisting(ctx, name.Name, shown, serversOf(record))
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, LookupResult{name, held})
			}
			return nil
		})
	}
	_ = looking.Wait()
	slices.SortFunc(seen, func(a, b LookupResult) int { return state.CompareNames(a.NameKey, b.NameKey) })
	return seen
}

// ShownOf is what shows in DNS of a record's external-dns.
func ShownOf(record plan.Record) externaldns.InDNS {
	return externaldns.Shown(externaldns.Record{Provider: record.Spec.Provider, Parameters: record.Spec.Parameters}, record.OwnerID)
}

// serversOf are the authoritative servers that a record names.
func serversOf(record plan.Record) []netip.AddrPort {
	if record.Spec.Verify == nil {
		return nil
	}
	var servers []netip.AddrPort
	for _, text := range record.Spec.Verify.Servers {
		if server, err := netip.ParseAddrPort(text); err == nil {
			servers = append(servers, server)
		}
	}
	return servers
}
