package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/api"
)

func (p program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show which build this is",
		Args:  exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			printf(p.out, "signpost %s (commit %s, %s)\n", b.Version, b.Commit, b.Go)
			return nil
		},
	}
}

// thisBuild is what the Go command wrote into the binary.
func thisBuild() api.Build {
	b := api.Build{Version: "(devel)", Commit: "unknown", Go: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = info.GoVersion
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			b.Commit = setting.Value
		}
	}
	return b
}
