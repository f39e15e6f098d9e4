package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inDrafts are mutants on the way from intents to a release.
func inDrafts() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "any label", File: "pkg/domain/intent/metadata.go",
			Breaks:      "a cluster with one of the wanted labels is selected",
			Text:        "		if has, ok := labels[key]; !ok || has != value {\n			return false",
			Replacement: "		if has, ok := labels[key]; ok && has == value {\n			return true",
		},
		{
			Name: "names of other clusters", File: "pkg/release/resolve/bind.go",
			Breaks:      "a cluster's own name leads to the other clusters, too",
			Text:        "		if made.cluster != \"\" && !slices.Contains(to.Sources, made.cluster) {",
			Replacement: "		if made.cluster == \"\" && !slices.Contains(to.Sources, made.cluster) {",
		},
		{
			Name: "alias beside addresses", File: "pkg/release/sharing/publishers.go",
			Breaks:      "a name is given as an alias and with addresses at once",
			Text:        "		case resolve.AliasAlone(g.Types) != resolve.AliasAlone(first.Types):",
			Replacement: "		case resolve.AliasAlone(g.Types) != resolve.AliasAlone(first.Types) && len(publishers) > 2:",
		},
		{
			Name: "shared name of one group", File: "pkg/release/sharing/kept.go",
			Breaks:      "a plan shows a shared name without the addresses of the other groups",
			Text:        "stay); len(also.Names) > 0 {",
			Replacement: "stay); len(also.Names) > 1 {",
		},
	}
}

// inCleanups are mutants of how long an external-dns outlives its names.
func inCleanups() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "answer of an earlier going", File: "pkg/release/cleanup/keeper.go",
			Breaks:      "an external-dns ends because its names had gone before they came back and went again",
			Text:        "		known = known && a.Revision > one.NotedRevision",
			Replacement: "		known = known && a.Revision > 0",
		},
		{
			Name: "cleanup that is noted again", File: "pkg/release/cleanup/cleanup.go",
			Breaks:      "a look ends the cleanup of a name that goes meanwhile",
			Text:        "			when, ops = append(when, kv.Unchanged(one.item.Key, &one.item)), append(ops, its...)",
			Replacement: "			when, ops = append(when, kv.Exists(one.item.Key)), append(ops, its...)",
		},
		{
			Name: "time of fewer targets", File: "pkg/release/cleanup/cleanup.go",
			Breaks:      "an external-dns ends before it has removed the targets that a name had when it went first",
			Text:        "				targets = max(targets, before.Targets)",
			Replacement: "				targets = max(targets, next.Targets)",
		},
		{
			Name: "time goes on in a move", File: "pkg/release/cleanup/cleanup.go",
			Breaks:      "the time of names that are to be removed goes on while no external-dns runs",
			Text:        "			one.GoneSince, one.NotedRevision = time.Time{}, 0",
			Replacement: "			one.NotedRevision = 0",
		},
		{
			Name: "a name comes and goes while the external-dns ends", File: "pkg/release/providers/step_provider.go",
			Breaks:      "an external-dns ends before it has removed a name that was published and deleted meanwhile",
			Text:        "appcontext.Context{}, on.cleaning.When)",
			Replacement: "appcontext.Context{})",
		},
		{
			Name: "leftovers of an external-dns that runs on", File: "pkg/release/cleanup/keeper.go",
			Breaks:      "names are told as left behind that their external-dns still removes",
			Text:        "	if p.used {",
			Replacement: "	if false {",
		},
		{
			Name: "permit before the confirmation", File: "pkg/release/removal/guard.go",
			Breaks:      "a refused confirmation removes names",
			Text:        "	l := p.Lifecycle\n	l.Record(",
			Replacement: "	l := p.Lifecycle\n	_ = s.permitRemovals(ctx, p, l.ContextID)\n	l.Record(",
		},
		{
			Name: "permits that no lifecycle tells of", File: "pkg/release/state/retained.go",
			Breaks:      "a permit counts for a later loss if the step that used it could write no lifecycle",
			Text:        "		l.Retained = append(slices.Clip(l.Retained), RetainedNames{Record: record})",
			Replacement: "		_ = record",
		},
	}
}

// inRemovals are mutants of what keeps names from going in large numbers.
func inRemovals() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "names do not follow their provider", File: "pkg/release/resolve/publishing.go",
			Breaks:      "an update of a provider does not tell which names it alters",
			Text:        "	was.version = is.version\n",
			Replacement: "	was = is\n",
		},
		{
			Name: "a count that is old", File: "pkg/release/removal/guard/account.go",
			Breaks:      "the share of names that may go is one of names that are long gone",
			Text:        "const countedFor = time.Millisecond",
			Replacement: "const countedFor = time.Hour",
		},
		{
			Name: "shares outlive their account", File: "pkg/release/removal/account.go",
			Breaks:      "names that went long ago count again",
			Text:        "kv.Put(was.keys[0], raw), kv.DeletePrefix(sharesPrefix(was.record)))",
			Replacement: "kv.Put(was.keys[0], raw))",
		},
		{
			Name: "given up because of each other", File: "pkg/release/removal/account.go",
			Breaks:      "two groups that give the same names lose them at once",
			Text:        "		next.relies = relies\n",
			Replacement: "		_ = relies\n",
		},
		{
			Name: "held for ever", File: "pkg/release/removal/sweep.go",
			Breaks:      "names that a step has held before it died keep the others of the provider",
			Text:        "return s.suspects[item.Key] == item.ModRevision",
			Replacement: "return false",
		},
		{
			Name: "what stays is removed", File: "pkg/release/removal/guard.go",
			Breaks:      "a name that stays counts among those that go",
			Text:        "func(name string, _ bool) bool { return after[record][name] }",
			Replacement: "func(name string, _ bool) bool { return record == \"\" && after[record][name] }",
		},
	}
}

// inReleases are mutants on the way from a release to an app context.
func inReleases() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "forgotten observation", File: "pkg/release/reconcile/context.go",
			Breaks:      "a context is committed although a worker has just forgotten an address that it publishes",
			Text:        "slices.Concat(on.next.Losses.When, on.next.Relies(on.pointer))",
			Replacement: "slices.Clone(on.next.Losses.When)",
		},
		{
			Name: "another nameserver", File: "pkg/release/offers/offers.go",
			Breaks:      "pods are left with a nameserver that moves away",
			Text:        "	case given.LocalIP != o.LocalIP:",
			Replacement: "	case given.LocalIP != o.LocalIP && o.LocalIP == \"\":",
		},
		{
			Name: "replaced but active", File: "pkg/release/follow/contexts.go",
			Breaks:      "an app context that EMCO has replaced counts as in use",
			Text:        "		return Superseded\n	case \"Terminate\"",
			Replacement: "		return Active\n	case \"Terminate\"",
		},
		{
			Name: "complete too soon", File: "pkg/release/reconcile/settle.go",
			Breaks:      "a release that waits for addresses counts as complete",
			Text:        "	case l.Settled || on.next.Undecided:",
			Replacement: "	case l.Settled:",
		},
		{
			Name: "old provider leaves first", File: "pkg/release/reconcile/handover.go",
			Breaks:      "a name leaves its old provider before the new one has published it",
			Text:        "		if until.IsZero() || s.Now().Before(until) {",
			Replacement: "		if until.IsZero() {",
		},
		{
			Name: "names unasked by EMCO", File: "pkg/release/orchestration/orchestrated.go",
			Breaks:      "an app context of EMCO's gets names that are another project's",
			Text:        "{s.Tenancy.CheckQuotas, s.Ownership.CheckNames}",
			Replacement: "{s.Tenancy.CheckQuotas}",
		},
		{
			Name: "suspension untold", File: "pkg/release/query/snapshot.go",
			Breaks:      "the status of a suspended group says that it is not",
			Text:        "	if snap.Suspended, err = snap.Lifecycle.SuspendedBy(doc); err != nil {",
			Replacement: "	if _, err = snap.Lifecycle.SuspendedBy(doc); err != nil {",
		},
		{
			Name: "deployed twice", File: "pkg/release/inputs/undeployed.go",
			Breaks:      "the status of a group lists providers that have been deployed by themselves",
			Text:        "before.Revision != now.Revision && !settled[now.Path]:",
			Replacement: "before.Revision != now.Revision:",
		},
		{
			Name: "EMCO unheard", File: "pkg/release/release.go",
			Breaks:      "groups do not follow EMCO's app contexts",
			Text:        "	reconciler.SyncOrchestrated = following.SyncFromEMCO",
			Replacement: "	reconciler.SyncOrchestrated = func(context.Context, intent.Path, *state.Lifecycle) (bool, error) { return false, nil }",
		},
	}
}
