package namehistory

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Of answers the history of a host name in the projects that may be read, the newest
// first. A project that has replaced another one of its name has none of the other's.
func (h *History) Of(ctx context.Context, host string, reads func(project string) bool) ([]intent.NameTurn, error) {
	all := []intent.NameTurn{}
	options := intent.ListOptions{Collection: intent.NameHistoryCollection, NamePrefix: host + "/", Limit: batch, Bytes: intent.PageBytes}
	err := intent.Each(ctx, h.Documents, options, func(doc intent.Document) error {
		_, project, uid := parse(doc.Path)
		if !reads(project) {
			return nil
		}
		current, err := h.Documents.Get(ctx, intent.Join("projects", project))
		if intent.CodeOf(err) == intent.NotFound {
			return nil
		}
		if err != nil || current.UID != uid {
			return err
		}
		var d document
		if err := json.Unmarshal(doc.Body, &d); err != nil {
			return err
		}
		all = append(all, d.Turns...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b intent.NameTurn) int { return a.Time.Compare(b.Time) })
	slices.Reverse(all)
	return all[:min(len(all), mostTurns)], nil
}

// parse takes the path of a document apart.
func parse(path intent.Path) (host, project, uid string) {
	name := strings.TrimPrefix(string(path), intent.NameHistoryCollection+"/")
	host, rest, _ := strings.Cut(name, "/")
	project, uid, _ = strings.Cut(rest, "/")
	return host, project, uid
}

// batch is how many documents are read at once.
const batch = 200
