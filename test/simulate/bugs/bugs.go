// Package bugs holds mistakes that one could make in Signpost, to prove
// that the simulator finds each of them. A bug is a change of the product's
// source that only a build of the simulator sees (go test -overlay), so that
// the product itself has no switches for bugs.
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
	File        string // of the product, seen from the root of the repository
	Text        string // stands in File once
	Replacement string
	Invariants  []string // which of them it breaks first, in one world or another
}

// All are the bugs.
func All() []Bug { return slices.Concat(inReleases(), inNames(), inHealth(), inSync()) }

// inReleases are bugs on the way from a request to an app context.
func inReleases() []Bug {
	return []Bug{
		{
			// What a request has changed is found by the nudge alone: it is lost
			// with the process that took the request.
			Name: "lost nudge", File: "pkg/release/controller.go",
			Text:        "		c.scan(ctx)\n		select {\n		case <-ctx.Done():\n			return\n		case <-tick.C:",
			Replacement: "		select {\n		case <-ctx.Done():\n			return\n		case <-tick.C:",
			Invariants:  []string{"I3", "I5", "I7", "I10"},
		},
		{
			// A reader takes what is there when it comes to it, and says that all of
			// it was read at one time.
			Name: "half-read bundle", File: "pkg/appcontext/read.go",
			Text:        "	objects, err := s.objectsOn(ctx, p, cluster, revision)",
			Replacement: "	objects, err := s.objectsOn(ctx, p, cluster, 0)",
			Invariants:  []string{"I2"},
		},
		{
			// External-dns follows the record as it is edited, not as it was
			// accepted.
			Name: "leaked edit", File: "pkg/release/step_provider.go",
			Text: "	objects, findings, err := provider.Render(",
			Replacement: "	if doc, err := s.Documents.Get(ctx, use.Record); err == nil {\n" +
				"		if live, err := intent.Of[intent.Record](doc); err == nil {\n			l.Record.Spec = live.Spec\n		}\n	}\n" +
				"	objects, findings, err := provider.Render(",
			Invariants: []string{"I2", "I3", "I7"},
		},
		{
			// A document that others refer to can be deleted.
			Name: "dangling reference", File: "pkg/store/etcd/write.go",
			Text:        "kv.Unchanged(docKey(path), found.item), {Key: refPrefix(path), Prefix: true}}",
			Replacement: "kv.Unchanged(docKey(path), found.item)}",
			Invariants:  []string{"I10"},
		},
		{
			// Only groups that are on their way count as users of an external-dns.
			Name: "shared provider removed in use", File: "pkg/release/users.go",
			Text:        "		case slices.Contains(l.Uses, use):",
			Replacement: "		case slices.Contains(l.Uses, use) && !l.Settled:",
			Invariants:  []string{"I3", "I7", "I10"},
		},
		{
			// A record that moves starts at its new home before it has stopped at
			// the old one.
			Name: "two external-dns at once", File: "pkg/release/move.go",
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
			// What a drained cluster offers stays in public names.
			Name: "drained cluster published", File: "pkg/release/drained.go",
			Text:        "offers[i].Standing.Drained = d[offer.Service.Cluster]",
			Replacement: "offers[i].Standing.Drained = d[offer.Service.Name]",
			Invariants:  []string{"I3", "I5", "I7"},
		},
		{
			// Names that went count for the step that took them away alone.
			Name: "removals one by one", File: "pkg/guard/account.go",
			Text:        "		next.Gone, next.Last = union(next.Gone, lost), l.Now",
			Replacement: "		next.Last = l.Now",
			Invariants:  []string{"I11"},
		},
		{
			// What was claimed counts as confirmed, though another project has taken
			// it meanwhile.
			Name: "confirmed without looking", File: "pkg/release/nameclaims.go",
			Text:        "				lost = append(lost, b.String())\n				continue\n",
			Replacement: "				continue\n",
			Invariants:  []string{"I12"},
		},
		{
			// A name is free as soon as its group is not to give it any more, while
			// clusters still have it.
			Name: "freed before it is gone", File: "pkg/nameclaim/nameclaim.go",
			Text:        "		return !s.Resting || e.UID",
			Replacement: "		return e.UID",
			Invariants:  []string{"I3", "I12"},
		},
	}
}

// inHealth are bugs in who counts.
func inHealth() []Bug {
	return []Bug{
		{
			// For how long a cluster has been unreachable is told by comparing the
			// clock of who saw it with one's own.
			Name: "clocks are trusted", File: "pkg/release/standing.go",
			Text:        "			now.lost[cluster] = later(r.Counted, here.counted)",
			Replacement: "			now.lost[cluster] = r.Counted",
			Invariants:  []string{"I11"},
		},
		{
			// A name loses its last address because nobody is healthy.
			Name: "empty for lack of health", File: "pkg/address/health.go",
			Text:        "WhenAllUnhealthy == intent.Remove || len(f.Previous) == 0 {",
			Replacement: "WhenAllUnhealthy != \"\" {",
			Invariants:  []string{"I3", "I7", "I11"},
		},
		{
			// Clusters are taken out though most fail at once.
			Name: "no freeze", File: "pkg/release/standing.go",
			Text:        "address.Freeze(len(seen.silent), ",
			Replacement: "address.Freeze(0, ",
			Invariants:  []string{"I11"},
		},
		{
			// A cluster that cannot be reached stays published for ever.
			Name: "never taken out", File: "pkg/release/standing.go",
			Text:        "			now.lost[cluster] = later(r.Counted, here.counted)\n",
			Replacement: "",
			Invariants:  []string{"I3", "I5", "I7"},
		},
		{
			// A Service counts as ready again as soon as it is seen so, and what is
			// written says that it is not.
			Name: "stale readiness", File: "pkg/observed/readiness.go",
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
			// Whatever has the name counts as ours.
			Name: "adopted stranger", File: "pkg/syncer/perform.go",
			Text:        "	if live.Ours(p.installation) {\n		return true",
			Replacement: "	if live.UID != \"\" {\n		return true",
			Invariants:  []string{"I4"},
		},
		{
			// A cluster that does not answer counts as one that has nothing.
			Name: "forgotten deletion", File: "pkg/syncer/perform.go",
			Text:        "		case err != nil:\n			return o.failed(err)\n		case live == nil && p.doubted(o.action.id):\n			return o.doubtful()\n		case live == nil, !p.ours(*live, o.entry):",
			Replacement: "		case err != nil, live == nil, !p.ours(*live, o.entry):",
			Invariants:  []string{"I5", "I7", "I10", "I12"},
		},
		{
			// What is not known is written down as absent.
			Name: "shrink by ignorance", File: "pkg/syncer/observe.go",
			Text:        "			if !known || !o.lookups.",
			Replacement: "			known = true\n			if !known || !o.lookups.",
			Invariants:  []string{"I11"},
		},
		{
			// Who has lost a cluster goes on to write its ledger.
			Name: "stale writer", File: "pkg/ledger/ledger.go",
			Text:        "l.kv.Txn(ctx, []kv.Compare{fence}, ops...)",
			Replacement: "l.kv.Txn(ctx, nil, ops...)",
			Invariants:  []string{"I10"},
		},
		{
			// What was applied once counts as there for ever.
			Name: "digest without drift check", File: "pkg/syncer/decide.go",
			Text:        "	case a.live.ResourceVersion == entry.ResourceVersion, unedited:",
			Replacement: "	case a.live.ResourceVersion == entry.ResourceVersion, unedited, same:",
			Invariants:  []string{"I3", "I7"},
		},
		{
			// Nobody is told that single objects have changed.
			Name: "lost touch", File: "pkg/syncer/index.go",
			Text:        "		x.touch(touch, concerned)",
			Replacement: "		_ = touch",
			Invariants:  []string{"I3", "I5", "I7"},
		},
		{
			// A suspension is marked, and nobody looks at the mark.
			Name: "suspension unheeded", File: "pkg/syncer/tenure.go",
			Text:        "		if t.index.suspended(ownersOf(want, entry)) {",
			Replacement: "		if t.index.suspended(nil) {",
			Invariants:  []string{"I3"},
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
