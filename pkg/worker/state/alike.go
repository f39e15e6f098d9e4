package state

import (
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/storage/recent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Bounds of the marks that are shared.
const (
	mostMarks = 256
	longMarks = 2 << 10 // bytes; longer ones are hardly those of several objects
)

// alike makes objects share their labels and annotations: those of nearly all names of a provider are the same.
type alike struct {
	of recent.Memory[string, cluster.Marks] // by what they say; not changed any more
}

// share answers marks that equal these. Nobody may change their maps.
func (a *alike) share(marks cluster.Marks) cluster.Marks {
	key := textOf(marks.Labels) + "\x00" + textOf(marks.Annotations)
	if len(key) > longMarks {
		return marks
	}
	if known, is := a.of.Get(key); is {
		known.Name = marks.Name
		return known
	}
	a.of.Keep(key, marks, mostMarks)
	return marks
}

// textOf is the same text for the same labels, and another one for others.
func textOf(all map[string]string) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out.WriteString(key + "\x01" + all[key] + "\x02")
	}
	return out.String()
}
