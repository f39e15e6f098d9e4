package show

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// PrintFound shows names of all projects as a table, or that there are none.
func PrintFound(w io.Writer, names []client.FoundName, wide bool) error {
	if len(names) == 0 {
		terminal.Printf(w, "There are no such names.\n")
		return nil
	}
	heading := []string{"NAME", "PROJECT", "OWNER", "PROVIDER", "STATE", "PUBLISHED", "VERIFIED"}
	if wide {
		heading = append(heading, "SCOPE", "CLUSTERS", "HOME")
	}
	told := slices.ContainsFunc(names, func(n client.FoundName) bool { return n.Reason != "" })
	if told {
		heading = append(heading, "REASON")
	}
	t := terminal.NewTable(heading...)
	for _, n := range names {
		cells := []string{n.Name, n.Project, ownerCell(n), n.Provider, string(n.State), n.Published, n.Verified}
		if wide {
			cells = append(cells, string(n.Scope), strings.Join(n.Clusters, ","), strings.Join(n.ExternalDNS, ","))
		}
		if told {
			cells = append(cells, n.Reason)
		}
		t.Add(cells...)
	}
	return t.Write(w)
}

// ownerCell is what publishes a name: a group by its short path, or a name document.
func ownerCell(n client.FoundName) string {
	if intent.IsName(intent.Path(n.Owner)) {
		return "name"
	}
	return document.ShortOwner(intent.Path(n.Owner))
}

// printFoundPage shows the answer at the path of all names.
func printFoundPage(w io.Writer, body []byte, wide bool) error {
	var page client.FoundNamePage
	if err := json.Unmarshal(body, &page); err != nil {
		return err
	}
	return PrintFound(w, page.Items, wide)
}
