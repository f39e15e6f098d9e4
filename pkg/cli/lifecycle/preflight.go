package lifecycle

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/show"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

const preflightHelp = `Checks whether Signpost can manage a cluster: whether the cluster answers, and whether the
kubeconfig's user has each right that the cluster's uses need. It changes nothing. A failed check
names the manifest that grants the right, and makes the exit code 1.`

// PreflightCommand makes `signpost preflight`.
func PreflightCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	cmd := &cobra.Command{
		Use:     "preflight CLUSTER",
		Short:   "Check whether Signpost can manage a cluster",
		Long:    preflightHelp,
		Example: "  signpost preflight edge/hub",
		Args:    terminal.Exactly(1, "one cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var report client.Preflight
			body, err := server.OfCluster(cmd.Context(), args[0], http.MethodGet, "preflight", &report)
			if err != nil {
				return err
			}
			show := func(w io.Writer, wide bool) error { return PrintPreflight(w, report, wide) }
			if err := output.Print(p.Out, body, show); err != nil {
				return err
			}
			return FailedChecks(report)
		},
	}
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	cmd.ValidArgsFunction = server.CompleteCluster
	return cmd
}

// PrintPreflight lists the checks that failed; in wide tables, all.
func PrintPreflight(w io.Writer, report client.Preflight, wide bool) error {
	reached := "cannot be reached"
	if report.Reachable {
		reached = "reached"
	}
	if report.Version != "" {
		reached += ", Kubernetes " + terminal.Plain(report.Version)
	}
	terminal.Printf(w, "%s; %d of %s passed\n", reached, len(report.Checks)-failures(report), terminal.Count(len(report.Checks), "check"))
	checks := terminal.NewTable("CHECK", "OK", "MESSAGE")
	for _, c := range report.Checks {
		if wide || !c.Ok || c.Message != "" {
			checks.Add(c.Name, show.Yes(c.Ok), c.Message)
		}
	}
	return terminal.WriteTables(w, checks)
}

func failures(report client.Preflight) int {
	failed := 0
	for _, c := range report.Checks {
		if !c.Ok {
			failed++
		}
	}
	return failed
}

// FailedChecks is the error of a preflight with failed checks, nil if all passed.
func FailedChecks(report client.Preflight) error {
	if failed := failures(report); failed > 0 {
		return fmt.Errorf("%s failed", terminal.Count(failed, "check"))
	}
	return nil
}
