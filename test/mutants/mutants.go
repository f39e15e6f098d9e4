// Package mutants holds the planted faults that measure the tests: bugs in each
// package of the product, of kinds that people make. The bugs of the simulator
// are among them. The command score builds the product with each mutant in turn,
// and notes the first test that fails. A test may be removed only if each mutant
// is still found.
package mutants

import (
	"slices"

	"github.com/signpost-dns/signpost/test/simulate/bugs"
)

// All returns the mutants, first those of the simulator. The names differ.
func All() []bugs.Bug {
	return slices.Concat(bugs.All(), inEdges(), inHandlers(), inRights(), inLimits(), inDrafts(), inRemovals(), inCleanups(), inReleases(), inCommands(), inBodies(), inAdmission(), inCommandLine(), inPublishing(), inIntents(), inNames(), inPlans(), inPods(), inStores(), inKeys(), inReplicas(), inWork(), inOrchestration(), inQuestions(), inAccounts(), inWorker(), inTurns(), inLooks(), inDNS(), inWriters(), inPolicies(), inPublisher(), inFailovers(), inImports())
}
