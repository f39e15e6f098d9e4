package lifecycle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

// mover moves traffic between clusters.
type mover struct {
	server   connect.Connection
	output   terminal.Format
	preview  bool
	wait     bool
	force    bool
	timeout  time.Duration
	confirm  string
	override string
	reason   string
}

const (
	moveTimeout = 10 * time.Minute
	moveEvery   = time.Second
)

// flags adds the flags of a move; reasons says whether it takes a reason.
func (m *mover) flags(cmd *cobra.Command, reasons bool) {
	flags := cmd.Flags()
	flags.BoolVar(&m.preview, "preview", false, "show what would move, and change nothing")
	flags.StringVar(&m.confirm, "confirm", "", "do exactly what the preview with this `token` shows")
	flags.StringVar(&m.override, "override", "", "safety `rules` that do not count this time: minClusters, neverBoth, window; it needs the role admin")
	flags.BoolVar(&m.force, "force", false, "move even if a name is left without any address")
	flags.BoolVar(&m.wait, "wait", false, "wait until all authoritative servers answer the new targets of all names")
	flags.DurationVar(&m.timeout, "wait-timeout", moveTimeout, "how long to wait with --wait")
	if reasons {
		flags.StringVar(&m.reason, "reason", "", "why, for the record")
	}
	m.output.Flag(flags)
	m.server.Flags(flags)
}

// isSet tells whether a flag asks for more than a drain of one cluster.
func (m *mover) isSet() bool {
	return m.preview || m.wait || m.confirm != "" || m.override != "" || m.reason != ""
}

// selectionOf reads clusters ("provider/cluster") and labels ("key=value").
func selectionOf(args []string) (client.ClusterSelection, error) {
	var clusters []string
	labels := map[string]string{}
	for _, arg := range args {
		key, value, label := strings.Cut(arg, "=")
		provider, cluster, named := strings.Cut(arg, "/")
		switch {
		case label && key != "" && value != "":
			labels[key] = value
		case !label && named && provider != "" && cluster != "" && !strings.Contains(cluster, "/"):
			clusters = append(clusters, arg)
		default:
			return client.ClusterSelection{}, terminal.Usagef("%q is neither a cluster, as provider/cluster, nor a label, as region=eu", arg)
		}
	}
	if len(args) == 0 {
		return client.ClusterSelection{}, terminal.Usagef("takes clusters, as provider/cluster, or labels of clusters, as region=eu")
	}
	var out client.ClusterSelection
	if len(clusters) > 0 {
		out.Clusters = clusters
	}
	if len(labels) > 0 {
		out.Labels = labels
	}
	return out, nil
}

// move asks for a move of clusters.
func (m *mover) move(ctx context.Context, p terminal.Program, spec client.FailoverSpec) error {
	spec.Reason = m.reason
	return m.ask(ctx, p, "failovers", spec)
}

// ask asks for a move or its preview, and waits for it if told to.
func (m *mover) ask(ctx context.Context, p terminal.Program, path string, body any) error {
	query := connect.Query{"confirm": m.confirm, "override": m.override, "dryRun": connect.If(m.preview), "force": connect.If(m.force)}
	api, err := m.server.Dial()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if _, err := connect.Ask(ctx, api, http.MethodPost, query.Of(path), body, &raw); err != nil {
		return err
	}
	if m.preview {
		return m.printPreview(p, raw)
	}
	var record client.FailoverRecord
	if err := json.Unmarshal(raw, &record); err != nil {
		return err
	}
	if m.wait {
		if record, err = m.until(ctx, p, api, record.ID); err != nil {
			return err
		}
		if raw, err = json.Marshal(record); err != nil {
			return err
		}
	}
	return m.output.Print(p.Out, raw, func(w io.Writer, _ bool) error {
		terminal.Printf(w, "%s\n", sentence(record))
		return nil
	})
}

// until waits until a failover has ended, and prints what becomes of each name.
func (m *mover) until(ctx context.Context, p terminal.Program, api *client.Client, id string) (client.FailoverRecord, error) {
	told := map[string]bool{}
	var last client.FailoverRecord
	err := connect.Wait{
		Timeout: m.timeout, Every: moveEvery, Interrupted: "the server continues the failover",
		Late: func() error {
			return fmt.Errorf("not done after %s: %s; the server continues, see signpost failovers %s", m.timeout, sentence(last), id)
		},
	}.Until(ctx, func(ctx context.Context) (bool, error) {
		var record client.FailoverRecord
		_, err := connect.Ask(ctx, api, http.MethodGet, "failovers/"+id, nil, &record)
		if err == nil {
			last = record
			tellAnswered(p.Err, record, told)
		}
		return !record.Ended.IsZero(), err
	})
	if err == nil {
		err = ending(last)
	}
	return last, err
}

// tellAnswered prints a line for each name that is answered since the last look.
func tellAnswered(w io.Writer, record client.FailoverRecord, told map[string]bool) {
	for _, name := range record.Names {
		key := name.Owner + " " + name.Provider + " " + name.Name + " " + name.Type
		if name.Answered.IsZero() || told[key] {
			continue
		}
		told[key] = true
		if len(name.After) == 0 {
			terminal.Printf(w, "%s %s is not answered any more; caches may hold %s until %s\n", terminal.Plain(name.Name), name.Type, targets(name.Before), terminal.Moment(name.CachesUntil))
			continue
		}
		terminal.Printf(w, "%s %s is answered with %s; caches may hold %s until %s\n", terminal.Plain(name.Name), name.Type, targets(name.After), targets(name.Before), terminal.Moment(name.CachesUntil))
	}
}

// ending is an error for a failover that has ended without all names being answered.
func ending(record client.FailoverRecord) error {
	if record.State == client.FailoverRecordStateDone {
		return nil
	}
	return errors.New(sentence(record))
}

// sentence tells how a failover is.
func sentence(record client.FailoverRecord) string {
	var parts []string
	if len(record.Drained) > 0 {
		parts = append(parts, strings.Join(record.Drained, ", ")+" drained")
	}
	if len(record.Undrained) > 0 {
		parts = append(parts, strings.Join(record.Undrained, ", ")+" undrained")
	}
	text := fmt.Sprintf("failover %s: %s; %s", record.ID, strings.Join(parts, ", "), record.State)
	h := record.Hosts
	if h.Moved > 0 || h.None == 0 {
		text += fmt.Sprintf(", %d of %d names answered", h.Answered, h.Moved)
	}
	if h.None > 0 {
		text += fmt.Sprintf(", %d of %d without an address", h.Gone, h.None)
	}
	if record.Message != "" {
		text += "; " + record.Message
	}
	for _, undone := range record.Undone {
		text += fmt.Sprintf("; %s was undrained by %s at %s", undone.Cluster, undone.Actor, terminal.Moment(undone.Since))
		if undone.Failover != "" {
			text += " (failover " + undone.Failover + ")"
		}
	}
	if !record.CachesUntil.IsZero() {
		text += "; caches may hold old targets until " + terminal.Moment(record.CachesUntil)
	}
	return terminal.Plain(text)
}

func targets(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return terminal.Plain(strings.Join(list, ","))
}

// printPreview prints a preview. A preview of a move that would be refused is an error.
func (m *mover) printPreview(p terminal.Program, raw []byte) error {
	var preview client.FailoverPreview
	if err := json.Unmarshal(raw, &preview); err != nil {
		return err
	}
	if err := m.output.Print(p.Out, raw, func(w io.Writer, _ bool) error { return writePreview(w, preview) }); err != nil {
		return err
	}
	if len(preview.Refusals) == 0 {
		return nil
	}
	var reasons []string
	for _, refusal := range preview.Refusals {
		reasons = append(reasons, fmt.Sprintf("%s; allowed: %s", refusal.Detail, refusal.Allow))
	}
	return errors.New("it would be refused: " + terminal.Visible(strings.Join(reasons, "\n  ")))
}

func writePreview(w io.Writer, preview client.FailoverPreview) error {
	for _, line := range []struct {
		what string
		list []string
	}{{"drain", preview.Drain}, {"undrain", preview.Undrain}, {"unchanged", preview.Unchanged}} {
		if len(line.list) > 0 {
			terminal.Printf(w, "%s: %s\n", line.what, terminal.Plain(strings.Join(line.list, ", ")))
		}
	}
	h := preview.Hosts
	terminal.Printf(w, "%s: %d are left with one address, %d with unhealthy clusters; %d cannot move\n", movesWord(h), h.One, h.Unhealthy, h.Stay)
	if kept := preview.Counts.Kept; kept > 0 {
		terminal.Printf(w, "%s\n", counted(kept, "loses a cluster and keeps its answer", "lose a cluster and keep their answer"))
	}
	table := terminal.NewTable("NAME", "TYPE", "PROJECT", "BEFORE", "AFTER", "LEFT", "STAYS")
	for _, name := range preview.Names {
		table.Add(name.Name, name.Type, name.Project, targets(name.Before), targets(name.After), string(name.Left), name.Stays)
	}
	if len(preview.Names) > 0 {
		if err := table.Write(w); err != nil {
			return err
		}
	}
	if preview.NamesLeftOut > 0 {
		terminal.Printf(w, "and %d more\n", preview.NamesLeftOut)
	}
	for _, lost := range preview.Unreachable {
		terminal.Printf(w, "warning: %s cannot be reached since %s\n", terminal.Plain(lost.Cluster), lost.Since.UTC().Format(time.RFC3339))
	}
	for _, warning := range preview.Warnings {
		terminal.Printf(w, "warning: %s\n", terminal.Plain(warning))
	}
	if preview.CachesFor != "" {
		terminal.Printf(w, "caches may hold old targets for %s after the servers answer\n", terminal.Plain(preview.CachesFor))
	}
	terminal.Printf(w, "token: %s\n", preview.Token)
	return nil
}

const failoverHelp = `Drains clusters, and undrains those given by --to, in one step. Clusters are given by name, or by labels that
they must all have. "signpost failovers" lists past failovers, and "signpost revert" undoes one.`

// FailoverCommand makes `signpost failover`.
func FailoverCommand(p terminal.Program) *cobra.Command {
	var m mover
	var to []string
	cmd := &cobra.Command{
		Use:     "failover CLUSTER|LABEL=VALUE...",
		Short:   "Move traffic away from clusters",
		Long:    failoverHelp,
		Example: "  signpost failover region=eu --preview\n  signpost failover region=eu --to region=us --reason 'flood' --wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := selectionOf(args)
			if err != nil {
				return err
			}
			spec := client.FailoverSpec{Drain: from}
			if len(to) > 0 {
				target, err := selectionOf(to)
				if err != nil {
					return err
				}
				spec.Undrain = target
			}
			return m.move(cmd.Context(), p, spec)
		},
	}
	cmd.Flags().StringSliceVar(&to, "to", nil, "`clusters` or labels of clusters to undrain in the same step")
	m.flags(cmd, true)
	cmd.ValidArgsFunction = m.server.CompleteClusters
	return cmd
}

// RevertCommand makes `signpost revert`.
func RevertCommand(p terminal.Program) *cobra.Command {
	var m mover
	cmd := &cobra.Command{
		Use:     "revert FAILOVER",
		Short:   "Undo a failover",
		Long:    "Undrains what a failover drained, and drains what it undrained. Clusters that others have drained or\nundrained since stay as they are.",
		Example: "  signpost revert 20261102t093107-x7k2q --wait",
		Args:    terminal.Exactly(1, "the id of one failover"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return m.ask(cmd.Context(), p, "failovers/"+url.PathEscape(args[0])+"/revert", nil)
		},
	}
	m.flags(cmd, false)
	return cmd
}

// FailoversCommand makes `signpost failovers`.
func FailoversCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	cmd := &cobra.Command{
		Use:     "failovers [FAILOVER]",
		Short:   "List failovers, or show how far one is",
		Long:    "Lists the records of failovers, the oldest first. With an id, it shows how far each name is.",
		Example: "  signpost failovers\n  signpost failovers 20261102t093107-x7k2q",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return terminal.Usagef("takes no argument, or the id of one failover")
			}
			api, err := server.Dial()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return showFailover(cmd.Context(), p, api, &output, args[0])
			}
			return listFailovers(cmd.Context(), p, api, &output)
		},
	}
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	return cmd
}

func showFailover(ctx context.Context, p terminal.Program, api *client.Client, output *terminal.Format, id string) error {
	var record client.FailoverRecord
	raw, err := connect.Ask(ctx, api, http.MethodGet, "failovers/"+url.PathEscape(id), nil, &record)
	if err != nil {
		return err
	}
	return output.Print(p.Out, raw, func(w io.Writer, _ bool) error {
		terminal.Printf(w, "%s\n", sentence(record))
		table := terminal.NewTable("NAME", "TYPE", "PROJECT", "AFTER", "PUBLISHED", "ANSWERED", "CACHES UNTIL", "WAITS FOR")
		for _, name := range record.Names {
			table.Add(name.Name, name.Type, name.Project, targets(name.After), terminal.Moment(name.Published), terminal.Moment(name.Answered), terminal.Moment(name.CachesUntil), cmp.Or(name.Stays, name.Message))
		}
		return terminal.WriteTables(w, table)
	})
}

func listFailovers(ctx context.Context, p terminal.Program, api *client.Client, output *terminal.Format) error {
	all := client.FailoverPage{Items: []client.FailoverRecord{}}
	for more := true; more; more = all.Continue != "" {
		var page client.FailoverPage
		if _, err := connect.Ask(ctx, api, http.MethodGet, connect.Query{"continue": all.Continue}.Of("failovers"), nil, &page); err != nil {
			return err
		}
		all.Items, all.Continue = append(all.Items, page.Items...), page.Continue
	}
	return output.PrintValue(p.Out, all, func(w io.Writer, _ bool) error {
		table := terminal.NewTable("FAILOVER", "STATE", "DRAINED", "UNDRAINED", "NAMES", "ANSWERED", "NO ADDRESS", "BY", "REASON")
		for _, r := range all.Items {
			table.Add(r.ID, string(r.State), strings.Join(r.Drained, ","), strings.Join(r.Undrained, ","), fmt.Sprint(r.Hosts.Moved), fmt.Sprint(r.Hosts.Answered), fmt.Sprint(r.Hosts.Gone), r.Actor, r.Reason)
		}
		return table.Write(w)
	})
}
