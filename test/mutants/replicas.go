package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inReplicas are mutants of what replicas read at one time, and of what each of them follows.
func inReplicas() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "read before the write", File: "pkg/storage/snapshot/snapshot.go",
			Breaks:      "who has claimed a name does not see a rival that came meanwhile",
			Text:        "	for at := outerOf(ctx); at != nil; at = at.outer {",
			Replacement: "	for at := outerOf(ctx); at != nil && len(then) == 0; at = at.outer {",
		},
		{
			Name: "mixed times", File: "pkg/storage/snapshot/snapshot.go",
			Breaks:      "a step decides by documents of two times",
			Text:        "	r.Revision = at.revision",
			Replacement: "	r.Revision = 0",
		},
		{
			Name: "users of the past", File: "pkg/release/providers/step_provider.go",
			Breaks:      "an external-dns goes although a name has come since the step of the last one began",
			Text:        "	ctx = snapshot.Now(ctx) // users may have come since the step of a name began\n",
			Replacement: "	_ = snapshot.Now\n",
		},
		{
			Name: "leavers of the past", File: "pkg/release/reconcile/settle.go",
			Breaks:      "a name is done while an external-dns that others left meanwhile may still publish it",
			Text:        "	now := snapshot.Now(ctx) // the other users may have left since the step began\n",
			Replacement: "	now := ctx\n	_ = snapshot.Now\n",
		},
		{
			Name: "idle hints", File: "pkg/storage/snapshot/hints.go",
			Breaks:      "each step of a name asks for keys that no other name has read for long",
			Text:        "		if h.idle <= mostIdle {\n",
			Replacement: "		if h.idle <= mostIdle*mostHints {\n",
		},
		{
			Name: "share of a dead replica", File: "pkg/release/controller/share.go",
			Breaks:      "owners of a replica that dies are not looked at by the one that has them then",
			Text:        "			c.takeOver(ctx, before)\n",
			Replacement: "			_ = before\n",
		},
	}
}
