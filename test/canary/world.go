package canary

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access/accesstest"
	"github.com/signpost-dns/signpost/pkg/release/state/packed"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/otlp"
)

// patience is how long anything may take on a busy machine.
const patience = time.Minute

// world is a Signpost with secrets in it, and all that it has let out.
type world struct {
	*testing.T
	marks

	program, dir string
	signpost     *fixture.Signpost
	traces       *otlp.Receiver
	admin, jwt   string            // tokens
	used         map[string]string // the records of the secrets that external-dns needs, by the secrets' names
	hosts        string            // that the first group publishes, in JSON
	out          []find
}

// find is a text that secrets are searched for in.
type find struct {
	where string
	text  []byte
}

// newWorld prepares a Signpost that asks for tokens, tells all that it can, and
// exports traces.
func newWorld(t *testing.T, program string, args ...string) *world {
	t.Helper()
	w := &world{T: t, program: program, dir: t.TempDir(), traces: otlp.Start(t), used: map[string]string{}}
	issuer := accesstest.NewIssuer(t)
	w.admin = w.word("a token of the token file")
	w.jwt = issuer.Token("otto", map[string]any{"roles": []string{"admin"}})
	w.keep("the signature of a JWT", w.jwt[strings.LastIndex(w.jwt, ".")+1:])
	var err error
	w.signpost, err = fixture.NewSignpost(program, filepath.Join(w.dir, "server"), append([]string{
		"--token-file=" + w.file("tokens", w.admin+",anna,admin\n"+w.word("another token")+",bea,viewer,shop\n"),
		"--oidc-issuer=" + issuer.URL, "--oidc-audience=" + accesstest.Audience, "--allowed-images=registry.example/,registry.k8s.io/",
		"--pprof-listen=127.0.0.1:0", "--otlp-endpoint=" + w.traces.URL, "--log-level=debug", "--log-format=json",
	}, args...)...)
	require.NoError(t, err)
	w.signpost.Env = append(w.signpost.Env, "SIGNPOST_SECRET_KEY="+w.sealingKey())
	t.Cleanup(func() {
		w.signpost.Kill()
		if t.Failed() {
			t.Log(w.signpost.Tail(10))
		}
	})
	require.NoError(t, w.signpost.Start(t.Context()))
	return w
}

// file writes a file and answers its name.
func (w *world) file(name, content string) string {
	w.Helper()
	name = filepath.Join(w.dir, name)
	require.NoError(w, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// see has secrets searched for in a text.
func (w *world) see(where string, text []byte) {
	w.out = append(w.out, find{where, text})
	if zipped, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		if plain, err := io.ReadAll(zipped); err == nil {
			w.out = append(w.out, find{where + ", unpacked", plain})
		}
	}
	if plain, err := (*packed.Packer)(nil).Unpack(bytes.NewReader(text)); err == nil {
		w.out = append(w.out, find{where + ", unpacked", plain})
	}
}

// seeFiles has them searched for in all files of a directory, and in their
// names.
func (w *world) seeFiles(dir string) {
	w.Helper()
	require.NoError(w, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		w.see("the file "+file, append([]byte(file+"\n"), text...))
		return err
	}))
}

// none expects that nothing which was seen holds a secret.
func (w *world) none() {
	w.Helper()
	bytes, searcher := 0, newSearcher(w.all)
	for _, one := range w.out {
		bytes += len(one.text)
		for _, found := range searcher.find(one.text) {
			w.Errorf("%s: %s", one.where, found)
		}
	}
	w.Logf("%d secrets were searched for in %d texts of %d bytes", len(w.all), len(w.out), bytes)
}

// request is one of REST.
type request struct {
	method, path, body string
	media              string // of the body; empty: JSON
	token              string // empty: the admin's
}

// call sends a request, sees its answer and answers the status.
func (w *world) call(r request) int {
	w.Helper()
	base, err := w.signpost.URL()
	require.NoError(w, err)
	return w.send(base, r)
}

func (w *world) send(base string, r request) int {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	sent, err := http.NewRequestWithContext(ctx, r.method, base+r.path, strings.NewReader(r.body))
	require.NoError(w, err)
	sent.Header.Set("Authorization", "Bearer "+w.admin)
	if r.token != "" {
		sent.Header.Set("Authorization", r.token)
	}
	sent.Header.Set("Content-Type", "application/json")
	if r.media != "" {
		sent.Header.Set("Content-Type", r.media)
	}
	answer, err := http.DefaultClient.Do(sent)
	require.NoError(w, err)
	defer func() { _ = answer.Body.Close() }()
	var text bytes.Buffer
	require.NoError(w, answer.Header.Write(&text))
	_, err = text.ReadFrom(answer.Body)
	require.NoError(w, err)
	w.see(fmt.Sprintf("the answer %d to %s %s", answer.StatusCode, r.method, r.path), text.Bytes())
	return answer.StatusCode
}

// want sends a request and expects a status.
func (w *world) want(status int, r request) {
	w.Helper()
	if got := w.call(r); got != status {
		require.Equal(w, status, got, "%s %s %s: %s", r.method, r.path, r.body, w.out[len(w.out)-1].text)
	}
}

// refused sends a request and expects that it is the caller's fault.
func (w *world) refused(r request) {
	w.Helper()
	if got := w.call(r); got < http.StatusBadRequest || got >= http.StatusInternalServerError {
		w.Errorf("it is answered %d: %s %s %s", got, r.method, r.path, r.body)
	}
}

// run runs a command of the program, sees what it prints, and answers that.
func (w *world) run(env []string, args ...string) (text string, err error) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, w.program, args...)
	command.Env, command.Dir = append([]string{"PATH=/usr/bin:/bin", "HOME=" + w.dir}, env...), w.dir
	printed, err := command.CombinedOutput()
	w.see("what signpost "+strings.Join(args[:min(2, len(args))], " ")+" prints", printed)
	return string(printed), err
}

// client is the environment of commands that talk to the server.
func (w *world) client() []string {
	w.Helper()
	base, err := w.signpost.URL()
	require.NoError(w, err)
	return []string{"SIGNPOST_SERVER=" + base, "SIGNPOST_TOKEN=" + w.admin}
}
