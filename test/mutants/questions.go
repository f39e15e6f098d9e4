package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inQuestions are mutants of what tells about names, their past and documents that are not
// stored.
func inQuestions() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "draft of a stranger", File: "api/drafts/documents.go",
			Breaks:      "documents of projects that the caller may not read are planned",
			Text:        "	if err := j.readable(\"/resource\", path); err != nil {\n		return path, nil, err\n	}\n",
			Replacement: "",
		},
		{
			Name: "on every page", File: "pkg/storage/documents/overlay/overlay.go",
			Breaks:      "a laid document is in each page of a list",
			Text:        "name <= after || ",
			Replacement: "name <= after[:0] || ",
		},
		{
			Name: "event told twice", File: "pkg/storage/eventfeed/feed.go",
			Breaks:      "a follower gets the event again that it has seen last",
			Text:        "f.kv.Watch(ctx, key, after+1)",
			Replacement: "f.kv.Watch(ctx, key, after)",
		},
		{
			Name: "flapping line by line", File: "pkg/storage/namehistory/document.go",
			Breaks:      "a Service that flaps fills the history of its names",
			Text:        "	case intent.CauseReadiness, intent.CauseCluster, intent.CauseFailSafe:\n		return true\n",
			Replacement: "",
		},
		{
			Name: "old index answers", File: "pkg/release/nameindex/search.go",
			Breaks:      "the index answers although it has not heard of the stores for long",
			Text:        "heard.IsZero() || x.now().Sub(heard) > oldest",
			Replacement: "heard.IsZero()",
		},
		{
			Name: "explained to strangers", File: "pkg/release/explain/explain.go",
			Breaks:      "a name is explained to callers who may not read its project",
			Text:        "case gives && visible:",
			Replacement: "case gives:",
		},
		{
			Name: "worst unasked", File: "pkg/cli/find/find.go",
			Breaks:      "find --worst does not ask for the gravest faults first",
			Text:        `q.query["sort"] = "worst"`,
			Replacement: `q.query["sort"] = ""`,
		},
	}
}

// inAccounts are mutants of Signpost's accounts in clusters.
func inAccounts() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "unknown use", File: "pkg/cli/onboard/onboard.go",
			Breaks:      "connect takes a use that does not exist, and asks for no rights",
			Text:        "case !slices.Contains(intent.ClusterUses(), use):",
			Replacement: `case word == "":`,
		},
		{
			Name: "renewed too late", File: "pkg/worker/cluster/account/credentials.go",
			Breaks:      "a token is renewed when it has ended",
			Text:        "c.Expires.Sub(c.Issued)/2",
			Replacement: "c.Expires.Sub(c.Issued)",
		},
		{
			Name: "addresses may write", File: "pkg/worker/cluster/rights/table.go",
			Breaks:      "a cluster for addresses lets Signpost change Services",
			Text:        `"Published addresses are those of Services, first of all.", watched()...`,
			Replacement: `"Published addresses are those of Services, first of all.", managed()...`,
		},
		{
			Name: "shorter token", File: "pkg/worker/renewal/renewal.go",
			Breaks:      "a token is replaced by one that ends earlier",
			Text:        "!token.Expires.After(h.credentials.Expires)",
			Replacement: `token.Value == ""`,
		},
	}
}
