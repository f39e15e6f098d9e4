package ownership

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Names is the store of claims.
func (s *Registry) Names() nameclaim.Store { return nameclaim.Store{KV: s.KV} }

// ClaimHolders returns the owners that claim a host name in public zones, and their project,
// empty if there is no claim. A claim may outlast its owner.
func (s *Registry) ClaimHolders(ctx context.Context, host string) (project string, owners []intent.Path, err error) {
	key := state.PublicKey(host)
	claims, err := s.Names().Read(ctx, []nameclaim.Key{key})
	for _, entry := range claims[key].Entries {
		if !entry.Stays {
			owners = append(owners, entry.Group)
		}
	}
	return claims[key].Project, owners, err
}

// CheckNames refuses names that are another project's, or that the group
// cannot share with others of its own.
func (s *Registry) CheckNames(ctx context.Context, p *resolve.Proposal) error {
	d := p.Draft
	if p.Action == intent.Terminate || d.Group.Path == "" || state.IsCloud(d.Group.Path) {
		return nil
	}
	requests := RequestsOf(d.Group)
	if err := s.checkDomains(ctx, d); err != nil {
		return err
	}
	asked := d.Asked()
	err := s.judge(ctx, p, requests, func(b resolve.ClaimRequest, project string, verdict nameclaim.Verdict, by nameclaim.Entry) {
		FailName(d, asked[b.Host], refusal(ctx, b, project, verdict, by))
	})
	if err != nil {
		return err
	}
	if err := s.checkServiceNames(ctx, p, requests); err != nil {
		return err
	}
	return s.checkSubtrees(ctx, p, requests)
}

// checkServiceNames refuses names such as _sip._tcp.HOST if HOST is another project's: they
// tell of its services, and its Services may have SRV records there.
func (s *Registry) checkServiceNames(ctx context.Context, p *resolve.Proposal, requests []resolve.ClaimRequest) error {
	hosts := map[nameclaim.Key][]resolve.ClaimRequest{}
	for _, b := range requests {
		if host := hostname.OfService(b.Host); host != "" {
			key := nameclaim.Key{View: b.Key.View, Name: host}
			hosts[key] = append(hosts[key], b)
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(hosts), resolve.CompareKeys)
	claims, err := s.Names().Read(ctx, keys)
	if err != nil {
		return err
	}
	asked := p.Draft.Asked()
	for _, key := range keys {
		if holder := claims[key].Project; holder == "" || holder == p.Draft.Group.Project.Name {
			continue
		}
		for _, b := range hosts[key] {
			FailName(p.Draft, asked[b.Host], fmt.Sprintf("%s tells of a service of %s, which belongs to another project; choose another host name", b.Host, key.Name))
		}
	}
	return nil
}

// judge adds requests to those of a proposal. It passes those that are not granted to
// refuse, with the owner of the name and the entry in the way.
func (s *Registry) judge(ctx context.Context, p *resolve.Proposal, requests []resolve.ClaimRequest, refuse func(b resolve.ClaimRequest, project string, verdict nameclaim.Verdict, by nameclaim.Entry)) error {
	if err := s.readClaims(ctx, p, requests); err != nil {
		return err
	}
	holders, group, project := s.claimHolders(), p.Draft.Group.Path, p.Draft.Group.Project.Name
	for path, read := range p.Draft.In.Read {
		holders.documents[path] = read.UID
	}
	for _, b := range requests {
		claim := p.Claims[b.Key]
		if keeper, err := holders.keeper(ctx, b); err != nil || claim.Has(project, keeper) {
			if err != nil {
				return err
			}
			continue
		}
		p.Requests = append(p.Requests, b)
		if claim.Sole(project, group) {
			continue
		}
		_, verdict, by, err := claim.Request(project, entryOf(p, b), holders.of(ctx, b.Key))
		if err != nil {
			return err
		}
		if verdict != nameclaim.Granted {
			refuse(b, claim.Project, verdict, by)
		}
	}
	return nil
}

// readClaims reads the claims of requests that were not read yet. The first time, it reads
// those of all namespaces of the proposal with them.
func (s *Registry) readClaims(ctx context.Context, p *resolve.Proposal, requests []resolve.ClaimRequest) error {
	if p.Claims == nil {
		p.Claims = map[nameclaim.Key]nameclaim.Claim{}
		requests = slices.Concat(requests, namespaceRequests(p.Draft.Group), servicesIn(p.Draft.Group))
	}
	missing := map[nameclaim.Key]bool{}
	for _, b := range requests {
		if _, read := p.Claims[b.Key]; !read {
			missing[b.Key] = true
		}
	}
	keys := slices.SortedFunc(maps.Keys(missing), resolve.CompareKeys)
	claims, err := s.Names().Read(ctx, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		p.Claims[key] = claims[key]
	}
	return nil
}

// KeysOf are the keys of the claims that a release asks for, and the prefixes of the tree
// below its names.
func KeysOf(g plan.Group) (keys, below []string) {
	for _, b := range slices.Concat(namespaceRequests(g), servicesIn(g)) {
		paths, _ := nameclaim.Keys([]nameclaim.Key{b.Key})
		keys = append(keys, paths[0])
	}
	hosts, below := nameclaim.Keys(keysOf(RequestsOf(g)))
	return append(keys, hosts...), below
}

// FailName refuses a name where it is asked for; a rollback knows no such place.
func FailName(d *resolve.Draft, at resolve.Place, why string) {
	d.Fail(cmp.Or(at.Path, d.Group.Path), at.Pointer, "%s", why)
}

// entryOf is what a claim says of a name of a proposal while that is pending.
func entryOf(p *resolve.Proposal, b resolve.ClaimRequest) nameclaim.Entry {
	return nameclaim.Entry{
		Group: p.Draft.Group.Path, UID: p.Draft.In.Owner.UID, Through: b.Through, Types: b.Types, Trees: b.Trees,
		Seq: p.Lifecycle.Seq + 1, Over: p.Lifecycle.Revision, Host: b.Host != "", From: p.Takeover,
	}
}

// inProject is a group or a name as requests of its project may call it: app/version/group,
// or names/host.
func inProject(owner intent.Path) string {
	if intent.IsName(owner) {
		return intent.NamesCollection + "/" + owner.Name()
	}
	_, app, _ := strings.Cut(string(owner), "/composite-apps/")
	return strings.Replace(app, "/deployment-intent-groups/", "/", 1)
}

// refusal says why a name cannot be had, and of other projects only what who asks
// may know.
func refusal(ctx context.Context, b resolve.ClaimRequest, project string, verdict nameclaim.Verdict, by nameclaim.Entry) string {
	switch {
	case verdict == nameclaim.Alone:
		return fmt.Sprintf("%s is given by %s; take it over with ?takeover=%s, or remove it there", b.Seen(), by.Group, inProject(by.Group))
	case verdict == nameclaim.Clash:
		return fmt.Sprintf("%s is published by %s with other types: DNS allows no CNAME beside other types; give it the same recordTypes, or another name", b.Seen(), by.Group)
	case !intent.By(ctx).Sees(project):
		return fmt.Sprintf("%s belongs to another project; choose another host name", b.Seen())
	case by.Stays:
		return fmt.Sprintf("%s belongs to project %q: %s never deletes it; delete that provider, or choose another host name", b.Seen(), project, by.Through)
	}
	release := "terminate that group"
	if intent.IsName(by.Group) {
		release = "unpublish it there"
	}
	return fmt.Sprintf("%s belongs to project %q, published by %s; %s, or choose another host name", b.Seen(), project, by.Group, release)
}

// ClaimRequests claims the names of a proposal for the release that is about to be
// accepted. Names that the group's previous release has confirmed stay claimed by that.
// Names that it has handed over are claimed again.
func (s *Registry) ClaimRequests(ctx context.Context, p *resolve.Proposal, before plan.Group, contextID string) error {
	had := map[nameclaim.Key]bool{}
	if p.Lifecycle.Deployed() {
		for _, b := range allRequests(state.WithoutTransferred(before, p.Lifecycle.Transferred)) {
			had[b.Key] = true
		}
	}
	holders, project := s.claimHolders(), p.Draft.Group.Project.Name
	var changes []nameclaim.Change
	var asked []resolve.ClaimRequest
	for _, b := range p.Requests {
		claim, mine := p.Claims[b.Key], entryOf(p, b)
		was, confirmed := claim.Confirmed(project, mine.Group)
		if confirmed && had[b.Key] && was.Through == b.Through && slices.Equal(was.Types, b.Types) && slices.Equal(was.Trees, b.Trees) {
			continue
		}
		mine.Context, mine.Since = contextID, s.Now().UTC()
		next, verdict, _, err := claim.Request(project, mine, holders.of(ctx, b.Key))
		if err != nil {
			return err
		}
		if verdict != nameclaim.Granted {
			return &intent.Error{Code: intent.PreconditionFailed, Detail: b.String() + " has just been claimed"}
		}
		changes = append(changes, nameclaim.Change{Key: b.Key, Claim: next})
		asked = append(asked, b)
	}
	if len(p.Unrelated) > 0 {
		if done, err := s.Names().WriteIf(ctx, changes, p.Unrelated...); done || err != nil {
			return err // nobody has claimed a name above or below: there are no rivals
		}
	}
	if err := s.Names().Write(ctx, changes); err != nil {
		return err
	}
	rival, err := s.rivals(ctx, project, asked, p.Claims, func(nameclaim.Entry) bool { return true })
	if err == nil && len(rival) > 0 {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: state.Few(rival) + ": a name above or below has just been claimed"}
	}
	return err
}

// WithdrawRequests takes back what was claimed for a release that is not accepted:
// nobody has to wait until that is over by itself.
func (s *Registry) WithdrawRequests(ctx context.Context, p *resolve.Proposal, contextID string) error {
	claims, err := s.Names().Read(ctx, keysOf(p.Requests))
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
	return s.Names().Write(ctx, changes)
}

// ConfirmNames has what a group's release takes confirmed, before anybody publishes it. A
// name that another project has taken meanwhile is refused, and then nothing is
// confirmed. A claim that is judged by a lifecycle read before this has changed since.
// By a lifecycle read after it, the group gives the name.
//
// Records are those of the group as they are deployed, read after the release was
// accepted. From then on they keep the place of their names.
func (s *Registry) ConfirmNames(ctx context.Context, l state.Lifecycle, g plan.Group, records map[string]plan.Record) error {
	if moved := misplaced(g, records); moved != "" {
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("no name of revision %d is published: the names of provider %q are in other zones since; update to claim them there", l.Seq, moved)}
	}
	changes, lost, err := s.confirmed(ctx, l, g)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("no name of revision %d is published: others have claimed %s; update with other names", l.Seq, state.Few(lost))}
	}
	return s.Names().Write(ctx, changes)
}

// misplaced is a record that has not the names of its bindings where the release
// claims them; empty for none.
func misplaced(g plan.Group, records map[string]plan.Record) string {
	for _, b := range g.Bindings {
		spec := records[b.Record].Spec
		if state.KeyPrefix(spec) != b.Prefix || b.Scope == intent.Public && !state.ScopesWithin(state.PrivateScopes(spec), b.View) {
			return b.Record
		}
	}
	return ""
}

// confirmed are the claims of a release with it in them, where they are not yet
// so, and the names that are another project's.
func (s *Registry) confirmed(ctx context.Context, l state.Lifecycle, g plan.Group) (changes []nameclaim.Change, lost []string, err error) {
	requests := allRequests(g)
	claims, err := s.Names().Read(ctx, keysOf(requests))
	if err != nil {
		return nil, nil, err
	}
	holders, project := s.claimHolders(), g.Project.Name
	var fresh []resolve.ClaimRequest
	for _, b := range requests {
		claim := claims[b.Key]
		keeper, err := holders.keeper(ctx, b)
		if err != nil {
			return nil, nil, err
		}
		next, ok := claim.Confirm(project, g.Path, l.ContextID)
		if was, already := claim.Confirmed(project, g.Path); already && !ok && slices.Equal(was.Trees, b.Trees) || claim.Has(project, keeper) {
			continue
		}
		if !ok {
			mine := nameclaim.Entry{Group: g.Path, UID: l.OwnerUID, Through: b.Through, Types: b.Types, Trees: b.Trees, Context: l.ContextID, Seq: l.Seq, Confirmed: true, Host: b.Host != "", From: l.Taking}
			var verdict nameclaim.Verdict
			if next, verdict, _, err = claim.Request(project, mine, holders.of(ctx, b.Key)); err != nil {
				return nil, nil, err
			}
			if verdict != nameclaim.Granted {
				lost = append(lost, b.String())
				continue
			}
			next = next.Without(func(e nameclaim.Entry) bool { return e.Of(g.Path) && e.Confirmed && e.Context != l.ContextID })
		}
		if keeper.Stays {
			next = next.Without(func(e nameclaim.Entry) bool { return !e.Stays && e.Through == keeper.Through })
			next.Entries = append(next.Entries, keeper)
		}
		changes, fresh = append(changes, nameclaim.Change{Key: b.Key, Claim: next}), append(fresh, b)
	}
	rivals, err := s.rivals(ctx, project, fresh, claims, nameclaim.Entry.Lasts)
	return changes, append(lost, rivals...), err
}

// Before is what a lifecycle's release was made of, the zero Group where there
// is none.
func (s *Registry) Before(ctx context.Context, l state.Lifecycle) (plan.Group, error) {
	if l.ContextID == "" {
		return plan.Group{}, nil
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	return release.Group, err
}
