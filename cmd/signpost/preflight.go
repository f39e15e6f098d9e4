package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/client"
)

const preflightHelp = `Asks a cluster whether Signpost could manage it: whether it answers, and whether the
kubeconfig's user may do what deploy/target-cluster/signpost.yaml grants. It changes nothing.

A check that fails makes the exit code 1.`

func (p program) preflightCommand() *cobra.Command {
	var server connection
	var output format
	cmd := &cobra.Command{
		Use:     "preflight CLUSTER",
		Short:   "Ask a cluster whether it can be managed",
		Long:    preflightHelp,
		Example: "  signpost preflight edge/hub",
		Args:    exactly(1, "one cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := server.ofCluster(cmd.Context(), args[0], http.MethodGet, "preflight")
			if err != nil {
				return err
			}
			var report client.Preflight
			if err := json.Unmarshal(body, &report); err != nil {
				return err
			}
			show := func(w io.Writer, wide bool) error { return printPreflight(w, report, wide) }
			if err := output.print(p.out, body, show); err != nil {
				return err
			}
			return failedChecks(report)
		},
	}
	output.flag(cmd.Flags())
	server.flags(cmd.Flags())
	return cmd
}

// printPreflight lists the checks that failed; in wide tables, all.
func printPreflight(w io.Writer, report client.Preflight, wide bool) error {
	reached := "cannot be reached"
	if report.Reachable {
		reached = "reached"
	}
	if report.Version != "" {
		reached += ", Kubernetes " + plain(report.Version)
	}
	printf(w, "%s; %d of %s passed\n", reached, len(report.Checks)-failures(report), count(len(report.Checks), "check"))
	checks := newTable("CHECK", "OK", "MESSAGE")
	for _, c := range report.Checks {
		if wide || !c.Ok || c.Message != "" {
			checks.add(c.Name, yes(c.Ok), c.Message)
		}
	}
	return writeTables(w, checks)
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

func failedChecks(report client.Preflight) error {
	if failed := failures(report); failed > 0 {
		return fmt.Errorf("%s failed", count(failed, "check"))
	}
	return nil
}
