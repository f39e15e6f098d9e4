package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inTurns are mutants of what is looked at when, and of what is left alone meanwhile.
func inTurns() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "names that read alone", File: "pkg/release/reconcile/together.go",
			Breaks:      "names of one turn of the resync read each for itself",
			Text:        "	if err != nil || !snapshot.Reading(ctx) {",
			Replacement: "	if err != nil || !snapshot.Reading(ctx) || len(names) > 1 {",
		},
		{
			Name: "half at once", File: "pkg/release/controller/share.go",
			Breaks:      "a replica that begins looks at half of the owners again when the lease of a killed one ends",
			Text:        "s.looks <= int(wholeFor/shareEvery) ||",
			Replacement: "s.looks <= 0 ||",
		},
		{
			Name: "nothing ahead", File: "pkg/release/ahead/ahead.go",
			Breaks:      "requests and steps of a name read one key after the other",
			Text:        "	return store.ReadAhead(ctx, reads.in(s))\n",
			Replacement: "	return store.ReadAhead(ctx, kv.Range{})\n",
		},
		{
			Name: "sweep that reads all each time", File: "pkg/release/controller/sweep.go",
			Breaks:      "each minute, all lifecycles are read for garbage",
			Text:        "now.Sub(s.swept.at) >= age {",
			Replacement: "now.Sub(s.swept.at) >= 0 {",
		},
		{
			Name: "unasked look", File: "pkg/worker/observe/services.go",
			Breaks:      "a Service that an owner begins to name is looked at when all are, half an hour later",
			Text:        "	add(set, renamed)\n",
			Replacement: "	_ = renamed\n",
		},
		{
			Name: "led no more", File: "pkg/worker/cluster/kubeapi/feed.go",
			Breaks:      "a Service is not looked at when an Ingress ceases to lead to it",
			Text:        "slices.Concat(c.before.leads(), c.after.leads())",
			Replacement: "slices.Concat(c.after.leads(), nil)",
		},
		{
			Name: "older pointers", File: "pkg/worker/index/index.go",
			Breaks:      "a worker deletes something before its watch has told of the last pointers",
			Text:        "	if x.await(waiting, last) {\n",
			Replacement: "	if x.await(waiting, 0) {\n",
		},
		{
			Name: "touch behind", File: "pkg/worker/index/index.go",
			Breaks:      "a changed object is not told of that has a later pointer in its batch",
			Text:        "touches[0].Revision() < p.Revision()",
			Replacement: "touches[0].Revision() > p.Revision()",
		},
	}
}

// inLooks are mutants of what goes through everything beside other work.
func inLooks() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "changes behind a look", File: "pkg/release/controller/resync.go",
			Breaks:      "a changed owner waits for all that are looked at",
			Text:        "		c.order.place(todo, goesLast)\n",
			Replacement: "		c.order.place(todo, inTurn)\n",
		},
		{
			Name: "scan that lets nothing in", File: "pkg/worker/cluster/directory/directory_scan.go",
			Breaks:      "a file is written once a scan has looked at all others",
			Text:        "	w.directory.mu.Unlock()\n	w.directory.mu.Lock()\n",
			Replacement: "",
		},
		{
			Name: "pace of all keys", File: "pkg/storage/kv/etcd/pages.go",
			Breaks:      "etcd counts all keys of a prefix for a page whose first key lies far in front",
			Text:        "	if p.asked <= from && from < p.end {\n",
			Replacement: "	if false {\n",
		},
		{
			Name: "everything in a dead home", File: "pkg/release/reconcile/settle.go",
			Breaks:      "a name that waits for a home reads all objects there",
			Text:        "	if !intent.IsName(on.group) {\n		return s.Ledger.Cluster(ctx, cluster)\n",
			Replacement: "	if true {\n		return s.Ledger.Cluster(ctx, cluster)\n",
		},
		{
			Name: "polls without end", File: "pkg/release/controller/again.go",
			Breaks:      "thousands of names that cannot settle are looked at every two seconds",
			Text:        "	if often {\n		wait = a.apart(wait)\n	}\n",
			Replacement: "",
		},
		{
			Name: "come and gone", File: "pkg/storage/appcontext/appcontext.go",
			Breaks:      "a late writer takes a name that has come and gone for one that never was",
			Text:        "		is = append(is, noneRetiredSince(p.absent))\n",
			Replacement: "",
		},
	}
}
