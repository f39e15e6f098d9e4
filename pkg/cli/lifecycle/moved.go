package lifecycle

import (
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/pkg/client"
)

// outcome counts the records of a failover that have an address afterwards, and how many of them are answered.
// None are those that have no address by now.
func outcome(r client.FailoverRecord) (answered, moved, none int) {
	moved = r.Counts.Names - r.Counts.None
	if r.Answered >= r.Counts.Names {
		return moved, moved, r.Counts.None
	}
	for _, name := range r.Names {
		if name.Stays == "" && name.Left == client.FailoverNameLeftNone && !name.Answered.IsZero() {
			none++
		}
	}
	return min(r.Answered-none, moved), moved, none
}

// movesWord says how many names move, and how many have no address afterwards. If rows are
// left out, records are counted: a name has one of each type.
func movesWord(preview client.FailoverPreview) string {
	what, all, gone := "name", map[string]bool{}, map[string]bool{}
	for _, row := range preview.Names {
		if row.Stays != "" {
			continue
		}
		all[row.Name] = true
		if row.Left == client.MovedNameLeftNone {
			gone[row.Name] = true
		}
	}
	moved, lost := len(all)-len(gone), len(gone)
	if preview.NamesLeftOut > 0 {
		what, moved, lost = "record", preview.Counts.Names-preview.Counts.None, preview.Counts.None
	}
	var parts []string
	if moved > 0 || lost == 0 {
		parts = append(parts, counted(moved, what, "moves", "move"))
	}
	if lost > 0 {
		parts = append(parts, counted(lost, what, "loses its last address", "lose their last address"))
	}
	return strings.Join(parts, ", ")
}

func counted(n int, what, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s %s", what, one)
	}
	return fmt.Sprintf("%d %ss %s", n, what, many)
}
