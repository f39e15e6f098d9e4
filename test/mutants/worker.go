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
	}
}
