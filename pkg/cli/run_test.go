package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// runScript is examples/quickstart/run.sh at an address, with this test
// program as signpost, in a temporary directory.
func runScript(t *testing.T, address string) (command *exec.Cmd, temporary string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	temporary = t.TempDir()
	command = exec.Command("sh", quickstart+"/run.sh", self)
	command.Env = append(os.Environ(), beSignpost+"=1", "LISTEN="+address, "TMPDIR="+temporary)
	return command, temporary
}

// freeAddress is one on which nobody listens, and that systems give to no outgoing
// connection.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(10_000))
		free, err := net.Listen("tcp", address)
		if err == nil {
			require.NoError(t, free.Close())
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

func requireEmpty(t *testing.T, directory string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Empty(t, entries, "what the script leaves behind")
}

func TestMakeRunServesUntilInterruptedAndCleansUp(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	command, temporary := runScript(t, address)
	var complaints bytes.Buffer
	progress := regexp.MustCompile(`(?m)^Instantiating\b.*\n`) // of --wait, where the machine is slow
	command.Stderr = &complaints
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())

	var shown strings.Builder
	lines := bufio.NewScanner(out)
	for !strings.Contains(shown.String(), "terminate shop/store/v1/prod --wait") && lines.Scan() {
		shown.WriteString(lines.Text() + "\n")
	}
	require.NoError(t, lines.Err())
	for _, words := range []string{
		"status shop/store/v1/prod\nshop/store/v1/prod  Instantiated",
		"\n  hub\n    _cluster\n", "\n      dnsendpoint_web-web-",
		"- dnsName: www.lab.example\n",
		"curl http://" + address + "/readyz\n",
		"export SIGNPOST_SERVER=http://" + address + "\n", // where the commands would look elsewhere
	} {
		require.Contains(t, shown.String(), words)
	}
	require.Equal(t, exitDone, signpost(t, "http://"+address, "get", "projects").code)

	require.NoError(t, command.Process.Signal(syscall.SIGINT))
	_, err = io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, command.Wait(), complaints.String())
	require.Empty(t, progress.ReplaceAllString(complaints.String(), ""))
	requireEmpty(t, temporary)
}

// TestMakeRunEndsQuietlyInAShellThatIgnoresInterrupts sends Ctrl-C to all processes of the script, as a terminal does.
func TestMakeRunEndsQuietlyInAShellThatIgnoresInterrupts(t *testing.T) {
	t.Parallel()
	script, temporary := runScript(t, freeAddress(t))
	command := exec.Command("sh", append([]string{"-c", `trap "" INT; "$@"`, "sh"}, script.Args...)...)
	command.Env, command.SysProcAttr = script.Env, &syscall.SysProcAttr{Setpgid: true}
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "terminate shop/store/v1/prod --wait") {
		continue
	}
	require.NoError(t, syscall.Kill(-command.Process.Pid, syscall.SIGINT))
	_, err = io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, command.Wait(), complaints.String())
	require.NotContains(t, complaints.String(), "Signpost has stopped")
	requireEmpty(t, temporary)
}

func TestMakeRunSaysThatTheAddressIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	command, temporary := runScript(t, taken.Addr().String())
	output, err := command.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "address already in use")
	require.Contains(t, string(output), "LISTEN=127.0.0.1:9019 make run")
	requireEmpty(t, temporary)
}

// The process that an orchestrator ends: SIGTERM, exit code 0.
func TestSIGTERMEndsServeCleanly(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	directory := t.TempDir()
	command := exec.Command(self, "serve", "--listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0",
		"--data-dir", directory, "--ready-file", directory+"/ready.json")
	command.Env = append(os.Environ(), beSignpost+"=1")
	var log bytes.Buffer
	command.Stderr = &log
	require.NoError(t, command.Start())
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(directory + "/ready.json")
		return err == nil && len(content) > 0
	}, waitLimit, tick)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, command.Wait(), log.String())
}
