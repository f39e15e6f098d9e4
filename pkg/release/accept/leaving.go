package accept

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
)

// leaving tells which addresses leave DNS when a group ends. The list of names no longer has
// its names afterwards, so the event tells it. A name of its own is its own path.
func leaving(p *resolve.Proposal) string {
	const most = 10 // names, and targets of each
	if p.Action != intent.Terminate || intent.IsName(p.Draft.Group.Path) {
		return ""
	}
	var rows []string
	for _, n := range p.View.Names {
		lost := slices.DeleteFunc(slices.Clone(n.Before), func(target string) bool {
			return n.Action != "delete" && slices.Contains(n.Targets, target)
		})
		if len(lost) > 0 {
			rows = append(rows, n.Name+" "+n.Type+" "+first(lost, most, ", "))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return "leaves DNS: " + first(rows, most, "; ")
}

// first lists the first of some texts.
func first(texts []string, most int, between string) string {
	text := strings.Join(texts[:min(len(texts), most)], between)
	if more := len(texts) - most; more > 0 {
		text += fmt.Sprintf("%sand %d more", between, more)
	}
	return text
}
