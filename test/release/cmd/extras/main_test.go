package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/cli"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

// Each command has a page, and each shell a completion.
func TestExtras(t *testing.T) {
	const epoch = "1700000000" // in November 2023
	t.Setenv("SOURCE_DATE_EPOCH", epoch)
	first, second := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(first, "man"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(first, "man", "signpost-gone.1"), nil, 0o600))
	require.NoError(t, write(first))
	require.NoError(t, write(second))
	files := contents(t, first)
	require.Equal(t, files, contents(t, second), "the same commit gives the same files, and old ones go")

	eachCommand(cli.Command(terminal.Program{}, noService), func(command *cobra.Command) {
		page := files["man/"+strings.ReplaceAll(command.CommandPath(), " ", "-")+".1"]
		require.Contains(t, page, `"Nov 2023" "Signpost"`, command.CommandPath())
		require.Contains(t, page, command.Short)
	})
	for name, has := range map[string]string{
		"_signpost": "#compdef signpost", "signpost.bash": "complete -o default", "signpost.fish": "complete -c signpost",
		"signpost.ps1": "Register-ArgumentCompleter", "kubectl_complete-signpost": "kubectl-signpost __complete",
	} {
		require.Contains(t, files["completions/"+name], has, name)
	}
}

// eachCommand visits the commands with a page.
func eachCommand(command *cobra.Command, visit func(*cobra.Command)) {
	visit(command)
	for _, child := range command.Commands() {
		if child.IsAvailableCommand() {
			eachCommand(child, visit)
		}
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, kind := range []string{"man", "completions"} {
		entries, err := os.ReadDir(filepath.Join(dir, kind))
		require.NoError(t, err)
		for _, entry := range entries {
			text, err := os.ReadFile(filepath.Join(dir, kind, entry.Name()))
			require.NoError(t, err)
			found[kind+"/"+entry.Name()] = string(text)
		}
	}
	return found
}
