// Package bugs holds mistakes that could be made in Signpost, to prove that the
// simulator finds each of them. A bug is a change of the product's source that
// only one build sees (go test -overlay), so that the product itself has no
// switches for bugs. Package mutants adds bugs for the other tests.
package bugs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bug is one mistake.
type Bug struct {
	Name        string
	Breaks      string // what goes wrong, in a few words
	File        string // of the product, seen from the root of the repository
	Text        string // stands in File once
	Replacement string
	Invariants  []string // those that the simulator sees broken first, in one world or another
	Test        string   // of the simulator, that finds it; empty: TestSeeds
}

// All are the bugs.
func All() []Bug {
	return slices.Concat(inReleases(), inNames(), inPreviews(), inHealth(), inSync(), inAgendas())
}

// inReleases are bugs on the way from a request to an app context.
func inReleases() []Bug {
	return []Bug{
		{
			Name: "lost nudge", File: "pkg/release/controller/resync.go",
			Breaks:      "a request is found by its wake-up alone, and lost if the process dies",
			Text:        "	c.lookAt(slices.Concat(first, then), false)\n",
			Replacement: "	c.lookAt(first, false)\n",
			Invariants:  []string{"I3", "I5", "I7", "I10"},
		},
		{
			Name: "half-read bundle", File: "pkg/storage/appcontext/read.go",
			Breaks:      "the objects of a bundle are read at different revisions",
			Text:        "resourcesKey(p.ContextID, app, cluster), Revision: revision}",
			Replacement: "resourcesKey(p.ContextID, app, cluster)}",
			Invariants:  []string{"I2"},
		},
		{
			Name: "leaked edit", File: "pkg/release/providers/step_provider.go",
			Breaks: "external-dns follows the record as it is edited, not as it was accepted",
			Text:   "	objects, findings, err := provider.Render(",
			Replacement: "	if doc, err := s.Documents.Get(ctx, use.Record); err == nil {\n" +
				"		if live, err := intent.Of[intent.Record](doc); err == nil {\n			l.Record.Spec = live.Spec\n		}\n	}\n" +
				"	objects, findings, err := provider.Render(",
			Invariants: []string{"I2", "I3", "I7"},
		},
		{
			Name: "dangling reference", File: "pkg/storage/documents/etcd/write.go",
			Breaks:      "a document that others refer to can be deleted",
			Text:        "kv.Unchanged(docKey(path), found.item), {Key: refPrefix(path), Prefix: true}}",
			Replacement: "kv.Unchanged(docKey(path), found.item)}",
			Invariants:  []string{"I10"},
		},
		{
			Name: "shared provider removed in use", File: "pkg/release/state/uses.go",
			Breaks:      "groups that are settled do not count as users of an external-dns",
			Text:        "		case slices.Contains(l.Uses, use):",
			Replacement: "		case slices.Contains(l.Uses, use) && !l.Settled:",
			Invariants:  []string{"I3", "I7", "I10"},
		},
		{
			Name: "two external-dns at once", File: "pkg/release/providers/move.go",
			Breaks:      "a record that moves starts at its new home before it has stopped at the old one",
			Text:        "{s.aloneAt, s.followedTo}",
			Replacement: "{s.followedTo}",
			Invariants:  []string{"I10"},
		},
	}
}

// inNames are bugs in which names are published.
func inNames() []Bug {
	return []Bug{
		{
			Name: "document of a deleted name", File: "pkg/release/state/lifecycle.go",
			Breaks:      "a name that is gone keeps its document",
			Text:        "		l.Refs, l.Name = nil, nil\n",
			Replacement: "		l.Refs = nil\n",
			Invariants:  []string{"I1"},
		},
		{
			Name: "name stays behind", File: "pkg/release/accept/name.go",
			Breaks:      "a name keeps the clusters that its selector chose first",
			Text:        "if err != nil || slices.Equal(chosen, l.Name.Clusters) {",
			Replacement: "if err != nil || len(l.Name.Clusters) > 0 || slices.Equal(chosen, l.Name.Clusters) {",
			Invariants:  []string{"I3"},
		},
		{
			Name: "drained cluster published", File: "pkg/release/state/clusters.go",
			Breaks:      "the addresses of a drained cluster stay in public names",
			Text:        "_, offers[i].Standing.Drained = d[offer.Service.Cluster]",
			Replacement: "_, offers[i].Standing.Drained = d[offer.Service.Name]",
			Invariants:  []string{"I3", "I5", "I7"},
		},
		{
			Name: "removals one by one", File: "pkg/release/removal/guard/account.go",
			Breaks:      "removed names count for the step that removed them alone",
			Text:        "	next.Gone = others + len(share.Gone)",
			Replacement: "	next.Gone = len(s.Gone)",
			Invariants:  []string{"I11"},
		},
		{
			Name: "confirmed without looking", File: "pkg/release/ownership/claims.go",
			Breaks:      "a claim counts as confirmed although another project has the name",
			Text:        "				lost = append(lost, b.String())\n				continue\n",
			Replacement: "				continue\n",
			Invariants:  []string{"I12"},
		},
		{
			Name: "freed before it is gone", File: "pkg/release/ownership/nameclaim/nameclaim.go",
			Breaks:      "a name is free while clusters still have it",
			Text:        "		return !s.Resting || e.UID",
			Replacement: "		return e.UID",
			Invariants:  []string{"I3", "I12"},
		},
	}
}

// inPreviews are bugs in what is told of a failover before it is made.
func inPreviews() []Bug {
	const test = "TestPreviewsComeTrue"
	return []Bug{
		{
			Name: "names by labels are not previewed", File: "pkg/release/state/uses.go", Test: test,
			Breaks:      "the preview of a failover leaves out names that choose their clusters by labels",
			Text:        "!known && intent.IsName(name) &&",
			Replacement: "!known && !intent.IsName(name) &&",
			Invariants:  []string{"I6"},
		},
		{
			Name: "suspended names are said to move", File: "pkg/release/render/predict.go", Test: test,
			Breaks:      "the preview of a failover does not know of suspended groups",
			Text:        "	if out.Suspended, err = s.Suspended(ctx, on.Group.Path, l); out.Suspended {",
			Replacement: "	if _, err = s.Suspended(ctx, on.Group.Path, l); out.Suspended {",
			Invariants:  []string{"I6"},
		},
		{
			Name: "the past is not previewed", File: "pkg/release/render/predict.go", Test: test,
			Breaks:      "the preview of a failover does not know that names of unhealthy clusters keep their addresses",
			Text:        "	now := &past{objects: before, group: on.Group}",
			Replacement: "	now := &past{group: on.Group}",
			Invariants:  []string{"I6"},
		},
		{
			Name: "another owner is not counted", File: "pkg/release/failover/forecast.go", Test: test,
			Breaks:      "a name that two owners publish counts as left without an address although one still has some",
			Text:        "	return slices.Concat(moving, beside), err",
			Replacement: "	_ = beside\n	return moving, err",
			Invariants:  []string{"I6"},
		},
	}
}

// inHealth are bugs in who counts.
func inHealth() []Bug {
	return []Bug{
		{
			Name: "clocks are trusted", File: "pkg/release/render/health.go",
			Breaks:      "the clock of one replica is compared with the clock of another",
			Text:        "			now.lost[cluster] = later(r.Counted, here.counted)",
			Replacement: "			now.lost[cluster] = r.Counted",
			Invariants:  []string{"I11"},
		},
		{
			Name: "empty for lack of health", File: "pkg/domain/address/health.go",
			Breaks:      "a name loses its last address because no address is healthy",
			Text:        "WhenAllUnhealthy == intent.Remove || len(f.Previous) == 0 {",
			Replacement: "WhenAllUnhealthy != \"\" {",
			Invariants:  []string{"I3", "I7", "I11"},
		},
		{
			Name: "no freeze", File: "pkg/release/render/health.go",
			Breaks:      "clusters are taken out although most of them fail at once",
			Text:        "address.Freeze(len(seen.silent), ",
			Replacement: "address.Freeze(0, ",
			Invariants:  []string{"I11"},
		},
		{
			Name: "never taken out", File: "pkg/release/render/health.go",
			Breaks:      "an unreachable cluster stays published for ever",
			Text:        "			now.lost[cluster] = later(r.Counted, here.counted)\n",
			Replacement: "",
			Invariants:  []string{"I3", "I5", "I7"},
		},
		{
			Name: "stale readiness", File: "pkg/storage/observed/readiness.go",
			Breaks:      "a Service counts as ready, but is written down as not ready",
			Text:        "	case before.Ready > 0:\n		return turned(",
			Replacement: "	case before.Ready > 0:\n		return before\n	case now.IsZero():\n		return turned(",
			Invariants:  []string{"I3", "I7", "I11"},
		},
	}
}

// inSync are bugs on the way from an app context to a cluster.
func inSync() []Bug {
	return []Bug{
		{
			Name: "adopted stranger", File: "pkg/worker/apply/perform.go",
			Breaks:      "any object of the right name counts as ours",
			Text:        "	if live.Ours(p.installation) {\n		return true",
			Replacement: "	if live.UID != \"\" {\n		return true",
			Invariants:  []string{"I4"},
		},
		{
			Name: "forgotten deletion", File: "pkg/worker/apply/perform.go",
			Breaks:      "a cluster that does not answer counts as one that is empty",
			Text:        "		case err != nil:\n			return o.failed(err)\n		case live == nil && p.mayStillCome(o.action.id):\n			return o.stillPending()\n		case live == nil, !p.ours(*live, o.entry):",
			Replacement: "		case err != nil, live == nil, !p.ours(*live, o.entry):",
			Invariants:  []string{"I5", "I7", "I10", "I12"},
		},
		{
			Name: "shrink by ignorance", File: "pkg/worker/observe/services.go",
			Breaks:      "unknown addresses are written down as absent",
			Text:        "		if !known || !o.lookups.",
			Replacement: "		known = true\n		if !known || !o.lookups.",
			Invariants:  []string{"I11"},
		},
		{
			Name: "stale writer", File: "pkg/storage/ledger/ledger.go",
			Breaks:      "a worker that has lost a cluster still writes its ledger",
			Text:        "l.kv.Txn(ctx, []kv.Compare{fence}, ops...)",
			Replacement: "l.kv.Txn(ctx, nil, ops...)",
			Invariants:  []string{"I10"},
		},
		{
			Name: "digest without drift check", File: "pkg/worker/apply/decide.go",
			Breaks:      "an object that was applied once counts as there for ever",
			Text:        "	case a.live.ResourceVersion == entry.ResourceVersion, unedited:",
			Replacement: "	case a.live.ResourceVersion == entry.ResourceVersion, unedited, same:",
			Invariants:  []string{"I3", "I7"},
		},
		{
			Name: "lost touch", File: "pkg/worker/index/index.go",
			Breaks:      "a change of single objects is not passed on",
			Text:        "		x.touch(touch, concerned)",
			Replacement: "		_ = touch",
			Invariants:  []string{"I3", "I5", "I7"},
		},
		{
			Name: "suspension unheeded", File: "pkg/worker/apply/applier.go",
			Breaks:      "the mark of a suspended group is not read",
			Text:        "	if a.operation != nothing && !t.Index.Suspended(ownersOf(want, entry)) {",
			Replacement: "	if a.operation != nothing && !t.Index.Suspended(nil) {",
			Invariants:  []string{"I3"},
		},
	}
}

// inAgendas are bugs of the choice which objects of a cluster are decided about.
func inAgendas() []Bug {
	return []Bug{
		{
			Name: "unseen drift", File: "pkg/worker/link/link.go",
			Breaks:      "what somebody changes in a cluster is not decided about",
			Text:        "	l.add(&l.Agenda, changed)\n",
			Replacement: "	if len(changed) == 0 {\n		l.Agenda.AddAll()\n	}\n",
			Invariants:  []string{"I5", "I3"},
		},
		{
			Name: "change off the agenda", File: "pkg/worker/state/desired.go",
			Breaks:      "an object that a context changes is not decided about",
			Text:        "		d.cluster.Agenda.Add(id)\n",
			Replacement: "",
			Invariants:  []string{"I3", "I5", "I7", "I10", "I11"},
		},
	}
}

// Overlay writes, into dir, the changed file and what go's -overlay flag wants,
// and answers the latter's path. An error says that the product no longer has
// the text: the bug is to be written anew.
func (b Bug) Overlay(root, dir string) (string, error) {
	file, err := filepath.Abs(filepath.Join(root, b.File))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(source), b.Text); n != 1 {
		return "", fmt.Errorf("bug %q: %s holds the text that it replaces %d times, not once; write the bug anew:\n%s", b.Name, b.File, n, b.Text)
	}
	changed := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(changed, []byte(strings.Replace(string(source), b.Text, b.Replacement, 1)), 0o600); err != nil {
		return "", err
	}
	raw, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, raw, 0o600)
}
