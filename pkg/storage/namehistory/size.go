package namehistory

import "context"

// sizes are about how many bytes the histories of projects take.
type sizes struct {
	counted bool           // what was there before this process is counted
	bytes   map[string]int // by project: what was counted, and what has been written here since
}

// grow counts what is written of a project.
func (h *History) grow(project string, bytes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sizes.bytes[project] += bytes
}

// boundGrowth prunes once a project is beyond its bound. Before anything is counted, it
// prunes once a project has grown by a tenth of its bound.
func (h *History) boundGrowth(ctx context.Context) {
	if !h.beyond() {
		return
	}
	h.count(sizes{bytes: map[string]int{}}) // after a failure, not before the next tenth
	if err := h.Prune(ctx); err != nil && ctx.Err() == nil {
		h.Logger.WarnContext(ctx, "the history of names is not bounded, until it is pruned", "error", err)
	}
}

func (h *History) beyond() bool {
	const tenth = 10
	h.mu.Lock()
	defer h.mu.Unlock()
	most := h.Bytes
	if !h.sizes.counted {
		most /= tenth
	}
	for _, bytes := range h.sizes.bytes {
		if h.Bytes > 0 && bytes > most {
			return true
		}
	}
	return false
}

// count remembers the sizes of all projects.
func (h *History) count(found sizes) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sizes = found
}
