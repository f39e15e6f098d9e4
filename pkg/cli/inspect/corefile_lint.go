// Package inspect answers questions about DNS configuration: Corefiles, and the
// resolv.conf of pods.
package inspect

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/dns/linter"
)

const lintHelp = `Checks a Corefile with CoreDNS' own parser and the setup of its plugins. Nothing is started, and
only the file is read: import and {$VAR} are refused, except for {$DNS_DEFAULT_SERVICE_HOST} in the
Corefile of a node's cache. A file or host name that only its container has is a warning.

The program signpost-dns checks the Corefile on this machine. It is looked for beside signpost, then on PATH.
With --server, that server checks the Corefile. An error makes the exit code 1.`

func lintCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	var binary string
	cmd := &cobra.Command{
		Use:     "lint FILE",
		Short:   "Find the errors in a Corefile",
		Long:    lintHelp,
		Example: "  signpost corefile lint Corefile\n  kubectl get configmap coredns -n kube-system -o jsonpath={.data.Corefile} | signpost corefile lint -",
		Args:    terminal.Exactly(1, "one file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := document.ReadAtMost(p.In, args[0], corefile.MaxLinted+1)
			if err != nil {
				return err
			}
			var findings []corefile.Finding
			if cmd.Flags().Changed("server") {
				findings, err = lintBy(&server, cmd, string(text))
			} else {
				findings, err = linter.New(binary).Lint(cmd.Context(), string(text))
			}
			if err != nil {
				return err
			}
			return printFindings(p.Out, output, args[0], findings)
		},
	}
	cmd.Flags().StringVar(&binary, "dns-binary", "", "the `FILE` of signpost-dns (default beside signpost, else on PATH)")
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	return cmd
}

// lintBy has the server lint a Corefile.
func lintBy(c *connect.Connection, cmd *cobra.Command, text string) ([]corefile.Finding, error) {
	var told struct{ Findings []corefile.Finding }
	_, err := c.Ask(cmd.Context(), http.MethodPost, "corefile/lint", client.Corefile{Corefile: text}, &told)
	return told.Findings, err
}

// printFindings prints findings in the form that editors know. Errors among
// them are one.
func printFindings(w io.Writer, output terminal.Format, name string, findings []corefile.Finding) error {
	wrong := 0
	for _, f := range findings {
		if f.Severity == corefile.Error {
			wrong++
		}
	}
	err := output.PrintValue(w, map[string]any{"findings": findings}, func(w io.Writer, _ bool) error {
		for _, f := range findings {
			terminal.Printf(w, "%s: %s: %s\n", place(name, f.Line), f.Severity, terminal.Visible(f.Message))
		}
		return nil
	})
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%s", terminal.Count(wrong, "error"))
	}
	return err
}

// place is a line of a file; 0 is the whole of it.
func place(name string, line int) string {
	if name == "-" {
		name = "<stdin>"
	}
	if line == 0 {
		return name
	}
	return fmt.Sprintf("%s:%d", name, line)
}

// CorefileCommand makes `signpost corefile`.
func CorefileCommand(p terminal.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corefile",
		Short: "Check Corefiles, the configuration of CoreDNS",
		Args:  terminal.Exactly(0, ""),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(lintCommand(p), traceCommand(p))
	return cmd
}
