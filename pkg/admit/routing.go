package admit

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// routing checks how answers are to be chosen among clusters: that the policy is
// one, and that the clusters exist. Whether the app runs on them is the plan's to say.
func (a *Admitter) routing(ctx context.Context, r *review, in *intent.Routing) error {
	const at = spec + "/routing"
	if in == nil {
		return nil
	}
	switch in.Policy {
	case "", intent.Multivalue, intent.Failover, intent.Weighted:
	default:
		r.refusef(at+"/policy", "%s is no policy; give multivalue, failover or weighted", quote(in.Policy))
	}
	if in.Policy == intent.Weighted {
		r.weights(at+"/weights", in.Weights)
	}
	for i, cluster := range in.Order {
		here := at.key("order").index(i)
		if first := slices.Index(in.Order[:i], cluster); first >= 0 {
			r.refusef(here, "%s is given twice; leave one out", quote(cluster))
		} else if err := a.routedCluster(ctx, r, here, cluster); err != nil {
			return err
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(in.Weights)) {
		if err := a.routedCluster(ctx, r, at.key("weights").key(cluster), cluster); err != nil {
			return err
		}
	}
	return nil
}

// showDNSIntent warns of what the policy of a routing does not read, nil for
// nothing.
func showDNSIntent(in *intent.DNSIntent) *Status {
	if in.Routing == nil {
		return nil
	}
	var warnings []intent.Warning
	for _, field := range in.Routing.Unread() {
		policy := cmp.Or(in.Routing.Policy, intent.Multivalue)
		warnings = append(warnings, intent.Warning{Parameter: "routing/" + field, Message: "has no effect with policy " + policy})
	}
	if warnings == nil {
		return nil
	}
	return &Status{Warnings: warnings}
}

// mostWeight is the largest share of a cluster.
const mostWeight = 1_000_000

// weights checks that each is a share, and that some cluster gets answers.
func (r *review) weights(at pointer, weights map[string]int64) {
	var sum int64
	for _, cluster := range slices.Sorted(maps.Keys(weights)) {
		weight := weights[cluster]
		if weight < 0 || weight > mostWeight {
			r.refusef(at.key(cluster), "%d is no weight; give 0 to %d", weight, mostWeight)
			sum = math.MaxInt32 // what they sum to is not known
		} else {
			sum += weight
		}
	}
	if sum == 0 {
		r.refusef(at, `sum to zero, so that no cluster would get answers; give at least one cluster a positive weight, as in {"edge+berlin":90}`)
	}
}

// routedCluster checks a cluster that an order or a weight names.
func (a *Admitter) routedCluster(ctx context.Context, r *review, at pointer, name string) error {
	provider, cluster, _ := strings.Cut(name, "+")
	if !isLabelValue(provider) || !isLabelValue(cluster) {
		r.refusef(at, `%s is no cluster; write it as provider+cluster, as in "edge+berlin"`, quote(name))
		return nil
	}
	path := intent.ClusterRef{ClusterProvider: provider, Cluster: cluster}.Path()
	found, err := find[intent.Cluster](ctx, a.store, path)
	if err != nil {
		return err
	}
	r.refer(path)
	if found == nil {
		a.missing(r, at, path)
	}
	return nil
}

// shortestUnreachable is how long at least a cluster is not reached before it is
// taken out: its worker asks every few seconds.
const shortestUnreachable = 10 * time.Second

// health checks when addresses count.
func (r *review) health(in *intent.Health) {
	const at = spec + "/health"
	if in == nil {
		return
	}
	if text := in.UnreachableAfter; text != "" {
		after, err := time.ParseDuration(text)
		if err != nil || after < shortestUnreachable {
			r.refusef(at+"/unreachableAfter", "%s is no time after which a cluster may be taken out; give a duration of at least %s, as in 5m", quote(text), shortestUnreachable)
		}
	}
	switch in.WhenAllUnhealthy {
	case "", intent.Keep, intent.Remove:
	default:
		r.refusef(at+"/whenAllUnhealthy", "%s is no choice; give keep, to go on publishing what was published, or remove", quote(in.WhenAllUnhealthy))
	}
}
