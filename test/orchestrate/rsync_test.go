package orchestrate

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/emco"
)

// TestNamesComeAndGoByEMCOsRsync is the story where Signpost writes to no
// cluster: external-dns, which lives outside the logical cloud, and the names
// come by the rsync that installs the app, follow addresses and updates, over a kill -9 of
// Signpost, too, and go with the app.
func TestNamesComeAndGoByEMCOsRsync(t *testing.T) {
	t.Parallel()
	const host = "www.lab.example"
	s := newSite(t, func(w *emco.World) string { return "--rsync-endpoint=" + w.Rsync.Address })
	s.opens()
	s.command("register", "--orchestrator", s.Orchestrator.URL, "--host", "127.0.0.1", "--port", strconv.Itoa(s.grpcPort))
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "emco", "records.yaml"))
	require.NoError(t, err)
	record := filepath.Join(t.TempDir(), "records.yaml")
	mended := strings.NewReplacer("http://etcd.dns.svc:2379", s.fixture.Etcd.URL, "  deployOn:", "  releaseTimeout: 45s\n  deployOn:").Replace(string(text))
	require.NoError(t, os.WriteFile(record, []byte(mended), 0o600))
	s.command("apply", "--server", s.url(), "--dcm", s.DCM.URL, "-f", record)
	s.emcoctl(file(t, "intents.yaml", "GROUP", prod().Name, "HOST", host))

	first, err := s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	require.NoError(t, s.EventError())
	s.gives(fixture.Paris, parisAddress)
	s.answers(host, parisAddress)
	s.gives(fixture.Berlin, berlinAddress)
	s.answers(host, parisAddress, berlinAddress)
	s.namesWhatRsyncHas(first)

	s.signpost.Kill()
	s.gives(fixture.Paris, otherAddress)
	require.NoError(t, s.signpost.Start(t.Context()))
	s.answers(host, berlinAddress, otherAddress)
	second := s.updates(first)
	s.answers(host, otherAddress)
	s.namesWhatRsyncHas(second)
	s.childless(first)

	require.NoError(t, s.Terminate(t.Context(), prod()))
	s.settles()
	s.answers(host)
	s.leavesNothing()
}

// namesWhatRsyncHas waits until the meta of a context names one child, which
// rsync has installed.
func (s *site) namesWhatRsyncHas(id string) {
	s.Helper()
	eventually(s.T, "a child of "+id+" that rsync has", func() error {
		children, err := s.children(id)
		if err != nil || len(children) != 1 {
			return fmt.Errorf("they are %v: %w", children, err)
		}
		state, err := s.Rsync.State(s.Context(), children[0])
		if err == nil && state != "Instantiated" {
			err = fmt.Errorf("%s is %s", children[0], state)
		}
		return err
	})
}
