package actions

import (
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// orEmpty is a list that is never null in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// WholePlan is a plan without null lists.
func WholePlan(p intent.Plan) intent.Plan {
	p.Objects, p.Names = orEmpty(p.Objects), orEmpty(p.Names)
	p.Warnings, p.Errors = orEmpty(p.Warnings), orEmpty(p.Errors)
	for i := range p.Names {
		p.Names[i].Targets = orEmpty(p.Names[i].Targets)
	}
	return p
}

// Planned is the answer with a plan, or an error.
func Planned(p intent.Plan, err error) (response.Answer, error) {
	return response.OK(WholePlan(p), err)
}

// WholeNames returns the status of names without null lists.
func WholeNames(names []intent.NameStatus) []intent.NameStatus {
	for i := range names {
		n := &names[i]
		n.Targets, n.Conditions = orEmpty(n.Targets), orEmpty(n.Conditions)
		n.Sources, n.Rejected = orEmpty(n.Sources), orEmpty(n.Rejected)
	}
	return orEmpty(names)
}

// wholeStatus is a status without null lists.
func wholeStatus(s intent.Status) intent.Status {
	s.Conditions, s.Clusters = orEmpty(s.Conditions), orEmpty(s.Clusters)
	s.Providers = orEmpty(s.Providers)
	for i := range s.Clusters {
		s.Clusters[i].Resources = orEmpty(s.Clusters[i].Resources)
	}
	s.Names = WholeNames(s.Names)
	for i := range s.DNS {
		dns := &s.DNS[i]
		dns.Upstreams = orEmpty(dns.Upstreams)
		if dns.Placement != nil {
			dns.Placement.Excluded = orEmpty(dns.Placement.Excluded)
		}
	}
	return s
}
