package release

import (
	"errors"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// attempts is how often a request tries again when others change what it has
// read.
const attempts = 10

// errReplan is the cause of an error that trying again does not mend.
var errReplan = errors.New("plan again")

// replan answers a confirmation that came too late.
func replan() error {
	return &intent.Error{Code: intent.PreconditionFailed, Detail: "the plan that was confirmed is no longer what would happen; plan again", Err: errReplan}
}

// undisturbed tries a request until nobody changes what it has read meanwhile.
func undisturbed[Answer any](owner intent.Path, try func() (Answer, error)) (answer Answer, err error) {
	for range attempts {
		answer, err = try()
		if intent.CodeOf(err) != intent.PreconditionFailed || errors.Is(err, errReplan) {
			return answer, err
		}
	}
	return answer, &intent.Error{Code: intent.Conflict, Detail: "others keep changing " + string(owner) + "; try again", Err: err}
}
