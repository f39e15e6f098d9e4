package lifecycle

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// wait is what --wait waits for, empty for nothing.
type wait string

const (
	waitInstantiated wait = "instantiated"
	waitTerminated   wait = "terminated" // of terminate alone
	waitPublished    wait = "published"
	waitVerified     wait = "verified"
)

var _ pflag.Value = (*wait)(nil)

// String is the value of the flag.
func (w *wait) String() string { return string(*w) }

// Type is what --help calls the value.
func (w *wait) Type() string { return "state" }

// Set takes a value of the flag.
func (w *wait) Set(text string) error {
	switch wait(text) {
	case waitInstantiated, waitTerminated, waitPublished, waitVerified:
		*w = wait(text)
		return nil
	}
	return terminal.Usagef("%q is nothing to wait for; give instantiated, published or verified", text)
}

func (w *wait) flag(cmd *cobra.Command, action intent.Action) {
	usage, alone := "wait until it is instantiated (without a value), published or verified, and show the progress", waitInstantiated
	if action == intent.Terminate {
		usage, alone = "wait until it is terminated, and show the progress", waitTerminated
	}
	cmd.Flags().Var(w, "wait", usage)
	cmd.Flags().Lookup("wait").NoOptDefVal = string(alone)
}

// WaitArgument takes a state that follows --wait from the arguments, and answers the others. A flag that may stand alone has its
// value behind "=" only, and people write "--wait verified", too.
func WaitArgument(cmd *cobra.Command, args []string) []string {
	flag := cmd.Flags().Lookup("wait")
	if flag == nil || !flag.Changed {
		return args
	}
	at := slices.IndexFunc(args, func(arg string) bool { return new(wait).Set(arg) == nil })
	if at < 0 || flag.Value.String() != flag.NoOptDefVal && flag.Value.String() != args[at] || flag.Value.Set(args[at]) != nil {
		return args
	}
	return slices.Delete(slices.Clone(args), at, at+1)
}

// refuse fails if an action on an owner does not lead to what is waited for.
func (w *wait) refuse(action intent.Action, owner intent.Path) error {
	switch {
	case *w == "":
		return nil
	case document.IsRecord(owner):
		return terminal.Usagef("--wait: a provider has no state to wait for; see signpost status %s", owner)
	case (action == intent.Terminate) != (*w == waitTerminated):
		return terminal.Usagef("--wait=%s: %s does not lead to it; give --wait", *w, action)
	case document.Kind(owner) == "logical-clouds" && w.condition() != "":
		return terminal.Usagef("--wait=%s: a logical cloud has no names; give --wait=instantiated", *w)
	}
	return nil
}

// condition is the condition of a status that is waited for, empty for none.
func (w *wait) condition() client.ConditionType {
	switch *w {
	case waitPublished:
		return client.Published
	case waitVerified:
		return client.Verified
	}
	return ""
}

// withoutNames is what is waited for of an owner that has no names.
func (w *wait) withoutNames() wait {
	if w.condition() != "" {
		return waitInstantiated
	}
	return *w
}

// goal is what the action and the flag lead to.
func (w *wait) goal(action intent.Action) Goal {
	goal := GoalOf(action)
	goal.Condition = w.condition()
	return goal
}

// Goal is what a Waiter waits for.
type Goal struct {
	State     client.StatusState
	Condition client.ConditionType // that is to be true as well; empty: none
}

// GoalOf is the state that an action leads to.
func GoalOf(action intent.Action) Goal {
	if action == intent.Terminate {
		return Goal{State: client.StatusState(intent.Terminated)}
	}
	return Goal{State: client.StatusState(intent.Instantiated)}
}

// String is what is reached, for people.
func (g Goal) String() string {
	if g.Condition != "" {
		return string(g.State) + ", " + string(g.Condition)
	}
	return string(g.State)
}

// missing is why a status is not the goal, as far as conditions tell; empty if it is. Names are not verified if their publisher has
// not put them through: then the answers are somebody else's.
func (g Goal) missing(status client.Status) string {
	missing, unpublished := "", ""
	if g.Condition != "" {
		missing = "not " + string(g.Condition)
	}
	for _, c := range status.Conditions {
		why := "not " + string(c.Type) + ": " + terminal.Plain(c.Message)
		switch {
		case g.Condition == client.Verified && c.Type == client.Published && c.Status == client.False:
			unpublished = why
		case c.Type == g.Condition && c.Status == client.True:
			missing = ""
		case c.Type == g.Condition:
			missing = why
		}
	}
	return cmp.Or(missing, unpublished)
}
