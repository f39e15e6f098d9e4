package release

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/verify"
)

// glance is how long the servers of zones are waited for, and of how many names
// they are asked.
type glance struct {
	within time.Duration
	most   int
}

// inPassing holds no request up that says nothing of what is there already.
func inPassing() glance { return glance{within: 3 * time.Second, most: 50} }

// onPurpose is for one that does.
func onPurpose() glance { return glance{within: 10 * time.Second, most: 500} }

const lookAtOnce = 8 // names

// sight is what a name has that was published by nobody here.
type sight struct {
	nameKey
	held verify.Holding
}

// warnOfStrangers warns of names that a plan would create and that the
// authoritative servers answer already, for which external-dns would leave them
// alone. What cannot be asked in time is not known, and not said.
func (s *Service) warnOfStrangers(ctx context.Context, p *proposal) {
	if p.action == intent.Terminate {
		return
	}
	created := map[nameKey]bool{}
	for _, change := range p.view.Names {
		if change.Action == "create" {
			created[nameKey{name: change.Name, record: change.Record}] = true
		}
	}
	names := slices.DeleteFunc(publicNames(p.draft.group), func(name nameKey) bool { return !created[name] })
	for _, seen := range s.lookUp(ctx, inPassing(), p.draft.frozen(), names) {
		if text := warningOf(seen, p.draft.records[seen.record].frozen); text != "" {
			p.view.Warnings = append(p.view.Warnings, text)
		}
	}
}

// warningOf tells what becomes of a name that is there; empty where it is the
// record's own.
func warningOf(seen sight, record plan.Record) string {
	shows := seen.name + " exists already (" + strings.Join(seen.held.Types, ", ") + ")"
	marks := shownOf(record).Owner
	switch {
	case marks != "" && seen.held.Owner == marks:
		return ""
	case marks == "":
		return shows + ": the external-dns of record " + record.Name + " marks no names as its own that could be read, and may change it"
	case seen.held.Owner != "" && cannotAdopt(record) == "":
		return shows + ", and belongs to the external-dns with owner id \"" + seen.held.Owner + "\": that of record " + record.Name + " leaves it alone until the record adopts it (update of the record, adopt=" + seen.held.Owner + ")"
	case seen.held.Owner != "":
		return shows + ", and belongs to the external-dns with owner id \"" + seen.held.Owner + "\": that of record " + record.Name + " leaves it alone"
	}
	return shows + ", and no external-dns marks it as its own: that of record " + record.Name + " leaves it alone; delete it at the DNS provider to have it published"
}

// checkOwnerInZone refuses an owner id that a user has set and that names of the
// zone have already, if the record never had it: the names of that external-dns
// would be taken for the record's own, and with policy sync be deleted.
func (s *Service) checkOwnerInZone(ctx context.Context, p *proposal) error {
	if p.action == intent.Terminate {
		return nil
	}
	doubtful := slices.DeleteFunc(publicNames(p.draft.group), func(name nameKey) bool {
		r := p.draft.records[name.record]
		id := ownOwnerID(r.frozen.Spec)
		return id == "" || r.lifecycle.Record.OwnerID == id
	})
	for _, seen := range s.lookUp(ctx, inPassing(), p.draft.frozen(), doubtful) {
		record := p.draft.records[seen.record].frozen
		if seen.held.Owner == record.OwnerID {
			p.draft.fail(record.Path, atOwnerID, "%s belongs to an external-dns with owner id %q already, which is not of this record: it would take over all names of that one; leave txt-owner-id out", seen.name, record.OwnerID)
		}
	}
	return nil
}

// publicNames are the names of a group that servers outside the clusters answer.
func publicNames(group plan.Group) []nameKey {
	var names []nameKey
	for _, b := range group.Bindings {
		for _, host := range b.Hosts {
			if b.Scope == intent.Public {
				names = append(names, nameKey{name: host.Name, record: b.Record})
			}
		}
	}
	return names
}

// lookUp answers which of the names have something at their authoritative
// servers, ordered by name, as far as can be found out in time.
func (s *Service) lookUp(ctx context.Context, how glance, records map[string]plan.Record, names []nameKey) []sight {
	if s.Held == nil || len(names) == 0 {
		return nil
	}
	slices.SortFunc(names, compareNames)
	names = slices.Compact(names)
	ctx, cancel := context.WithTimeout(ctx, how.within)
	defer cancel()
	var mu sync.Mutex
	var seen []sight
	var looking errgroup.Group
	looking.SetLimit(lookAtOnce)
	for _, name := range names[:min(len(names), how.most)] {
		record := records[name.record]
		shown := shownOf(record)
		if shown.Hidden != "" || shown.Private != "" && record.Spec.Verify == nil {
			continue
		}
		looking.Go(func() error {
			held, err := s.Held(ctx, name.name, shown, serversOf(record))
			if err == nil && len(held.Types) > 0 {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, sight{name, held})
			}
			return nil
		})
	}
	_ = looking.Wait()
	slices.SortFunc(seen, func(a, b sight) int { return compareNames(a.nameKey, b.nameKey) })
	return seen
}

// shownOf is what shows in DNS of a record's external-dns.
func shownOf(record plan.Record) externaldns.InDNS {
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
