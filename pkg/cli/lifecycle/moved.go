package lifecycle

import (
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/pkg/client"
)

// movesWord says how many host names move, and how many have no address afterwards.
func movesWord(h client.FailoverHosts) string {
	var parts []string
	if h.Moved > 0 || h.None == 0 {
		parts = append(parts, counted(h.Moved, "moves", "move"))
	}
	if h.None > 0 {
		parts = append(parts, counted(h.None, "loses its last address", "lose their last address"))
	}
	return strings.Join(parts, ", ")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 name " + one
	}
	return fmt.Sprintf("%d names %s", n, many)
}
