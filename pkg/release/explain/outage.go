package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// outages are the clusters of a host name that do not answer, with their effects on the
// name, ordered.
func (e *Explainer) outages(ctx context.Context, snap query.Snapshot, host string) ([]intent.NameOutage, error) {
	lost, frozen, err := e.Reader.Renderer.Outages(ctx)
	if err != nil || len(lost) == 0 {
		return nil, err
	}
	if snap.Suspended {
		frozen = "its group is suspended"
	}
	d := disturbed{lost: lost, frozen: frozen, homes: map[string]bool{}, all: map[string]bool{}}
	for n, b := range snap.Group.Bindings {
		for h, one := range b.Hosts {
			if one.Name == host {
				d.add(b, one, snap.Choices[n][h])
			}
		}
	}
	waiting := map[string]int{}
	for _, c := range status.Of(snap).Clusters {
		for _, r := range c.Resources {
			if r.Status != string(ledger.Applied) {
				waiting[c.ClusterRef.String()]++
			}
		}
	}
	var out []intent.NameOutage
	for cluster := range d.all {
		why, err := e.Reader.Observed.Reachability(ctx, cluster)
		if err != nil {
			return nil, err
		}
		outage := d.of(cluster, waiting[cluster])
		if why != nil {
			outage.Message = why.Message
		}
		out = append(out, outage)
	}
	slices.SortFunc(out, func(a, b intent.NameOutage) int { return strings.Compare(a.Cluster, b.Cluster) })
	return out, nil
}

// part is a host name of a binding, and what is published for it.
type part struct {
	host    plan.Host
	choice  address.Choice
	sources []string // clusters that may give it addresses
}

// disturbed is a host name of which some clusters do not answer.
type disturbed struct {
	lost   map[string]render.Outage
	frozen string // why no address leaves; empty: they may leave

	parts []part          // of public scope: those whose addresses leave
	homes map[string]bool // lost clusters where external-dns publishes the name
	all   map[string]bool // lost clusters that have to do with the name
}

// add takes a binding into account that gives the name.
func (d *disturbed) add(b plan.Binding, host plan.Host, choice address.Choice) {
	sources := host.Sources
	if len(sources) == 0 {
		sources = b.Sources
	}
	if len(host.Targets) > 0 {
		sources = nil // fixed addresses are of no cluster
	}
	for _, cluster := range sources {
		if _, is := d.lost[cluster]; is {
			d.all[cluster] = true
		}
	}
	if _, is := d.lost[b.Cluster]; is {
		d.all[b.Cluster], d.homes[b.Cluster] = true, true
	}
	if b.Scope == intent.Public {
		d.parts = append(d.parts, part{host, choice, sources})
	}
}

// of says what the outage of a cluster does to the name.
func (d *disturbed) of(cluster string, waiting int) intent.NameOutage {
	out := intent.NameOutage{Cluster: cluster, Since: d.lost[cluster].Since, Targets: []string{}, Waiting: waiting}
	var gone []string
	stays := ""
	for _, p := range d.parts {
		own, others := p.targets(cluster, d.lost)
		out.Targets = append(out.Targets, own...)
		for _, r := range p.choice.Rejected {
			if r.Cluster == cluster && r.Code == address.Unreachable {
				gone = append(gone, r.Target)
			}
		}
		if len(own) == 0 {
			continue
		}
		at := d.lost[cluster].Counted.Add(patience(p.host.Health))
		if why := d.stays(cluster, others && !p.choice.Ill); why != "" {
			stays = why
		} else if out.Leaves == nil || at.Before(*out.Leaves) {
			out.Leaves = &at
		}
	}
	if stays != "" {
		out.Leaves = nil
	}
	out.Targets = unique(out.Targets)
	out.Effect = strings.Join(d.effects(out, stays, unique(gone)), "; ")
	return out
}

// stays says why the addresses of a lost cluster stay for now. It is empty if they leave after
// some time. well tells whether another cluster of the name is known to be healthy.
func (d *disturbed) stays(cluster string, well bool) string {
	switch {
	case d.frozen != "":
		return d.frozen
	case !well:
		return "no other cluster of the name is known to be healthy"
	case d.lost[cluster].Counted.IsZero():
		return "no worker serves the cluster, so that the time does not count until one does"
	}
	return ""
}

// targets are the published targets that only a cluster gives, and whether a cluster that
// is not lost could give the name another one.
func (p part) targets(cluster string, lost map[string]render.Outage) (own []string, others bool) {
	shared := map[string]bool{}
	for _, s := range p.choice.Sources {
		if s.Cluster != cluster {
			shared[s.Target] = true
			_, away := lost[s.Cluster]
			others = others || !away
		}
	}
	for _, r := range p.choice.Rejected {
		_, away := lost[r.Cluster]
		others = others || r.Code == address.Standby && !away
	}
	for _, s := range p.choice.Sources {
		if s.Cluster == cluster && !shared[s.Target] {
			own = append(own, s.Target)
		}
	}
	return own, others
}

// effects are the consequences of an outage, in words: stays says why addresses stay, and gone
// are those that have left.
func (d *disturbed) effects(o intent.NameOutage, stays string, gone []string) []string {
	var out []string
	list := strings.Join(o.Targets, ", ")
	switch {
	case stays != "":
		out = append(out, list+" stays: "+stays)
	case o.Leaves != nil:
		out = append(out, fmt.Sprintf("%s leaves the name at %s, unless the cluster answers before", list, o.Leaves.Format(time.RFC3339)))
	}
	if len(gone) > 0 {
		out = append(out, strings.Join(gone, ", ")+" has left the name, and comes back when the cluster answers")
	}
	if len(out) == 0 {
		out = append(out, d.unchanged(o.Cluster)...)
	}
	if d.homes[o.Cluster] {
		out = append(out, "external-dns of the name runs there, so the name stays as it is until the cluster answers")
	}
	if o.Waiting > 0 {
		out = append(out, fmt.Sprintf("objects there that wait: %d", o.Waiting))
	}
	return out
}

// unchanged says why the outage of a cluster changes no answer. A cluster that was never
// reached is the reason that the name lacks its addresses.
func (d *disturbed) unchanged(cluster string) []string {
	silent, only := false, len(d.parts) > 0
	for _, p := range d.parts {
		silent = silent || slices.Contains(p.choice.Unknown, cluster)
		only = only && !p.choice.Some() && len(p.choice.Rejected) == 0 && slices.Equal(p.sources, []string{cluster})
	}
	switch {
	case silent && only:
		return []string{"the name has no address until the cluster answers"}
	case silent:
		return []string{"the addresses there are not known until the cluster answers"}
	case d.homes[cluster]:
		return nil
	}
	return []string{"no answer changes, because the name has no address from it alone"}
}

// patience is for how long a cluster may be lost before its addresses leave a name.
func patience(health *intent.Health) time.Duration {
	if health == nil {
		return address.UnreachableAfter
	}
	limit, err := time.ParseDuration(health.UnreachableAfter)
	if err != nil || limit <= 0 {
		return address.UnreachableAfter
	}
	return limit
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
