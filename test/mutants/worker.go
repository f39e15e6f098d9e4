package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inWorker are mutants of the parts of a cluster's worker.
func inWorker() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "first event unseen", File: "pkg/worker/metrics/metrics.go",
			Breaks:      "a counter of a cluster begins with its first event",
			Text:        "counter.WithLabelValues(m.name)\n	}",
			Replacement: "_ = counter\n	}",
		},
		{
			Name: "served though abandoned", File: "pkg/worker/syncer/lease_session.go",
			Breaks:      "a worker takes a cluster over that was abandoned meanwhile",
			Text:        "[]kv.Compare{{Key: key}, ledger.NotAbandoned(name)}",
			Replacement: "[]kv.Compare{{Key: key}}",
		},
		{
			Name: "taken over by name", File: "pkg/worker/state/desired.go",
			Breaks:      "another project's content replaces that of the owner who came first",
			Text:        "	bySeniority(all, entries[id].Owners)",
			Replacement: "	bySeniority(all, nil)",
		},
		{
			Name: "refusal is silence", File: "pkg/worker/link/link.go",
			Breaks:      "a cluster that refuses Signpost counts as one that does not answer",
			Text:        "e.Code != http.StatusUnauthorized",
			Replacement: "e.Code != http.StatusTeapot",
		},
		{
			Name: "restart unseen", File: "pkg/worker/probe/dnspods.go",
			Breaks:      "a CoreDNS that was started anew seems to count nothing until it has caught up",
			Text:        "return count > 0 && count != before",
			Replacement: "return count > before",
		},
		{
			Name: "old servers count", File: "pkg/worker/verify/proof.go",
			Breaks:      "answers of servers stay that the provider no longer names",
			Text:        "	p.answers = none",
			Replacement: "	_ = none",
		},
		{
			Name: "secrets for rsync", File: "pkg/worker/rsync/rsync.go",
			Breaks:      "an object with secret values is handed over to rsync",
			Text:        "want.Marks.Annotations[bundle.AnnotationValuesFrom] != \"\"",
			Replacement: "want.Marks.Annotations[bundle.AnnotationValuesFrom] == \"-\"",
		},
		{
			Name: "blind judge", File: "pkg/worker/addressprobe/target.go",
			Breaks:      "a worker without a network takes probed addresses out",
			Text:        "blind != \"\" {",
			Replacement: "blind == \"-\" {",
		},
	}
}
