package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inWriters are mutants of the writers of the built-in publisher.
func inWriters() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "unknown failure refused", File: "pkg/domain/fault/fault.go",
			Breaks:      "a server that does not answer counts as one that has refused",
			Text:        "return Unreachable",
			Replacement: "return Refused",
		},
		{
			Name: "delete before put", File: "pkg/publisher/coredns/transaction.go",
			Breaks:      "a name is empty for an instant while its address changes",
			Text:        "	answer, err := t.w.client.Txn(ctx).If(t.compares...).Then(append(t.puts, t.deletes...)...).Commit()",
			Replacement: "	_, _ = t.w.client.Txn(ctx).Then(t.deletes...).Commit()\n	answer, err := t.w.client.Txn(ctx).Then(t.puts...).Commit()",
		},
		{
			Name: "no fence in keys", File: "pkg/publisher/coredns/transaction.go",
			Breaks:      "a suspended worker writes over what its successor has published",
			Text:        "clientv3.Compare(clientv3.ModRevision(e.key), \"=\", e.revision)",
			Replacement: "clientv3.Compare(clientv3.ModRevision(e.key), \">=\", int64(0))",
		},
		{
			Name: "unmarked is own", File: "pkg/publisher/steps.go",
			Breaks:      "a name of somebody else without a mark is overwritten",
			Text:        "	return slices.ContainsFunc(c.Intended,",
			Replacement: "	return len(c.Intended) == 0 || slices.ContainsFunc(c.Intended,",
		},
		{
			Name: "adoption of everything", File: "pkg/publisher/steps.go",
			Breaks:      "an adoption overwrites names of owners that nobody asked for",
			Text:        "	return c.Adopt != \"\" && mark.Owner == c.Adopt",
			Replacement: "	return c.Adopt != \"\" && mark.Owner != \"\"",
		},
		{
			Name: "wide rule for metadata", File: "pkg/publisher/guard/rules.go",
			Breaks:      "a rule for a wide network opens the metadata of the cloud to projects",
			Text:        "(!neverByWideRule(t.address) || rule.names(t.address))",
			Replacement: "(!neverByWideRule(t.address) || rule.port == 0)",
		},
		{
			Name: "any heritage", File: "pkg/publisher/marks/marks.go",
			Breaks:      "a text of another program counts as a mark of external-dns",
			Text:        "			ok = value == \"external-dns\"",
			Replacement: "			ok = value != \"\"",
		},
		{
			Name: "update without prerequisites", File: "pkg/publisher/rfc2136/write.go",
			Breaks:      "an update is taken although somebody else has changed the name",
			Text:        "	u.alone(before, steps)\n",
			Replacement: "	u.message.Answer = nil\n",
		},
	}
}

// inPublisher are mutants of the built-in publisher itself.
func inPublisher() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "sealed publisher", File: "pkg/app/publishers/publishers.go",
			Breaks:      "a built-in publisher signs by the id of a secret, and not by the secret",
			Text:        "		out.Environment[name] = string(value)",
			Replacement: "		out.Environment[name] = id + string(value[:0])",
		},
		{
			Name: "names that stay behind", File: "pkg/worker/cluster/builtin/loop.go",
			Breaks:      "a name that no DNSEndpoint gives any more is not removed by the built-in publisher",
			Text:        "	return recorded || l.wishes.sets[name] != nil",
			Replacement: "	return l.wishes.sets[name] != nil || recorded && len(l.recorded) == 0",
		},
		{
			Name: "changes behind the check", File: "pkg/worker/cluster/builtin/loop.go",
			Breaks:      "a changed address waits until the built-in publisher has looked at all names of the zone",
			Text:        "		if !changed && len(l.woken) > 0 {",
			Replacement: "		if !changed && len(l.woken) > 1 {",
		},
	}
}

// inFailovers are mutants of what moves names between clusters.
func inFailovers() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "healthier elsewhere", File: "pkg/release/state/retained.go",
			Breaks:      "the drain of an unhealthy cluster does not count if a healthy one is drained already",
			Text:        "in.Offers, in.Routing, in.Health = drained, intent.Routing{}, nil",
			Replacement: "in.Offers = slices.Concat(in.Offers, drained)",
		},
		{
			Name: "drained for the last time", File: "pkg/release/clusters/drained.go",
			Breaks:      "draining a cluster leaves a name without any address, and nobody is asked",
			Text:        "		return next, s.keepsAddresses(ctx, cluster, list, next)",
			Replacement: "		return next, nil",
		},
		{
			Name: "preview of the present", File: "pkg/release/render/predict.go",
			Breaks:      "the preview of a failover tells what is published now",
			Text:        "on.Records[b.Record], drained, now, look)",
			Replacement: "on.Records[b.Record], on.Drained.Clusters, now, look)",
		},
		{
			Name: "revert of others' drains", File: "pkg/release/failover/act.go",
			Breaks:      "the revert of a failover undrains clusters that others have drained anew",
			Text:        "		case is && by.Failover == r.ID:",
			Replacement: "		case is && by.Failover != \"\":",
		},
		{
			Name: "names that lose nothing", File: "pkg/release/failover/rules.go",
			Breaks:      "the rule minClusters refuses a drain for names that lose no cluster",
			Text:        "len(all.able) >= len(all.could) {",
			Replacement: "len(all.able) > len(all.could) {",
		},
		{
			Name: "stale failover", File: "pkg/release/failover/act.go",
			Breaks:      "a failover is done although its preview has changed since it was shown",
			Text:        "	if o.Confirm != \"\" && o.Confirm != p.preview.Token {",
			Replacement: "	if o.Confirm == \"-\" && o.Confirm != p.preview.Token {",
		},
	}
}

// inImports are mutants of what brings names to Signpost.
func inImports() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "endless zone", File: "pkg/dns/zone/zone.go",
			Breaks:      "a zone that is read for an import may have any number of records",
			Text:        "	if len(z.Records) == most {",
			Replacement: "	if len(z.Records) == -MostRecords {",
		},
		{
			Name: "escaped text", File: "pkg/dns/rdata/rdata.go",
			Breaks:      "the text of a TXT record keeps the escapes of zone files",
			Text:        "			if b == '\\\\' {",
			Replacement: "			if b == '\\\\' && n > 1 {",
		},
		{
			Name: "no list of findings", File: "pkg/cli/imports/findings.go",
			Breaks:      "the findings of an import are null in JSON, and not an empty list",
			Text:        "	if r.Findings == nil {",
			Replacement: "	if r.Findings == nil && len(r.Findings) > 0 {",
		},
	}
}

// inPolicies are mutants of what bounds the built-in publisher's writers.
func inPolicies() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "any country", File: "pkg/admission/dnsnames/locations.go",
			Breaks:      "locations are taken that Route 53 refuses for the whole batch",
			Text:        "	case !isOneOf(countries, country):",
			Replacement: "	case isOneOf(continents, country):",
		},
		{
			Name: "nobody elsewhere", File: "pkg/domain/address/divide.go",
			Breaks:      "clients elsewhere get no answer while the clusters of the location default are not healthy",
			Text:        "	if f.Routing.Policy != intent.Geo || f.Routing.Unanswered() || !o.some() {",
			Replacement: "	if f.Routing.Policy != intent.Geo || !f.Routing.Unanswered() || !o.some() {",
		},
		{
			Name: "unread before a webhook", File: "pkg/publisher/webhook/webhook.go",
			Breaks:      "a webhook is told to write over what somebody else has changed",
			Text:        "	if !same(now[change.Before.Name], change.Before) {",
			Replacement: "	if len(now) == 0 {",
		},
		{
			Name: "believed webhook", File: "pkg/publisher/webhook/webhook.go",
			Breaks:      "a name counts as published although the webhook has changed nothing",
			Text:        "	if left, err := change.Steps(w.marks.Owner()); err != nil || len(left) > 0 {",
			Replacement: "	if _, err := change.Steps(w.marks.Owner()); err != nil {",
		},
		{
			Name: "upsert-only removes", File: "pkg/publisher/open/open.go",
			Breaks:      "a provider with policy upsert-only loses sets",
			Text:        "	if l.policy == \"sync\" {",
			Replacement: "	if l.policy != \"create-only\" {",
		},
	}
}
