package providers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
)

// A provider's update may adopt names that its public external-dns is asked for, and that
// another one has marked as its own. External-dns rewrites the marks while it is started
// with the other's owner id. It deletes nothing meanwhile, because it would delete the
// other's names that nobody asks it for. When the marks are its own, it is started again
// with the provider's settings.

// adoption says whose names an update takes over: from's, where it is asked to,
// or those that are being taken over. It answers what stands in the way, and what
// is to be known of it.
func (s *Updater) adoption(ctx context.Context, p *resolve.RecordProposal, from string) (refused []intent.Field, notes []string, err error) {
	under := p.Before.Adopting
	if from == "" && under == nil {
		return nil, nil, nil
	}
	refuse := func(why string) ([]intent.Field, []string, error) {
		return []intent.Field{{Pointer: string(p.Frozen.Path) + "#", Detail: "query parameter adopt: " + why}}, nil, nil
	}
	why := resolve.CannotAdopt(p.Frozen)
	switch p.Adopting = under; {
	case why != "" && under != nil:
		return refuse(fmt.Sprintf("names with owner id %q are still being adopted, and %s", under.From, why))
	case why != "":
		return refuse(why)
	case under != nil && (from == "" || from == under.From):
		return nil, []string{adoptionNote(under)}, nil
	}
	var names []string
	if why, err = s.unadoptable(ctx, p, from); err == nil && why == "" {
		names, notes, why, err = s.adoptable(ctx, p, from)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case why != "":
		return refuse(why)
	}
	p.Adopting = &intent.Adoption{From: from, Names: names, Since: s.Now().UTC()}
	return nil, append([]string{adoptionNote(p.Adopting)}, notes...), nil
}

func adoptionNote(a *intent.Adoption) string {
	switch {
	case len(a.Names) == 0:
		return fmt.Sprintf("names of this provider that are marked with owner id %q become its own, with the targets that it gives them", a.From)
	case a.From == publisher.Unmarked:
		return fmt.Sprintf("%s, which nobody has marked, become names of this provider, with the targets that it gives them", state.Few(a.Names))
	}
	return fmt.Sprintf("%s, marked with owner id %q, become names of this provider, and no other names with that mark; until then, the provider's external-dns deletes nothing", state.Few(a.Names), a.From)
}

// unadoptable is why a provider does not take over names with an owner id. The reason is
// its settings or the id's owner; empty: it may.
func (s *Updater) unadoptable(ctx context.Context, p *resolve.RecordProposal, from string) (string, error) {
	switch {
	case p.Before.Adopting != nil:
		return fmt.Sprintf("names with owner id %q are being adopted; adopt others when that is done", p.Before.Adopting.From), nil
	case !p.Before.Deployed || p.Frozen.Home == nil:
		return "the provider publishes no name yet: instantiate the groups that use it, which leaves existing names alone, and adopt the names then", nil
	case p.Before.Moving || p.Moves():
		return "the provider moves to another home; adopt names when the move is done", nil
	case p.Frozen.Spec.Suspend:
		return "the provider is suspended; resume it first", nil
	case from == publisher.Unmarked && !p.Frozen.Spec.DeployOn.BuiltIn():
		return "an external-dns takes over no records without a mark; let Signpost itself write the names (deployOn: {publisher: built-in})", nil
	case from == p.Frozen.OwnerID:
		return fmt.Sprintf("%q is the provider's own owner id; give the owner id of the other external-dns", from), nil
	case strings.HasPrefix(from, plan.OwnerID(s.Installation, "")):
		return fmt.Sprintf("%q has the form of Signpost's generated owner ids, and may belong to another provider; give the owner id of an external-dns that Signpost does not manage", from), nil
	}
	holder, err := s.recordWithOwnerID(ctx, p.Frozen.Path, from)
	if err != nil || holder == "" {
		return "", err
	}
	return fmt.Sprintf("owner id %q belongs to %s; give the owner id of an external-dns that Signpost does not manage", from, intent.By(ctx).Names(holder)), nil
}

// recordWithOwnerID is a record beside this one that is deployed with an owner
// id, or has left names behind with it; empty for none.
func (s *Updater) recordWithOwnerID(ctx context.Context, record intent.Path, id string) (intent.Path, error) {
	var holder intent.Path
	err := s.EachRecord(ctx, func(other intent.Path, l state.RecordLifecycle) error {
		if holder == "" && other != record && l.Deployed && l.Record.OwnerID == id {
			holder = other
		}
		return nil
	})
	if err != nil || holder != "" {
		return holder, err
	}
	use, held, err := s.Tenancy.HeldOwnerID(ctx, id, state.Use{Record: record, Scope: intent.Public})
	if held {
		holder = use.Record
	}
	return holder, err
}

// adoptable are the names of a provider that are marked with an owner id, ordered, with
// their details, or why they cannot be taken over.
func (s *Updater) adoptable(ctx context.Context, p *resolve.RecordProposal, from string) (names, notes []string, why string, err error) {
	given, err := s.givenTo(ctx, state.Use{Record: p.Frozen.Path, Scope: intent.Public, Cluster: p.Frozen.Home.String()})
	if err != nil {
		return nil, nil, "", err
	}
	aliases := tenancy.ShownOf(p.Frozen).Aliases
	unseen := len(given)
	for _, seen := range s.Tenancy.LookUp(ctx, tenancy.ThoroughLookup(), map[string]plan.Record{p.Frozen.Name: p.Frozen}, keysTo(p.Frozen, given)) {
		unseen--
		if !heldBy(seen.Held, from) {
			continue
		}
		if obstacle := obstacleTo(seen, given[seen.Name], aliases); obstacle != "" {
			return nil, nil, obstacle, nil
		}
		names = append(names, seen.Name)
		for _, kind := range seen.Held.Types {
			if !slices.ContainsFunc(given[seen.Name], func(set bundle.PublishedName) bool { return set.Type == kind || set.Type == "CNAME" }) {
				notes = append(notes, fmt.Sprintf("%s has %s, which no intent publishes: they stay as they are; delete them at the DNS provider", seen.Name, kind))
			}
		}
	}
	if len(names) == 0 && unseen > 0 && p.Frozen.Spec.DeployOn.BuiltIn() { // the publisher looks at all of them
		notes = append(notes, fmt.Sprintf("%d of the provider's %d names could not be looked up in time; the publisher adopts those of them that owner id %q has", unseen, len(given), from))
		return []string{}, notes, "", nil
	}
	if len(names) == 0 && from == publisher.Unmarked {
		return nil, nil, fmt.Sprintf("none of the provider's %d names has records without a mark", len(given)), nil
	}
	if len(names) == 0 {
		return nil, nil, fmt.Sprintf("none of the provider's %d names is marked with owner id %q", len(given), from), nil
	}
	return names, notes, "", nil
}

// heldBy tells whether a name has records with the mark of an owner id, or without any.
func heldBy(held verify.Holding, from string) bool {
	if from == publisher.Unmarked {
		return held.Owner == "" && len(held.Types) > 0
	}
	return held.Owner == from
}

// obstacleTo is why external-dns could not make a marked name what the sets say;
// empty: it can.
func obstacleTo(seen tenancy.LookupResult, sets []bundle.PublishedName, aliases bool) string {
	for _, set := range sets {
		was, is := slices.Contains(seen.Held.Types, "CNAME"), set.Type == "CNAME"
		switch {
		case set.ID != "":
			return fmt.Sprintf("%s is divided into sets by its routing here, and a name cannot be adopted together with it; adopt it without weights, regions and locations, and add them then", seen.Name)
		case was && !is, is && !was && !aliases:
			return fmt.Sprintf("%s has %s, and would have %s, which needs a deletion in between; delete the name at the DNS provider, or change recordTypes", seen.Name, strings.Join(seen.Held.Types, ", "), set.Type)
		}
	}
	if seen.Held.Elsewhere {
		return fmt.Sprintf("the mark of %s is not where this provider's external-dns looks; give the provider the txt-prefix or txt-suffix of the other external-dns", seen.Name)
	}
	return ""
}

// givenTo are the sets of addresses that groups give to an external-dns, by name.
func (s *Updater) givenTo(ctx context.Context, use state.Use) (map[string][]bundle.PublishedName, error) {
	users, err := state.UsersOf(ctx, s.Store, use.Record)
	if err != nil {
		return nil, err
	}
	given := map[string][]bundle.PublishedName{}
	err = s.Renderer.Each(ctx, users, func(ctx context.Context, group intent.Path, _ state.Lifecycle) error {
		objects, err := s.CurrentEndpoints(ctx, group)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if state.UseOf(group, o.Cluster, o.Published) != use {
				continue
			}
			for _, set := range o.Published.Names {
				if set.Type != "SRV" {
					given[set.Host] = append(given[set.Host], set)
				}
			}
		}
		return nil
	})
	return given, err
}

func keysTo(record plan.Record, given map[string][]bundle.PublishedName) []state.NameKey {
	var names []state.NameKey
	for _, name := range slices.Sorted(maps.Keys(given)) {
		names = append(names, state.NameKey{Name: name, Record: record.Name})
	}
	return names
}

// adopted says whether those of the names that are taken over which are asked
// for still are seen to be the record's own. The built-in publisher says so itself.
func (s *Updater) adopted(ctx context.Context, l state.RecordLifecycle, use state.Use) (bool, error) {
	if l.Record.Spec.DeployOn.BuiltIn() {
		seen, err := s.Observed.Deployment(ctx, use.Cluster, l.Record.Project.Namespace, provider.DeploymentName(l.Record.Name, use.Scope))
		return seen != nil && seen.Sync != nil && seen.Sync.Adopted == l.Adopting.From && seen.Sync.AdoptedSince.Equal(l.Adopting.Since), err
	}
	given, err := s.givenTo(ctx, use)
	if err != nil {
		return false, err
	}
	maps.DeleteFunc(given, func(name string, _ []bundle.PublishedName) bool { return !slices.Contains(l.Adopting.Names, name) })
	own := tenancy.ShownOf(l.Record).Owner
	seen := s.Tenancy.LookUp(ctx, tenancy.ThoroughLookup(), map[string]plan.Record{l.Record.Name: l.Record}, keysTo(l.Record, given))
	seen = slices.DeleteFunc(seen, func(one tenancy.LookupResult) bool { return one.Held.Owner != own })
	return len(seen) == len(given), nil
}

// adoptions has external-dns as the record asks for again, when the names that are
// taken over are its own.
func (s *Updater) adoptions(ctx context.Context, on *providerStep) (state.Outcome, error) {
	l := &on.lifecycle
	if l.Adopts(on.use.Scope) == "" || on.was.ContextID == "" {
		return state.Onward, nil
	}
	if over, err := s.adopted(ctx, *l, on.use); err != nil || !over {
		return state.Onward, err
	}
	l.Events = append(slices.Clone(l.Events), intent.Event{
		Time: s.Now().UTC(), Actor: intent.Itself, Action: intent.Update, Revision: l.Seq, Outcome: "completed",
		Message: "adopted " + resolve.AdoptionWords(l.Adopting),
	})
	l.Adopting = nil
	return s.provide(ctx, on)
}
