package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inStores are mutants of the document stores.
func inStores() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "lost update", File: "pkg/storage/documents/etcd/write.go",
			Breaks:      "of two writers at once one overwrites the other",
			Text:        "	when := []kv.Compare{kv.Unchanged(docKey(d.Path), found.item)}\n	guards",
			Replacement: "	when := []kv.Compare{}\n	guards",
		},
		{
			Name: "page of names", File: "pkg/storage/documents/names/names.go",
			Breaks:      "the second page of names begins where no page ended",
			Text:        "		options.Continue = draft.Cursor(collection + after)\n",
			Replacement: "		options.Continue = draft.Cursor(after)\n",
		},
		{
			Name: "cursor of another list", File: "pkg/storage/documents/draft/draft.go",
			Breaks:      "the cursor of one list is taken by another",
			Text:        " || !strings.HasPrefix(name, options.NamePrefix)",
			Replacement: "",
		},
		{
			Name: "last item twice", File: "pkg/emco/documents/store.go",
			Breaks:      "a page begins with the last item of the page before",
			Text:        "body.name <= after ||",
			Replacement: "body.name < after ||",
		},
		{
			Name: "pending reader ignored", File: "pkg/storage/documents/mongo/read.go",
			Breaks:      "a document is deleted while another one begins to refer to it",
			Text:        "len(h.live)+len(h.pending) == 0",
			Replacement: "len(h.live) == 0",
		},
		{
			Name: "new references lost", File: "pkg/storage/documents/mongo/record.go",
			Breaks:      "a write that is under way does not hold what it refers to",
			Text:        "union(found.Live.Refs, r.Pending.Refs)",
			Replacement: "union(found.Live.Refs, found.Live.Refs)",
		},
		{
			Name: "releases of another dictionary", File: "pkg/release/state/packed/packed.go",
			Breaks:      "releases are packed with a dictionary that no reader has",
			Text:        "zlib.NewWriterLevelDict(&out, zlib.DefaultCompression, []byte(dictionary))",
			Replacement: "zlib.NewWriterLevelDict(&out, zlib.DefaultCompression, []byte(dictionary)[1:])",
		},
		{
			Name: "packers that remember", File: "pkg/release/state/packed/packed.go",
			Breaks:      "a release is written behind the one that was packed before",
			Text:        "		zip.Reset(&out)\n",
			Replacement: "",
		},
		{
			Name: "events of another release", File: "pkg/release/state/stored.go",
			Breaks:      "earlier events of a name are told of its present release",
			Text:        "	if e.Revision != l.Seq {",
			Replacement: "	if e.Revision > l.Seq {",
		},
	}
}

// inKeys are mutants of what is kept under keys.
func inKeys() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "skipped segment", File: "pkg/storage/kv/kv.go",
			Breaks:      "a cluster whose name begins with that of another one is not listed",
			Text:        `segment + "/\xff"`,
			Replacement: `segment + "\xff"`,
		},
		{
			Name: "lease held too long", File: "pkg/storage/kv/etcd/lease.go",
			Breaks:      "a worker takes a lease for its own that another one may have by now",
			Text:        "ttl - ttl/safetyPart",
			Replacement: "ttl",
		},
		{
			Name: "revision too far", File: "pkg/storage/kv/etcd/txn.go",
			Breaks:      "a key that was changed after a revision counts as unchanged",
			Text:        `"<", c.NotAfter+1)`,
			Replacement: `"<", c.NotAfter+2)`,
		},
		{
			Name: "forgotten in between", File: "pkg/storage/observed/writer.go",
			Breaks:      "an observation that a new context asks for is forgotten",
			Text:        "	return w.apply(ctx, []kv.Compare{on}, ops...)",
			Replacement: "	_ = on\n	return w.apply(ctx, nil, ops...)",
		},
		{
			Name: "unfenced observation", File: "pkg/storage/observed/writer.go",
			Breaks:      "a worker that has lost a cluster still writes what it saw",
			Text:        "[]kv.Compare{w.fence}",
			Replacement: "nil",
		},
		{
			Name: "replaced over a change", File: "pkg/storage/appcontext/touch.go",
			Breaks:      "objects are replaced in a context that is not current any more",
			Text:        "slices.Concat(p.unchanged(), was.places, when)",
			Replacement: "slices.Concat(was.places, when)",
		},
		{
			Name: "nothing is forgotten", File: "pkg/storage/recent/memory.go",
			Breaks:      "the memory of recent values grows without an end",
			Text:        "			delete(m.of, oldest.key)\n",
			Replacement: "",
		},
		{
			Name: "abandoned cluster read", File: "pkg/storage/ledger/ledger.go",
			Breaks:      "an abandoned cluster still has entries",
			Text:        "	if err != nil || len(items) > 0 && items[0].Key == abandoned {",
			Replacement: "	if err != nil {",
		},
	}
}

// inWork are mutants of what is done to clusters.
func inWork() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "waits for ever", File: "pkg/worker/pace/pace.go",
			Breaks:      "an object that fails often is tried again after hours only",
			Text:        "return min(first<<count, longest)",
			Replacement: "return first << count",
		},
		{
			Name: "wanted by nobody", File: "pkg/worker/state/desired.go",
			Breaks:      "an object stays in a cluster after its last owner has left it",
			Text:        "			delete(d.objects, id)\n",
			Replacement: "",
		},
		{
			Name: "name gone, addresses gone", File: "pkg/worker/lookup/lookup.go",
			Breaks:      "a host name that no longer exists loses its last addresses",
			Text:        "return before, err",
			Replacement: "return nil, err",
		},
		{
			Name: "ours by any label", File: "pkg/worker/cluster/content.go",
			Breaks:      "an object of another installation counts as Signpost's own",
			Text:        "l.Labels[bundle.LabelInstallation] == installation",
			Replacement: "l.Labels[bundle.LabelInstallation] != \"\"",
		},
		{
			Name: "rebuilt is the same", File: "pkg/worker/connections/identities.go",
			Breaks:      "a cluster that was rebuilt counts as the one that it was",
			Text:        "	if was := t.uid.Load(); was != nil && *was == uid {",
			Replacement: "	if was := t.uid.Load(); was != nil {",
		},
		{
			Name: "overwritten file", File: "pkg/worker/cluster/directory/directory.go",
			Breaks:      "a file that somebody has changed meanwhile is overwritten",
			Text:        "if live == nil || live.Version != at {",
			Replacement: "if live == nil {",
		},
		{
			Name: "no deadline", File: "pkg/worker/cluster/kubeapi/kubernetes.go",
			Breaks:      "the probe of a silent cluster never ends",
			Text:        "context.WithTimeout(ctx, cluster.RequestDeadline/2)",
			Replacement: "context.WithCancel(ctx)",
		},
		{
			Name: "few is one less", File: "pkg/release/removal/guard/account.go",
			Breaks:      "as many names as may always go are held back",
			Text:        "gone > Few && ",
			Replacement: "gone >= Few && ",
		},
	}
}

// inOrchestration are mutants of app contexts of EMCO, and of what EMCO does to clusters.
func inOrchestration() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "two patches", File: "pkg/emco/apply.go",
			Breaks:      "an app context is patched while another patch is under way",
			Text:        "		kv.Unchanged(journalKey(c.ID), nil),\n",
			Replacement: "",
		},
		{
			Name: "given up under way", File: "pkg/emco/journal.go",
			Breaks:      "what a decided patch has still to write is removed",
			Text:        "[]kv.Compare{kv.Unchanged(journalKey(id), nil)}, kv.DeletePrefix",
			Replacement: "nil, kv.DeletePrefix",
		},
		{
			Name: "context under way", File: "pkg/emco/handover/look.go",
			Breaks:      "an app context that rsync still works on counts as done",
			Text:        "return !s.active && s.in(",
			Replacement: "return s.in(",
		},
		{
			Name: "refusal ignored", File: "pkg/emco/rsync/rsync.go",
			Breaks:      "a refusal of rsync counts as done",
			Text:        "	case err == nil && done:",
			Replacement: "	case err == nil && (done || message != \"\"):",
		},
	}
}
