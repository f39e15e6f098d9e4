// Package offers relates what logical clouds offer to pods, the autopath of
// their DNS, to the groups that rely on it.
package offers

import "github.com/signpost-dns/signpost/pkg/release/state"

// Keeper makes offers known, and lets nobody withdraw one in use.
type Keeper struct{ *state.Store }
