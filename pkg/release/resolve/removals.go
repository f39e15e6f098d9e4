package resolve

import (
	"fmt"
	"io"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Removal is what an action would take of a record's names.
type Removal struct {
	Record plan.Record
	Gone   []string // that would go, ordered
	Held   []string // that stay although nothing offers them an address, and would go if it is confirmed; ordered
	All    int      // how many there are; 0 where so few would go that nobody asks
}

// over says whether it has to be confirmed.
func (r Removal) over() bool { return guard.Over(len(r.Gone), r.All, state.MaxRemoval(r.Record)) }

func (r Removal) String() string {
	return fmt.Sprintf("%d of the %d names of provider %q, more than its maxRemoval of %d %%: %s", len(r.Gone), r.All, r.Record.Name, state.MaxRemoval(r.Record), state.Few(r.Gone))
}

// Removals are what an action would take of the names of records.
type Removals []Removal

// Refuse is the error of an action that removes too many names and that nobody has
// confirmed; nil: it may go on. The action in words is what, and remedy says what to do.
func (all Removals) Refuse(what, remedy string) error {
	var fields []intent.Field
	for _, r := range all {
		if r.over() {
			fields = append(fields, intent.Field{Pointer: string(r.Record.Path) + "#/spec/maxRemoval", Detail: fmt.Sprintf("%s would remove %s; %s", what, r, remedy)})
		}
	}
	if fields == nil {
		return nil
	}
	return &intent.Error{Code: intent.Conflict, Detail: "too many names would be removed; nothing was changed", Fields: fields}
}

// Warnings are what a plan says of removals that have to be confirmed.
func (all Removals) Warnings() []string {
	var out []string
	for _, r := range all {
		if r.over() {
			out = append(out, fmt.Sprintf("removes %s; it is refused unless confirmed by this plan's token", r))
		}
		if len(r.Held) > 0 {
			out = append(out, guard.Held(len(r.Held), r.Record.Name, "this plan's token")+": "+state.Few(r.Held))
		}
	}
	return out
}

// Bind has a token cover the names that go, where they have to be confirmed: one of
// another plan confirms none of them.
func (all Removals) Bind(token io.Writer) {
	for _, r := range all {
		if r.over() || len(r.Held) > 0 {
			fmt.Fprintln(token, "removes", r.Record.Path, r.Gone, r.Held)
		}
	}
}

// Confirmation says what a proposal is called, and how it is confirmed. An orchestrator cannot.
func (p *Proposal) Confirmation() (what, remedy string) {
	if p.AppContext != "" {
		return "following app context " + p.AppContext, state.Raise
	}
	return string(p.Action), fmt.Sprintf("see POST …/plan?for=%s, and confirm it by ?confirm=<token>", p.Action)
}
