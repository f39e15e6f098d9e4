package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheCommandLineBesideEMCOIsWhole: that of docs/emco.md starts a server that
// reads what EMCO keeps, over its etcd.
func TestTheCommandLineBesideEMCOIsWhole(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/emco.md")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?s)signpost serve (.*?)\n *` + "```").FindSubmatch(page)
	require.NotNil(t, found)
	line := strings.NewReplacer("/etc/signpost/tokens", write(t, "tokens", "t,anna,admin\n"), "/etc/signpost/secret.key", write(t, "key", "k")).Replace(string(found[1]))
	c, ended := configured(t, shellWords(line, nil)...)
	require.Equal(t, exitDone, ended.code, ended.err)
	require.Equal(t, []string{"http://emco-etcd.emco:2379"}, c.EtcdEndpoints)
	require.Equal(t, []string{"http://orchestrator.emco:9015", "http://dcm.emco:9077", "http://clm.emco:9061"}, []string{c.EMCOOrchestrator, c.EMCODCM, c.EMCOCLM})
	require.Equal(t, "0.0.0.0:9048", c.GRPCListen)
	require.True(t, c.Insecure, "the orchestrator has no token")
	require.NotEmpty(t, c.TokenFile, "REST asks for one")
}
