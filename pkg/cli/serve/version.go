package serve

import (
	"cmp"
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
	b.Go, b.Version = info.GoVersion, cmp.Or(info.Main.Version, b.Version)
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			b.Commit = setting.Value
		}
	}
	return b
}
