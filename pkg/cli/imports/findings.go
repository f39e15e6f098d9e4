package imports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Outcome says what an import did with something that it found.
type Outcome string

// The outcomes of findings.
const (
	Left    Outcome = "left"    // it stays as it is, and Signpost does not manage it
	Changed Outcome = "changed" // it is taken over, but not quite as it is
)

// Finding is something that was not taken over as it is, and why.
type Finding struct {
	Outcome Outcome `json:"outcome"`
	Name    string  `json:"name"`            // the host name, or the object of a cluster
	Type    string  `json:"type,omitempty"`  // of the records
	Where   string  `json:"where,omitempty"` // the place in the source, as far as it is known
	Reason  string  `json:"reason"`          // why, and what can be done
}

// Owner is who has marked host names as its own.
type Owner struct {
	ID    string `json:"id"`    // the owner id of its external-dns
	Marks int    `json:"marks"` // how many TXT records mark something as its own
}

// Result is what an import makes of a source.
type Result struct {
	Names    []Name    `json:"-"`
	Source   string    `json:"source"`
	Taken    int       `json:"names"`
	Owners   []Owner   `json:"owners,omitempty"` // whose external-dns has marked names, as far as marks can be read
	Findings []Finding `json:"findings"`
}

// Name is a host name with all that Signpost publishes for it.
type Name struct {
	Host string
	Spec intent.Name
}

// finish brings the result into its order.
func (r *Result) finish() {
	slices.SortFunc(r.Names, func(a, b Name) int { return strings.Compare(a.Host, b.Host) })
	r.Taken = len(r.Names)
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
}

func (r *Result) leave(name, kind, reason string, args ...any) {
	r.Findings = append(r.Findings, Finding{Outcome: Left, Name: name, Type: kind, Reason: fmt.Sprintf(reason, args...)})
}

func (r *Result) change(name, kind, reason string, args ...any) {
	r.Findings = append(r.Findings, Finding{Outcome: Changed, Name: name, Type: kind, Reason: fmt.Sprintf(reason, args...)})
}
