package resolve

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Taken is what owners have of a project's quotas. A name that two of them publish counts
// for each.
type Taken struct {
	Names   int         `json:"names"`
	Objects int         `json:"objects"`
	Uses    []state.Use `json:"uses"` // none twice
}

// Count is what a project has at most, as its key says.
type Count struct {
	Item  *kv.Item // as it was read; nil: there is none
	Has   Taken    // never less than the project has
	Exact bool     // Has follows from all lifecycles, and not from the key
}

// With is what others have, too.
func (t Taken) With(more Taken) Taken {
	return Taken{t.Names + more.Names, t.Objects + more.Objects, state.Without(slices.Concat(t.Uses, more.Uses), nil)}
}

// Beyond is what exceeds something taken before, in anything.
func (t Taken) Beyond(before Taken) Taken {
	return Taken{max(t.Names-before.Names, 0), max(t.Objects-before.Objects, 0), state.Without(t.Uses, before.Uses)}
}

// Nothing tells whether nothing is taken.
func (t Taken) Nothing() bool { return t.Names == 0 && t.Objects == 0 && len(t.Uses) == 0 }

// Within tells whether quotas allow it.
func (t Taken) Within(quotas intent.Quotas) bool {
	fits := func(quota *int, n int) bool { return quota == nil || n <= *quota }
	return fits(quotas.Names, t.Names) && fits(quotas.Objects, t.Objects) && fits(quotas.ExternalDNS, len(t.Uses))
}
