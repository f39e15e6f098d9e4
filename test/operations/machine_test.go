package operations

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/tools"
)

// patience is how long a part may take that takes a moment.
const patience = time.Minute

// The group that the machine's Signpost has deployed.
const deployed = "shop/store/v1/prod"

// build has signpost and etcdctl in a directory, which it answers.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	_, err := fixture.Build(t.Context(), dir)
	require.NoError(t, err)
	etcdctl, err := tools.Path(t.Context(), tools.Etcdctl)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(etcdctl, filepath.Join(dir, "etcdctl")))
	return dir
}

// machine is one on which an operator works: a shell, and a Signpost as its
// service.
type machine struct {
	service *process.Process
	serves  bool
	shell   *shell
	real    *strings.Replacer // from what a page writes to what is so here
	shown   *strings.Replacer // and back
}

// newMachine makes the machine that a section supposes, with the quickstart
// deployed.
func newMachine(t *testing.T, programs, section string) *machine {
	t.Helper()
	root := t.TempDir()
	m := &machine{}
	m.substitute(t, root, section)
	env := []string{
		"PATH=" + programs + ":" + os.Getenv("PATH"), "HOME=" + root,
		"SIGNPOST_SERVER=" + m.real.Replace("http://127.0.0.1:9018"), "ETCDCTL_ENDPOINTS=" + m.real.Replace("127.0.0.1:2379"),
	}
	for _, dir := range directories() {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	config := filepath.Join(root, "etc/signpost/signpost.yaml")
	require.NoError(t, os.WriteFile(config, []byte(m.real.Replace(strings.Join([]string{
		"listen: 127.0.0.1:9018", "grpc-listen: 127.0.0.1:9048", "data-dir: /var/lib/signpost", "",
	}, "\n"))), 0o600))
	m.service = &process.Process{
		Name: "signpost", Path: filepath.Join(programs, "signpost"), Args: []string{"serve", "--config", config},
		Env: env, Log: filepath.Join(root, "log"), Ready: process.Answers(m.real.Replace("http://127.0.0.1:9018/readyz")),
	}
	m.service.EndWith(t)
	m.systemctl(t, "start")
	work := filepath.Join(root, "work")
	require.NoError(t, os.Mkdir(work, 0o700))
	for _, part := range []string{"deploy", "examples"} {
		from, err := filepath.Abs("../../" + part)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(from, filepath.Join(work, part)))
	}
	m.shell = newShell(t, work, env)
	m.run(t, "signpost apply -f examples/quickstart")
	m.run(t, "signpost instantiate "+deployed+" --wait")
	return m
}

// directories are those of a machine that pages speak of.
func directories() []string {
	return []string{"/etc/signpost", "/var/lib/signpost", "/var/backups"}
}

// substitute finds free addresses for those that a section speaks of, and
// starts an etcd where it speaks of that.
func (m *machine) substitute(t *testing.T, root, section string) {
	t.Helper()
	var ports process.Ports
	there, back := []string{}, []string{}
	replace := func(written, free string) {
		there, back = append(there, written, free), append(back, free, written)
	}
	for _, address := range []string{"127.0.0.1:9018", "127.0.0.1:9048", "127.0.0.1:6060"} {
		free, err := ports.Address(t.Context())
		require.NoError(t, err)
		replace(address, free)
	}
	for _, dir := range directories() {
		replace(dir, root+dir)
	}
	if strings.Contains(section, "127.0.0.1:2379") || strings.Contains(section, "$ etcdctl ") {
		server, err := etcd.NewServer(t.Context(), filepath.Join(root, "etcd"), &ports)
		require.NoError(t, err)
		require.NoError(t, server.Start(t.Context()))
		t.Cleanup(server.Kill)
		replace("127.0.0.1:2379", strings.TrimPrefix(server.URL, "http://"))
	}
	m.real, m.shown = strings.NewReplacer(there...), strings.NewReplacer(back...)
}

// run runs a command as a page writes it, and answers what it prints.
func (m *machine) run(t *testing.T, command string) string {
	t.Helper()
	if words := strings.Fields(command); len(words) == 3 && words[0] == "systemctl" && words[2] == "signpost" {
		m.systemctl(t, words[1])
		return ""
	}
	return m.shown.Replace(m.shell.run(t, m.real.Replace(command)))
}

// systemctl does to the service what systemd would.
func (m *machine) systemctl(t *testing.T, verb string) {
	t.Helper()
	require.Contains(t, []string{"start", "stop", "restart"}, verb)
	if verb != "start" && m.serves {
		require.NoError(t, m.service.Stop(patience))
		m.serves = false
	}
	if verb != "stop" && !m.serves {
		require.NoError(t, m.service.Start(t.Context()))
		m.serves = true
	}
}

// shell runs commands one after the other, which share directory and variables.
type shell struct {
	commands *os.File
	output   *bufio.Reader
}

func newShell(t *testing.T, dir string, env []string) *shell {
	t.Helper()
	in, commands, err := os.Pipe()
	require.NoError(t, err)
	output, out, err := os.Pipe()
	require.NoError(t, err)
	sh := exec.Command("sh")
	sh.Dir, sh.Env, sh.Stdin, sh.Stdout, sh.Stderr = dir, env, in, out, out
	sh.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	require.NoError(t, sh.Start())
	require.NoError(t, errors.Join(in.Close(), out.Close()))
	t.Cleanup(func() {
		_ = syscall.Kill(-sh.Process.Pid, syscall.SIGKILL)
		_ = sh.Wait()
		_ = errors.Join(commands.Close(), output.Close())
	})
	return &shell{commands, bufio.NewReader(output)}
}

// run answers what a command prints. One that ends with another status than 0
// has to say why.
func (s *shell) run(t *testing.T, command string) string {
	t.Helper()
	const end = "-- the command has ended with "
	_, err := fmt.Fprintf(s.commands, "{ %s\n} </dev/null; echo; echo '%s'$?\n", command, end)
	require.NoError(t, err)
	var printed strings.Builder
	for {
		line, err := s.output.ReadString('\n')
		require.NoError(t, err, "the shell has ended: $ %s\n%s%s", command, &printed, line)
		status, is := strings.CutPrefix(line, end)
		if !is {
			printed.WriteString(line)
			continue
		}
		text := strings.TrimSuffix(printed.String(), "\n")
		require.True(t, status == "0\n" || text != "", "$ %s ends with %s", command, status)
		return text
	}
}
