package nameindex

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// rest is what a lifecycle tells of names that are not as they were asked for.
type rest struct {
	project string
	all     []intent.Trouble
}

// restOf reads what stayed behind and what is held back out of a lifecycle.
func restOf(r *reading) rest {
	out := rest{project: r.path.Segment("projects")}
	for _, left := range r.lifecycle.Leftovers {
		out.all = append(out.all, intent.Trouble{Kind: intent.TroubleLeftover, Project: out.project, Owner: r.path, Record: left.Record, Name: left.Name, Type: left.Type, Message: left.Reason})
	}
	for _, held := range r.lifecycle.Retained {
		if held.Names == 0 {
			continue
		}
		t := intent.Trouble{Kind: intent.TroubleHeld, Project: out.project, Owner: r.path, Record: held.Record.Name(), Names: held.Names}
		if since := held.Since.UTC(); !since.IsZero() {
			t.Since = &since
		}
		out.all = append(out.all, t)
	}
	return out
}

// keep has what a lifecycle tells take the place of what it told before.
func (t *tables) keep(r *reading) {
	if told := restOf(r); len(told.all) > 0 {
		t.rests[r.path] = told
	} else {
		delete(t.rests, r.path)
	}
}

// forgetOwner drops all that is known of an owner whose lifecycle is gone.
func (t *tables) forgetOwner(path intent.Path) {
	t.remove(path)
	delete(t.rests, path)
}

// Troubles returns what the caller may read of objects and names that are not as they are
// wanted, ordered by kind. Its errors are as of FindNames.
func (x *Index) Troubles(q intent.TroubleQuery) (intent.TroublePage, error) {
	after, err := base64.RawURLEncoding.DecodeString(q.After)
	if err != nil {
		return intent.TroublePage{}, &intent.Error{Code: intent.Invalid, Detail: "continue is not one that this list has answered: leave it out to begin again", Err: err}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if err := x.fresh(); err != nil {
		return intent.TroublePage{}, err
	}
	page := intent.TroublePage{Items: []intent.Trouble{}, Counts: map[string]int{}, AsOf: x.asOf()}
	all := x.tables.troubles(q.Sees)
	for n := range all {
		page.Counts[all[n].Kind]++
		switch key := troubleKey(all[n]); {
		case key <= string(after) || page.Continue != "":
		case len(page.Items) == q.Limit:
			page.Continue = base64.RawURLEncoding.EncodeToString([]byte(troubleKey(all[n-1])))
		default:
			page.Items = append(page.Items, x.tables.explained(all[n]))
		}
	}
	return page, nil
}

// troubles are those of projects that may be read, in order.
func (t *tables) troubles(sees func(project string) bool) []intent.Trouble {
	var all []intent.Trouble
	for _, at := range t.clusters {
		for id, p := range at.pending {
			if !sees(p.project) {
				continue
			}
			one := intent.Trouble{Kind: intent.TroublePending, Project: p.project, Owner: p.owner, Cluster: at.name, Object: strings.TrimPrefix(id.Kind+" "+id.Namespace+"/"+id.Name, "/"), Message: p.message}
			if p.status == ledger.Failed {
				one.Kind = intent.TroubleConflict
			}
			if since := p.since.UTC(); !since.IsZero() {
				one.Since = &since
			}
			all = append(all, one)
		}
	}
	for _, told := range t.rests {
		if sees(told.project) {
			all = append(all, told.all...)
		}
	}
	slices.SortFunc(all, func(a, b intent.Trouble) int { return cmp.Compare(troubleKey(a), troubleKey(b)) })
	return all
}

// explained tells of a name whose removal is held why it has no address.
func (t *tables) explained(one intent.Trouble) intent.Trouble {
	of := t.owners[one.Owner]
	if one.Kind != intent.TroubleHeld || !intent.IsName(one.Owner) || of == nil {
		return one
	}
	for _, r := range of.rows {
		one.Message = hit{row: r, in: t}.whyHeld()
	}
	return one
}

// troubleKey tells a Trouble from all others.
func troubleKey(t intent.Trouble) string {
	return strings.Join([]string{t.Kind, t.Cluster, t.Object, string(t.Owner), t.Record, t.Name, t.Type}, "\x00")
}
