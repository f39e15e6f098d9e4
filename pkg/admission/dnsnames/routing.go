package dnsnames

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckCluster checks a cluster that a routing names.
type CheckCluster func(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, name string) error

// CheckRouting checks how answers are chosen among clusters: the policy, and each cluster
// by check. Whether the app runs on them is the plan's to say.
func CheckRouting(ctx context.Context, a *review.Checker, r *review.Review, in *intent.Routing, check CheckCluster) error {
	const at = review.Spec + "/routing"
	if in == nil {
		return nil
	}
	switch in.Policy {
	case "", intent.Multivalue, intent.Failover, intent.Weighted, intent.Latency, intent.Geo:
	default:
		r.Refusef(at+"/policy", "%s is not a policy; give multivalue, failover, weighted, latency or geo", review.Quote(in.Policy))
	}
	switch in.Policy {
	case intent.Weighted:
		checkWeights(r, at+"/weights", in.Weights)
	case intent.Latency:
		checkRegions(r, at+"/regions", in.Regions)
	case intent.Geo:
		checkLocations(r, at+"/locations", in.Locations)
	}
	for i, cluster := range in.Order {
		here := at.Key("order").Index(i)
		if first := slices.Index(in.Order[:i], cluster); first >= 0 {
			r.Refusef(here, "%s is given twice; leave one out", review.Quote(cluster))
		} else if err := check(ctx, a, r, here, cluster); err != nil {
			return err
		}
	}
	return checkListed(ctx, a, r, in, check)
}

// checkListed checks the clusters of weights, regions and locations.
func checkListed(ctx context.Context, a *review.Checker, r *review.Review, in *intent.Routing, check CheckCluster) error {
	listed := in.Listed()
	for _, field := range slices.Sorted(maps.Keys(listed)) {
		for _, cluster := range listed[field] {
			if err := check(ctx, a, r, (review.Spec + "/routing").Key(field).Key(cluster), cluster); err != nil {
				return err
			}
		}
	}
	return nil
}

// ShowDNSIntent warns of what the policy of a routing does not read, and of clients
// without an answer; nil for nothing.
func ShowDNSIntent(in *intent.DNSIntent) *review.Status {
	if in.Routing == nil {
		return nil
	}
	var warnings []intent.Warning
	for _, field := range in.Routing.Unread() {
		policy := cmp.Or(in.Routing.Policy, intent.Multivalue)
		warnings = append(warnings, intent.Warning{Parameter: "routing/" + field, Message: "has no effect with policy " + policy})
	}
	if in.Routing.Unanswered() {
		warnings = append(warnings, intent.Warning{Parameter: "routing/locations", Message: intent.UnansweredWarning})
	}
	if warnings == nil {
		return nil
	}
	return &review.Status{Warnings: warnings}
}

// mostWeight is the largest share of a cluster.
const mostWeight = 1_000_000

// checkWeights checks that each is a share, and that some cluster gets answers.
func checkWeights(r *review.Review, at review.Pointer, weights map[string]int64) {
	var sum int64
	for _, cluster := range slices.Sorted(maps.Keys(weights)) {
		weight := weights[cluster]
		if weight < 0 || weight > mostWeight {
			r.Refusef(at.Key(cluster), "%d is not a weight; give 0 to %d", weight, mostWeight)
			sum = math.MaxInt32 // what they sum to is not known
		} else {
			sum += weight
		}
	}
	if sum == 0 {
		r.Refusef(at, `sum to zero, so no cluster would get answers; give at least one cluster a positive weight, as in {"edge+berlin":90}`)
	}
}

// checkRoutedCluster checks a cluster that an order or a weight names.
func checkRoutedCluster(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, name string) error {
	provider, cluster, _ := strings.Cut(name, "+")
	if !review.IsLabelValue(provider) || !review.IsLabelValue(cluster) {
		r.Refusef(at, `%s is not a cluster; write it as provider+cluster, as in "edge+berlin"`, review.Quote(name))
		return nil
	}
	path := intent.ClusterRef{ClusterProvider: provider, Cluster: cluster}.Path()
	found, err := review.Find[intent.Cluster](ctx, a.Store, path)
	if err != nil {
		return err
	}
	r.Refer(path)
	if found == nil {
		a.Missing(r, at, path)
	}
	return nil
}

// shortestUnreachable is how long at least a cluster is not reached before it is
// taken out: its worker asks every few seconds.
const shortestUnreachable = 10 * time.Second

// CheckHealth checks when addresses of some host names count.
func CheckHealth(r *review.Review, in *intent.Health, scope intent.Scope, names ...string) {
	const at = review.Spec + "/health"
	if in == nil {
		return
	}
	if text := in.UnreachableAfter; text != "" {
		after, err := time.ParseDuration(text)
		if err != nil || after < shortestUnreachable {
			r.Refusef(at+"/unreachableAfter", "%s is not a valid time before a cluster is removed from names; give a duration of at least %s, as in 5m", review.Quote(text), shortestUnreachable)
		}
	}
	switch in.WhenAllUnhealthy {
	case "", intent.Keep, intent.Remove:
	default:
		r.Refusef(at+"/whenAllUnhealthy", "%s is not a choice; give keep, to keep the published addresses, or remove", review.Quote(in.WhenAllUnhealthy))
	}
	if in.Probe != nil {
		checkProbe(r, at+"/probe", *in.Probe, scope, names)
	}
}
