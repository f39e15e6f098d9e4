package serve

import (
	"runtime/debug"

	"github.com/signpost-dns/signpost/api/probes"
)

// ThisBuild is what the Go command wrote into the binary.
func ThisBuild() probes.Build {
	b := probes.Build{Version: "(devel)", Commit: "unknown", Go: "unknown"}
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
