package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/corefile"
	"github.com/signpost-dns/signpost/pkg/linter"
)

const lintHelp = `Has CoreDNS' own parser and the setup of its plugins judge a Corefile. Nothing is started,
and nothing is read but the file: import and {$VAR} are refused, but for
{$DNS_DEFAULT_SERVICE_HOST}, which the Corefile of a node's cache has. What only the container
that it is for can tell (files there, host names) is a warning.

The Corefile is judged here, by signpost-dns, which is looked for beside signpost, then on
PATH; with --server, by that server. An error makes the exit code 1.`

func (p program) lintCommand() *cobra.Command {
	var server connection
	var output format
	var binary string
	cmd := &cobra.Command{
		Use:     "lint FILE",
		Short:   "Find what is wrong with a Corefile",
		Long:    lintHelp,
		Example: "  signpost corefile lint Corefile\n  kubectl get configmap coredns -n kube-system -o jsonpath={.data.Corefile} | signpost corefile lint -",
		Args:    exactly(1, "one file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readCorefile(p.in, args[0])
			if err != nil {
				return err
			}
			var findings []corefile.Finding
			if cmd.Flags().Changed("server") {
				findings, err = server.lint(cmd, text)
			} else {
				findings, err = linter.New(binary).Lint(cmd.Context(), text)
			}
			if err != nil {
				return err
			}
			return printFindings(p.out, output, args[0], findings)
		},
	}
	cmd.Flags().StringVar(&binary, "dns-binary", "", "the `FILE` of signpost-dns (default beside signpost, else on PATH)")
	output.flag(cmd.Flags())
	server.flags(cmd.Flags())
	return cmd
}

// readCorefile reads a file, as much of it as a linter looks at.
func readCorefile(in io.Reader, name string) (string, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", usageError{err}
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, corefile.MaxLinted+1))
	return string(text), err
}

// lint has the server lint a Corefile.
func (c *connection) lint(cmd *cobra.Command, text string) ([]corefile.Finding, error) {
	api, err := c.dial()
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(client.Corefile{Corefile: text})
	if err != nil {
		return nil, err
	}
	response, err := api.Do(cmd.Context(), http.MethodPost, "corefile/lint", bytes.NewReader(body), nil)
	if err != nil {
		return nil, err
	}
	var told struct{ Findings []corefile.Finding }
	err = json.Unmarshal(response.Body, &told)
	return told.Findings, err
}

// printFindings prints findings in the form that editors know. Errors among
// them are one.
func printFindings(w io.Writer, output format, name string, findings []corefile.Finding) error {
	body, err := json.Marshal(map[string]any{"findings": findings})
	if err != nil {
		return err
	}
	wrong := 0
	for _, f := range findings {
		if f.Severity == corefile.Error {
			wrong++
		}
	}
	err = output.print(w, body, func(w io.Writer, _ bool) error {
		for _, f := range findings {
			printf(w, "%s: %s: %s\n", place(name, f.Line), f.Severity, visible(f.Message))
		}
		return nil
	})
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%s", count(wrong, "error"))
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
