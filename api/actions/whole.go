package actions

import "github.com/signpost-dns/signpost/pkg/domain/intent"

// orEmpty is a list that is never null in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// wholePlan is a plan without null lists.
func wholePlan(p intent.Plan) intent.Plan {
	p.Objects, p.Names = orEmpty(p.Objects), orEmpty(p.Names)
	p.Warnings, p.Errors = orEmpty(p.Warnings), orEmpty(p.Errors)
	for i := range p.Names {
		p.Names[i].Targets = orEmpty(p.Names[i].Targets)
	}
	return p
}

// wholeStatus is a status without null lists.
func wholeStatus(s intent.Status) intent.Status {
	s.Conditions, s.Clusters = orEmpty(s.Conditions), orEmpty(s.Clusters)
	s.Providers, s.Names = orEmpty(s.Providers), orEmpty(s.Names)
	for i := range s.Clusters {
		s.Clusters[i].Resources = orEmpty(s.Clusters[i].Resources)
	}
	for i := range s.Names {
		n := &s.Names[i]
		n.Targets, n.Conditions = orEmpty(n.Targets), orEmpty(n.Conditions)
		n.Sources, n.Rejected = orEmpty(n.Sources), orEmpty(n.Rejected)
	}
	for i := range s.DNS {
		dns := &s.DNS[i]
		dns.Upstreams = orEmpty(dns.Upstreams)
		if dns.Placement != nil {
			dns.Placement.Excluded = orEmpty(dns.Placement.Excluded)
		}
	}
	return s
}
