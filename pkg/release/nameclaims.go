package release

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/plan"
)

func (s *Service) names() nameclaim.Store { return nameclaim.Store{KV: s.KV} }

// checkNames refuses names that are another project's, or that the group
// cannot share with others of its own.
func (s *Service) checkNames(ctx context.Context, p *proposal) error {
	d := p.draft
	if p.action == intent.Terminate || d.group.Path == "" || IsCloud(d.group.Path) {
		return nil
	}
	bids := bidsOf(d.group)
	if err := s.checkDomains(ctx, d); err != nil {
		return err
	}
	asked := d.asked()
	err := s.judge(ctx, p, bids, func(b bid, project string, verdict nameclaim.Verdict, by nameclaim.Entry) {
		d.failName(asked[b.host], refusal(ctx, b, project, verdict, by))
	})
	if err != nil {
		return err
	}
	return s.checkSubtrees(ctx, p, bids)
}

// judge adds bids to those of a proposal, and answers those that are not granted
// to refuse: whose it is that is asked for, and what stands in the way.
func (s *Service) judge(ctx context.Context, p *proposal, bids []bid, refuse func(b bid, project string, verdict nameclaim.Verdict, by nameclaim.Entry)) error {
	claims, err := s.names().Read(ctx, keysOf(bids))
	if err != nil {
		return err
	}
	if p.claims == nil {
		p.claims = map[nameclaim.Key]nameclaim.Claim{}
	}
	maps.Copy(p.claims, claims)
	claimants, group, project := s.claimants(), p.draft.group.Path, p.draft.group.Project.Name
	unclaimed := sync.OnceValues(func() (map[nameclaim.Key]intent.Path, error) { return s.givenUnclaimed(ctx, project) })
	for _, b := range bids {
		claim := claims[b.key]
		if keeper, err := claimants.keeper(ctx, b); err != nil || claim.Has(project, keeper) {
			if err != nil {
				return err
			}
			continue
		}
		p.bids = append(p.bids, b)
		if claim.Sole(project, group) {
			continue
		}
		next, verdict, by, err := claim.Bid(project, p.entry(b), claimants.of(ctx, b.key))
		if err != nil {
			return err
		}
		owner := claim.Project
		if verdict == nameclaim.Granted && len(next.Entries) == 1 { // nobody of the project holds it yet
			others, err := unclaimed()
			if err != nil {
				return err
			}
			if group, given := others[b.key]; given {
				owner, verdict, by = projectName(group), nameclaim.Taken, nameclaim.Entry{Group: group}
			}
		}
		if verdict != nameclaim.Granted {
			refuse(b, owner, verdict, by)
		}
	}
	return nil
}

// asked are the places where names are asked for, by the name.
func (d *draft) asked() map[string]place {
	asked := map[string]place{}
	for at, place := range d.places {
		asked[at.host] = place
	}
	return asked
}

// failName refuses a name where it is asked for; a rollback knows no such place.
func (d *draft) failName(at place, why string) {
	d.fail(cmp.Or(at.path, d.group.Path), at.pointer, "%s", why)
}

// entry is what a claim says of a name of a proposal while that is pending.
func (p *proposal) entry(b bid) nameclaim.Entry {
	return nameclaim.Entry{
		Group: p.draft.group.Path, UID: p.draft.in.owner.UID, Through: b.through, Types: b.types,
		Seq: p.lifecycle.Seq + 1, Over: p.lifecycle.revision,
	}
}

// refusal says why a name cannot be had, and of other projects only what who asks
// may know.
func refusal(ctx context.Context, b bid, project string, verdict nameclaim.Verdict, by nameclaim.Entry) string {
	switch {
	case verdict == nameclaim.Clash:
		return fmt.Sprintf("%s is given by %s with other types: DNS allows no CNAME beside other types; give it the same recordTypes, or another name", b.seen(), by.Group)
	case !intent.By(ctx).Sees(project):
		return fmt.Sprintf("%s is another project's; give the intent another name", b.seen())
	case by.Stays:
		return fmt.Sprintf("%s is project %q's: %s never takes it away; delete that record, or give the intent another name", b.seen(), project, by.Through)
	}
	return fmt.Sprintf("%s is project %q's, given by %s; terminate that, or give the intent another name", b.seen(), project, by.Group)
}

// claimBids claims what a proposal takes for the release that is about to be
// accepted, but for what the group's release of before has confirmed: that
// stays claimed by it. What it has yielded is claimed anew.
func (s *Service) claimBids(ctx context.Context, p *proposal, before plan.Group, contextID string) error {
	had := map[nameclaim.Key]bool{}
	if p.lifecycle.deployed() {
		for _, b := range allBids(keeping(before, p.lifecycle.Yielded)) {
			had[b.key] = true
		}
	}
	claimants, project := s.claimants(), p.draft.group.Project.Name
	var changes []nameclaim.Change
	var asked []bid
	for _, b := range p.bids {
		claim, mine := p.claims[b.key], p.entry(b)
		was, confirmed := claim.Confirmed(project, mine.Group)
		if confirmed && had[b.key] && slices.Equal(was.Types, b.types) && (len(b.trees) == 0 || was.Through == b.through) {
			continue
		}
		mine.Context, mine.Since = contextID, s.Now().UTC()
		next, verdict, _, err := claim.Bid(project, mine, claimants.of(ctx, b.key))
		if err != nil {
			return err
		}
		if verdict != nameclaim.Granted {
			return &intent.Error{Code: intent.PreconditionFailed, Detail: b.String() + " has just been claimed"}
		}
		changes = append(changes, nameclaim.Change{Key: b.key, Claim: next, Tree: len(b.trees) > 0})
		asked = append(asked, b)
	}
	if err := s.names().Write(ctx, changes); err != nil {
		return err
	}
	rival, err := s.rivals(ctx, project, asked, p.claims, func(nameclaim.Entry) bool { return true })
	if err == nil && len(rival) > 0 {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: few(rival) + ": a name above or below has just been claimed"}
	}
	return err
}

// withdrawBids takes back what was claimed for a release that is not accepted:
// nobody has to wait until that is over by itself.
func (s *Service) withdrawBids(ctx context.Context, p *proposal, contextID string) error {
	claims, err := s.names().Read(ctx, keysOf(p.bids))
	if err != nil {
		return err
	}
	var changes []nameclaim.Change
	for key, claim := range claims {
		left := claim.Without(func(e nameclaim.Entry) bool { return e.Context == contextID })
		if len(left.Entries) < len(claim.Entries) {
			changes = append(changes, nameclaim.Change{Key: key, Claim: left})
		}
	}
	return s.names().Write(ctx, changes)
}

// confirmNames has what a group's release takes confirmed, before anybody
// publishes it. What another project has taken meanwhile is refused, and then
// nothing is confirmed. A claim that is judged by a lifecycle read before this
// is no longer as it was read; by one read after it, the group gives the name.
func (s *Service) confirmNames(ctx context.Context, l Lifecycle, g plan.Group) error {
	changes, lost, err := s.confirmed(ctx, l, g)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("nothing of revision %d is published: %s was claimed by others meanwhile; update with other names", l.Seq, few(lost))}
	}
	return s.names().Write(ctx, changes)
}

// confirmed are the claims of a release with it in them, where they are not yet
// so, and the names that are another project's.
func (s *Service) confirmed(ctx context.Context, l Lifecycle, g plan.Group) (changes []nameclaim.Change, lost []string, err error) {
	bids := allBids(g)
	claims, err := s.names().Read(ctx, keysOf(bids))
	if err != nil {
		return nil, nil, err
	}
	claimants, project := s.claimants(), g.Project.Name
	var fresh []bid
	for _, b := range bids {
		claim := claims[b.key]
		keeper, err := claimants.keeper(ctx, b)
		if err != nil {
			return nil, nil, err
		}
		next, ok := claim.Confirm(project, g.Path, l.ContextID)
		if _, already := claim.Confirmed(project, g.Path); already && !ok || claim.Has(project, keeper) {
			continue
		}
		if !ok {
			mine := nameclaim.Entry{Group: g.Path, UID: l.OwnerUID, Through: b.through, Types: b.types, Context: l.ContextID, Seq: l.Seq, Confirmed: true}
			var verdict nameclaim.Verdict
			if next, verdict, _, err = claim.Bid(project, mine, claimants.of(ctx, b.key)); err != nil {
				return nil, nil, err
			}
			if verdict != nameclaim.Granted {
				lost = append(lost, b.String())
				continue
			}
		}
		if keeper.Stays {
			next = next.Without(func(e nameclaim.Entry) bool { return !e.Stays && e.Through == keeper.Through })
			next.Entries = append(next.Entries, keeper)
		}
		changes, fresh = append(changes, nameclaim.Change{Key: b.key, Claim: next, Tree: len(b.trees) > 0}), append(fresh, b)
	}
	rivals, err := s.rivals(ctx, project, fresh, claims, nameclaim.Entry.Lasts)
	return changes, append(lost, rivals...), err
}
