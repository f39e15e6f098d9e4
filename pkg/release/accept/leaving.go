package accept

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
)

// leaving tells which addresses leave DNS when a group ends, and of which names others stay. The list of names no longer has
// its names afterwards, so the event tells it. A name of its own is its own path.
func leaving(p *resolve.Proposal) string {
	const most = 10 // names, and targets of each
	if p.Action != intent.Terminate || intent.IsName(p.Draft.Group.Path) {
		return ""
	}
	stays := map[string]bool{}
	for _, n := range p.View.Names {
		stays[n.Name] = stays[n.Name] || n.Action != "delete" && len(n.Targets) > 0
	}
	rows := map[bool][]string{} // by whether the name stays
	for _, n := range p.View.Names {
		lost := slices.DeleteFunc(slices.Clone(n.Before), func(target string) bool {
			return n.Action != "delete" && slices.Contains(n.Targets, target)
		})
		if len(lost) > 0 {
			rows[stays[n.Name]] = append(rows[stays[n.Name]], n.Name+" "+n.Type+" "+first(lost, most, ", "))
		}
	}
	var parts []string
	if len(rows[false]) > 0 {
		parts = append(parts, "leaves DNS: "+first(rows[false], most, "; "))
	}
	if len(rows[true]) > 0 {
		parts = append(parts, "stays in DNS without these addresses: "+first(rows[true], most, "; "))
	}
	return strings.Join(parts, "; ")
}

// first lists the first of some texts.
func first(texts []string, most int, between string) string {
	text := strings.Join(texts[:min(len(texts), most)], between)
	if more := len(texts) - most; more > 0 {
		text += fmt.Sprintf("%sand %d more", between, more)
	}
	return text
}
