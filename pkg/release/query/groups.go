package query

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// appsAtOnce is how many composite apps a page of groups looks at, if most have no group.
const appsAtOnce = 500

// GroupPage is a page of the deployment intent groups of a project.
type GroupPage struct {
	Groups   []Snapshot // of the observations, nothing is set
	Continue string     // empty on the last page
}

// ListGroups returns a page of the deployment intent groups of a project, ordered by composite
// app and name. It reads neither objects nor observations. A page has at most limit groups,
// and begins behind an earlier one. NotFound without the project, Invalid for an after that
// no page had.
func (s *Reader) ListGroups(ctx context.Context, project intent.Path, limit int, after string) (GroupPage, error) {
	place, err := groupPlaceOf(after)
	if err != nil {
		return GroupPage{}, err
	}
	if _, err := s.Documents.Get(ctx, project); err != nil {
		return GroupPage{}, err
	}
	paths, next, err := s.groupsBehind(ctx, project, place, limit)
	if err != nil {
		return GroupPage{}, err
	}
	page := GroupPage{Continue: next.encode()}
	for _, path := range paths {
		snap, err := state.RetryOnConflict(ctx, path, func(ctx context.Context) (Snapshot, error) { return s.brief(ctx, path) })
		if intent.CodeOf(err) == intent.NotFound {
			continue // it was deleted since
		}
		if err != nil {
			return page, err
		}
		page.Groups = append(page.Groups, snap)
	}
	return page, nil
}

// groupPlace is where a page of groups ends: behind a group, or behind all of a composite
// app if group is empty. Zero is the beginning, or the end of the last page.
type groupPlace struct {
	app   string // as in "store/v1"
	group string
}

func (p groupPlace) encode() string {
	if p.app == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(p.app + "/" + p.group))
}

func groupPlaceOf(after string) (groupPlace, error) {
	if after == "" {
		return groupPlace{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(after)
	parts := strings.Split(string(raw), "/")
	if err != nil || len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		return groupPlace{}, &intent.Error{Code: intent.Invalid, Detail: "it is not the end of a page of groups", Err: err}
	}
	return groupPlace{parts[0] + "/" + parts[1], parts[2]}, nil
}

// groupsBehind lists groups behind a place, and where they end.
func (s *Reader) groupsBehind(ctx context.Context, project intent.Path, at groupPlace, limit int) ([]intent.Path, groupPlace, error) {
	apps, err := s.Documents.List(ctx, intent.ListOptions{Collection: string(project) + "/composite-apps", After: at.app, Limit: appsAtOnce, Bytes: intent.PageBytes})
	if err != nil {
		return nil, groupPlace{}, err
	}
	rest := []groupPlace{} // from where to read on
	if at.group != "" {
		rest = append(rest, at)
	}
	for _, app := range apps.Items {
		rest = append(rest, groupPlace{app: app.Path.Name()})
	}
	var paths []intent.Path
	for _, from := range rest {
		page, err := s.Documents.List(ctx, intent.ListOptions{
			Collection: string(project) + "/composite-apps/" + from.app + "/deployment-intent-groups", After: from.group, Limit: limit + 1 - len(paths), Bytes: intent.PageBytes,
		})
		if err != nil {
			return nil, groupPlace{}, err
		}
		for _, doc := range page.Items {
			paths = append(paths, doc.Path)
		}
		if len(paths) > limit || page.Continue != "" {
			paths = paths[:min(limit, len(paths))]
			last := paths[len(paths)-1] // of an earlier app, if this one's do not fit
			return paths, groupPlace{last.Parent().Name(), last.Name()}, nil
		}
	}
	if apps.Continue == "" {
		return paths, groupPlace{}, nil
	}
	return paths, groupPlace{app: apps.Items[len(apps.Items)-1].Path.Name()}, nil
}

// brief reads what a list of groups tells of one.
func (s *Reader) brief(ctx context.Context, group intent.Path) (Snapshot, error) {
	snap := Snapshot{Owner: state.GroupOwner(group)}
	doc, l, err := state.Owned(ctx, s.Store, group)
	if snap.Lifecycle = l; err != nil || l.Seq == 0 {
		return snap, err
	}
	if snap.Suspended, err = snap.Lifecycle.SuspendedBy(doc); err != nil || !l.Deployed() {
		return snap, err
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	if err != nil {
		return snap, err
	}
	snap.Group, snap.Inputs = release.Group, release.Inputs
	snap.Undeployed, err = s.Undeployed(ctx, &snap)
	return snap, err
}
