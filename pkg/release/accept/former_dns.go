package accept

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// keepFormerDNS keeps the DNS services that another service replaces on their clusters,
// because running pods ask the address that they started with. A confirmed update that
// changes nothing else removes them.
func (s *Planner) keepFormerDNS(ctx context.Context, p *resolve.Proposal) error {
	if !p.Lifecycle.Deployed() || !state.IsCloud(p.Draft.Group.Path) {
		return nil
	}
	release, err := s.LoadRelease(ctx, p.Lifecycle.ContextID)
	if err != nil {
		return err
	}
	p.Draft.Group.FormerDNS = replacedDNS(release.Group, p.Draft.Group)
	if p.Action == intent.Update && len(release.Group.FormerDNS) > 0 && slices.Equal(release.Inputs, p.Draft.Inputs) {
		p.Draft.Group.FormerDNS, p.Clears = nil, true
	}
	return nil
}

// replacedDNS are the DNS services of a release, and those that it keeps itself, on
// clusters that have another one in the next release.
func replacedDNS(before, next plan.Group) []plan.ClusterDNS {
	var kept []plan.ClusterDNS
	for _, dns := range before.AllDNS() {
		now, there := resolve.DNSOn(next, dns.Cluster)
		if there && dns.Spec.Mode != intent.Import && !resolve.SameService(dns, now) {
			kept = append(kept, dns)
		}
	}
	return kept
}

// warnOfFormerDNS tells which addresses of nameservers go, with what is seen to use them.
func (s *Planner) warnOfFormerDNS(ctx context.Context, p *resolve.Proposal) error {
	if !p.Lifecycle.Deployed() || !state.IsCloud(p.Draft.In.Owner.Path) {
		return nil
	}
	release, err := s.LoadRelease(ctx, p.Lifecycle.ContextID)
	if err != nil {
		return err
	}
	var next plan.Group
	if p.Action != intent.Terminate {
		next = p.Draft.Group
	}
	for _, dns := range release.Group.AllDNS() {
		gone, err := s.goneNameservers(ctx, dns, next)
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			p.Warn("the DNS service of namespace %q on %s is removed: nothing answers at %s any more, and pods keep asking until they restart; %s",
				dns.Spec.Namespace, dns.Cluster, strings.Join(gone, " and "), s.usersOfResolvers(ctx, dns.Cluster, gone))
		}
	}
	return nil
}

// goneNameservers are the addresses that a DNS answers at, as far as they are known,
// and that a release leaves nobody at.
func (s *Planner) goneNameservers(ctx context.Context, dns plan.ClusterDNS, next plan.Group) ([]string, error) {
	var gone []string
	if dns.Spec.Mode == intent.Import {
		return nil, nil
	}
	after := slices.DeleteFunc(next.AllDNS(), func(other plan.ClusterDNS) bool { return other.Cluster != dns.Cluster })
	if !slices.ContainsFunc(after, func(other plan.ClusterDNS) bool { return resolve.SameService(dns, other) }) {
		service := address.Service{Cluster: dns.Cluster, Namespace: dns.Spec.Namespace, Name: clusterdns.ServiceName}
		seen, err := s.Observed.Service(ctx, service)
		if err != nil {
			return nil, err
		}
		if seen != nil {
			gone = append(gone, seen.ClusterIPs...)
		}
	}
	answers := func(other plan.ClusterDNS) bool {
		return clusterdns.HasNodeCache(other) && clusterdns.LocalIP(other) == clusterdns.LocalIP(dns)
	}
	if clusterdns.HasNodeCache(dns) && !slices.ContainsFunc(after, answers) {
		gone = append(gone, clusterdns.LocalIP(dns))
	}
	return gone, nil
}

// listedUsers is how many users of a nameserver a plan lists, at most.
const listedUsers = 50

// usersOfResolvers says what is seen to ask nameservers.
func (s *Planner) usersOfResolvers(ctx context.Context, cluster string, addresses []string) string {
	if s.Live == nil {
		return "its users cannot be observed from here"
	}
	users, err := s.Live.ReadResolverUsers(ctx, cluster, addresses)
	more := ""
	if extra := len(users) - listedUsers; extra > 0 {
		users, more = users[:listedUsers], fmt.Sprintf(" and %d more", extra)
	}
	seen := "its observed users are " + strings.Join(users, ", ") + more
	if len(users) == 0 {
		seen = "no user was observed, but pods may use it through kubelet settings"
	}
	if err != nil {
		seen += "; not everything could be observed: " + err.Error()
	}
	return seen
}

// checkExistingDNS refuses a place for DNS if somebody else has an object of a name that
// it needs. Objects that cannot be read are found when the DNS is applied.
func (s *Planner) checkExistingDNS(ctx context.Context, p *resolve.Proposal, changes []bundle.Change, after bundle.Bundle) {
	if s.Live == nil || !state.IsCloud(p.Draft.Group.Path) {
		return
	}
	shared := map[bundle.ID]bool{}
	for _, o := range after {
		shared[o.ID] = o.Shared()
	}
	wanted := map[string][]bundle.ID{}
	for _, c := range changes {
		if c.Action == bundle.Create && c.ID.Namespace != "" && !shared[c.ID] {
			wanted[c.ID.Cluster] = append(wanted[c.ID.Cluster], c.ID)
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(wanted)) {
		taken, err := s.Live.ReadForeignObjects(ctx, cluster, wanted[cluster])
		if err != nil {
			continue
		}
		for _, id := range taken {
			dns, _ := resolve.DNSOn(p.Draft.Group, cluster)
			p.Draft.Fail(p.Draft.Group.Path.Child("dns-cr-intents", dns.Intent), "/spec/namespace",
				"on %s, %s %s/%s belongs to somebody else, and stays as it is; give another namespace, or remove that object", cluster, id.Kind, id.Namespace, id.Name)
		}
	}
}
