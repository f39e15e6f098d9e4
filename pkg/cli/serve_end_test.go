package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSIGTERMLetsTheRequestUnderWayFinishAndExitsWith0: nothing new is accepted
// meanwhile.
func TestSIGTERMLetsTheRequestUnderWayFinishAndExitsWith0(t *testing.T) {
	t.Parallel()
	command, address := startProcess(t)
	body, rest := io.Pipe()
	answers := make(chan int, 1)
	go func() { answers <- post(t, "http://"+address+"/v2/projects", body) }()
	// The client begins with the body when the server asks for it.
	_, err := rest.Write([]byte(`{"metadata": `))
	require.NoError(t, err)

	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err != nil
	}, waitLimit, tick, "the listener stays open")
	_, err = rest.Write([]byte(`{"name": "shop"}}`))
	require.NoError(t, err)
	require.NoError(t, rest.Close())
	require.Equal(t, http.StatusCreated, <-answers)
	require.NoError(t, command.Wait())
}

// startProcess starts `signpost serve` as a process, which answers at the
// address.
func startProcess(t *testing.T) (command *exec.Cmd, address string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	data := t.TempDir()
	ready := filepath.Join(data, "ready.json")
	command = exec.Command(self, "serve", "--listen=127.0.0.1:0", "--grpc-listen=127.0.0.1:0",
		"--data-dir="+data, "--ready-file="+ready, "--log-level=error")
	command.Env = append(os.Environ(), beSignpost+"=1")
	var complaints bytes.Buffer
	command.Stderr = &complaints
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() })
	var addresses struct{ HTTP string }
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(content, &addresses) == nil
	}, waitLimit, tick, "the service is not ready")
	return command, addresses.HTTP
}

// post sends a body once the server asks for it, and answers the status.
func post(t *testing.T, url string, body io.Reader) int {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		return 0
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Expect", "100-continue")
	client := http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}
