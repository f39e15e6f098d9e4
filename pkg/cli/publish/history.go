package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/lifecycle"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const historyHelp = `Shows how a host name has changed in the last 30 days, and why, in all projects that you may
read. The newest change comes first. TARGETS lists added targets with + and removed ones with -. ANSWERED is
when all authoritative servers were first seen to answer the change.`

// HistoryCommand makes `signpost history`.
func HistoryCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	cmd := &cobra.Command{
		Use:     "history HOST",
		Short:   "Show how a host name has changed, and why",
		Long:    historyHelp,
		Example: "  signpost history www.shop.example",
		Args:    terminal.Exactly(1, "one host name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return printHistory(cmd.Context(), p, &server, &output, args[0])
		},
	}
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	cmd.ValidArgsFunction = server.CompleteHost
	return cmd
}

func printHistory(ctx context.Context, p terminal.Program, server *connect.Connection, output *terminal.Format, host string) error {
	canonical, err := hostname.CanonicalUnderscored(host)
	if err != nil {
		return terminal.Usagef("%q %w", host, err)
	}
	api, err := server.Dial()
	if err != nil {
		return err
	}
	answer, err := api.Do(ctx, http.MethodGet, "names/"+url.PathEscape(canonical)+"/history", nil, nil)
	if err != nil {
		return err
	}
	return output.Print(p.Out, answer.Body, func(w io.Writer, _ bool) error { return printTurns(w, canonical, answer.Body) })
}

func printTurns(w io.Writer, host string, body []byte) error {
	var history struct{ Items []intent.NameTurn }
	if err := json.Unmarshal(body, &history); err != nil {
		return err
	}
	if len(history.Items) == 0 {
		terminal.Printf(w, "There is no history of %s. A change is written some seconds after it happened; signpost find looks for names like it.\n", host)
		return nil
	}
	t := terminal.NewTable("TIME", "PROJECT", "CAUSE", "BY", "TARGETS", "ANSWERED", "MESSAGE")
	unseen, lives := false, lives{}
	for _, turn := range history.Items {
		var targets, answered []string
		for _, c := range turn.Changes {
			targets = append(targets, targetsCell(c))
			if !c.Answered.IsZero() {
				answered = append(answered, terminal.Moment(c.Answered))
			}
		}
		if len(targets) > 0 && len(answered) == 0 {
			answered, unseen = []string{"not seen"}, true
		}
		t.Add(terminal.Moment(turn.Time), turn.Project, causeCell(turn, lives.before(turn)), turn.Cause.Actor, strings.Join(targets, " "), strings.Join(answered, " "), messageCell(turn))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if lives.several() {
		terminal.Printf(w, "\nof before: the name was unpublished since, and its releases are counted anew. If two releases have the same number, signpost rollback takes the newer one.\n")
	}
	if unseen {
		terminal.Printf(w, "\nnot seen: Signpost asks each server every few seconds. It saw no answer of all servers before the next change, or cannot ask them.\n")
	}
	return nil
}

// lives tells by its releases, of which the newest come first, in which of its lives an owner was. The numbers may begin anew after it
// was deleted.
type lives map[intent.Path]*life

type life struct {
	earlier bool         // it is not the latest one
	next    intent.Cause // of the release after it
}

// before tells whether a release is of an earlier life than the latest one.
func (l lives) before(turn intent.NameTurn) bool {
	c := turn.Cause
	if c.Release == 0 {
		return false
	}
	if l[turn.Owner] == nil {
		l[turn.Owner] = &life{next: c}
	}
	of := l[turn.Owner]
	ended := c.Action == intent.Terminate && of.next.Action != intent.Terminate && c.Release == of.next.Release
	of.earlier, of.next = of.earlier || ended || c.Release > of.next.Release, c
	return of.earlier
}

// several tells whether some releases are of earlier lives.
func (l lives) several() bool {
	for _, of := range l {
		if of.earlier {
			return true
		}
	}
	return false
}

// targetsCell is what came and went of a type, as in "A +192.0.2.1 -192.0.2.2".
func targetsCell(c intent.TargetChange) string {
	parts := []string{c.Type}
	if c.Name != "" {
		parts = []string{c.Name, c.Type}
	}
	for _, target := range c.Added {
		parts = append(parts, "+"+target)
	}
	for _, target := range c.Removed {
		parts = append(parts, "-"+target)
	}
	if c.TTL != nil {
		parts = append(parts, "TTL "+lifecycle.TTL(c.TTL.Before)+" to "+lifecycle.TTL(c.TTL.After))
	}
	if c.LeftOut > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", c.LeftOut))
	}
	return strings.Join(parts, " ")
}

// causeCell is a reason with what it is about, in words; before tells that its release is of an earlier life.
func causeCell(turn intent.NameTurn, before bool) string {
	c := turn.Cause
	if c.Release > 0 {
		action := string(c.Action)
		if verb := verbOfName(c.Action); verb != "" && intent.IsName(turn.Owner) {
			action = verb
		}
		of := ""
		if before {
			of = " of before"
		}
		return fmt.Sprintf("release %d%s (%s)", c.Release, of, action)
	}
	words := map[string]string{
		intent.CauseTakeover: "takeover by another owner", intent.CauseAddress: "other addresses", intent.CauseReadiness: "readiness of the Service",
		intent.CauseCluster: "cluster lost or back", intent.CauseDrain: "drain", intent.CauseUndrain: "undrain", intent.CauseRouting: "order or weights of clusters",
		intent.CauseProvider: "rules of the provider", intent.CauseFailSafe: "most clusters fail, addresses stay", intent.CauseHeld: "removal held", intent.CauseAnswers: "servers answer otherwise",
	}
	return cmp.Or(words[c.Reason], c.Reason) + strings.TrimSuffix(": "+intent.ClusterWord(c.Cluster), ": ")
}

// verbOfName is what an action on a name is for people, empty for others.
func verbOfName(action intent.Action) string {
	switch action {
	case intent.Instantiate:
		return "publish"
	case intent.Update:
		return "change"
	case intent.Terminate:
		return "unpublish"
	}
	return ""
}

func messageCell(turn intent.NameTurn) string {
	var parts []string
	if turn.Gap {
		parts = append(parts, "changes before it are lost")
	}
	if turn.Times > 1 {
		parts = append(parts, fmt.Sprintf("flapping, %d times until %s", turn.Times, terminal.Moment(turn.Last)))
	}
	if turn.Cause.Message != "" {
		parts = append(parts, turn.Cause.Message)
	}
	return strings.Join(parts, "; ")
}
