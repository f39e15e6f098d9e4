package review

import (
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Oddities collects warnings.
type Oddities struct{ List []intent.Warning }

// Warn adds a warning about a parameter, once.
func (w *Oddities) Warn(parameter, format string, args ...any) {
	warning := intent.Warning{Parameter: parameter, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(w.List, warning) {
		w.List = append(w.List, warning)
	}
}
