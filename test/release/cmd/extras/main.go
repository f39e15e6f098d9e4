// Command extras writes what the archives of a release have beside the
// programs: man pages and completions of the command line.
//
//	go run ./release/cmd/extras DIR
//
// The pages carry the date of SOURCE_DATE_EPOCH, so that the same commit gives
// the same files.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

// kubectlCompletion is what kubectl runs to complete "kubectl signpost".
const kubectlCompletion = "#!/bin/sh\nexec kubectl-signpost __complete \"$@\"\n"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: extras DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "extras:", err)
		os.Exit(1)
	}
}

// write writes the directories man and completions below dir.
func write(dir string) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, each := range []string{man, completions} {
		if err := os.RemoveAll(each); err != nil {
			return err
		}
		if err := os.MkdirAll(each, 0o755); err != nil {
			return err
		}
	}
	root := cli.Command(terminal.Program{}, noService)
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Signpost", Manual: "Signpost"}, man); err != nil {
		return err
	}
	return errors.Join(
		writeCompletions(root, completions),
		os.WriteFile(filepath.Join(completions, "kubectl_complete-signpost"), []byte(kubectlCompletion), 0o755),
	)
}

func writeCompletions(root *cobra.Command, dir string) error {
	const withDescriptions = true
	return errors.Join(
		root.GenBashCompletionFileV2(filepath.Join(dir, "signpost.bash"), withDescriptions),
		root.GenZshCompletionFile(filepath.Join(dir, "_signpost")),
		root.GenFishCompletionFile(filepath.Join(dir, "signpost.fish"), withDescriptions),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(dir, "signpost.ps1")),
	)
}

func noService(context.Context, app.Config) error {
	return errors.New("extras runs no service")
}
