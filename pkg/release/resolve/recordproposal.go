package resolve

import (
	"cmp"
	"context"
	"fmt"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// RecordProposal is a record's update thought through.
type RecordProposal struct {
	Before state.RecordLifecycle
	InUse  bool        // groups rely on the record as it was before
	Frozen plan.Record // the record as it is now
	View   intent.Plan

	// Groups and names that use the record, and those that are deployed and refer to it; none if their names stay as they are.
	Users map[intent.Path]state.Lifecycle

	Adopting *intent.Adoption // nil: of nobody's names

	Gone    map[intent.Path]state.NameSet // names that the groups which use it would take away by themselves
	Removal Removal
}

// InUse tells whether groups rely on a record: it is deployed, or about to be. Its
// lifecycle has to be read before.
func (s *Resolver) InUse(ctx context.Context, record intent.Path, l state.RecordLifecycle) (bool, error) {
	if l.Deployed || l.Seq == 0 {
		return l.Deployed, nil
	}
	return state.Used(ctx, s.Store, record)
}

// OwnerIDMoves refuses another owner id for a deployed provider: external-dns would
// abandon every name that it has published.
func (p *RecordProposal) OwnerIDMoves() []intent.Field {
	was, is := cmp.Or(state.OwnOwnerID(p.Before.Record.Spec), p.Before.Record.OwnerID), p.Frozen.OwnerID
	if !p.Before.Deployed || p.Before.Record.UID != p.Frozen.UID || was == is {
		return nil
	}
	return []intent.Field{{
		Pointer: string(p.Frozen.Path) + "#" + state.AtOwnerID,
		Detail:  fmt.Sprintf("the provider is deployed with owner id %q, which marks its names; with %q nobody would own them. Terminate its users first", was, is),
	}}
}

// PublishesAlike tells whether the update alters nothing of which addresses names have, and of what they may ask for.
func (p *RecordProposal) PublishesAlike() bool { return PublishAlike(p.Before.Record, p.Frozen) }

// Adopts says in an event what an update takes over beside.
func (p *RecordProposal) Adopts() string {
	if p.Adopting == p.Before.Adopting {
		return ""
	}
	return "adopts " + AdoptionWords(p.Adopting)
}

// AdoptionWords says which names are taken over from whom. Of a large provider, the names are not known.
func AdoptionWords(a *intent.Adoption) string {
	if len(a.Names) == 0 {
		return "names from owner id " + a.From
	}
	return fmt.Sprintf("%s from owner id %s", state.Few(a.Names), a.From)
}

// Moves says whether the update takes what is deployed to another home.
func (p *RecordProposal) Moves() bool {
	was, is := p.Before.Record.Home, p.Frozen.Home
	return p.Before.Deployed && was != nil && is != nil && *was != *is
}
