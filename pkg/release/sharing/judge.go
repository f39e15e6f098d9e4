// Package sharing judges what comes of names that several groups publish, and
// hands names over from one group to another.
package sharing

import "github.com/signpost-dns/signpost/pkg/release/state"

// Judge judges shared names.
type Judge struct {
	*state.Store
}
