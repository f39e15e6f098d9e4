package serve

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/app"
)

// TestTheUnitOfSystemdStartsThisProgram: its flags exist, and the directory that the service may
// write is the one that it writes.
func TestTheUnitOfSystemdStartsThisProgram(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/systemd/signpost.service")
	require.NoError(t, err)
	settings := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if key, value, is := strings.Cut(strings.TrimSpace(line), "="); is && !strings.HasPrefix(key, "#") {
			settings[key] = value
		}
	}
	command := strings.Fields(settings["ExecStart"])
	require.Equal(t, []string{"/usr/local/bin/signpost", "serve"}, command[:2])
	var config app.Config
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	ServeFlags(flags, &config)
	require.NoError(t, flags.Parse(command[2:]))
	require.Equal(t, "/var/lib/"+settings["StateDirectory"], config.DataDir)
	require.Equal(t, "/etc/signpost/signpost.yaml", flags.Lookup(ConfigFlag).Value.String())
	for key, value := range map[string]string{"DynamicUser": "yes", "ProtectSystem": "strict", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "Restart": "on-failure"} {
		got, given := settings[key]
		require.True(t, given, key)
		require.Equal(t, value, got, key)
	}
}
