package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/client"
)

// TestWhatSchema1KeptIsServedForEver: testdata/schema1 has the keys of an etcd
// as a program of schema 1 left them, its secret key, and its answers. The
// documents and the deployed objects stay as they are: nobody has to do anything
// after an upgrade. These files never change once a version is released.
func TestWhatSchema1KeptIsServedForEver(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	copyFile(t, "testdata/schema1/secret.key", filepath.Join(data, "secret.key"))
	said, ok := does(t, "restore", "--data-dir", data, zipped(t, "testdata/schema1/backup.jsonl"))
	require.True(t, ok, said)
	service := startService(t, func(c *app.Config) { c.DataDir = data })
	c, err := client.New(service.url, client.Options{})
	require.NoError(t, err)

	answers, err := txtar.ParseFile("testdata/schema1/responses.txtar")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(answers.Files), 15)
	for _, was := range answers.Files {
		is, err := c.Do(t.Context(), "GET", was.Name, nil, nil)
		require.NoError(t, err, was.Name)
		var before, now any
		require.NoError(t, json.Unmarshal(was.Data, &before))
		require.NoError(t, json.Unmarshal(is.Body, &now))
		requireStill(t, was.Name, before, now)
		_, err = c.Do(t.Context(), "PUT", was.Name, bytes.NewReader(is.Body), nil)
		require.NoError(t, err, "%s is taken as it is answered", was.Name)
		if hasty := bytes.Replace(is.Body, []byte(`"releaseTimeout":"5s"`), []byte(`"releaseTimeout":"1s"`), 1); !bytes.Equal(hasty, is.Body) {
			_, err = c.Do(t.Context(), "PUT", was.Name, bytes.NewReader(hasty), nil)
			require.NoError(t, err, "external-dns does not run here: nothing removes the names")
			_, err = c.Do(t.Context(), "POST", was.Name+"/update", nil, nil)
			require.NoError(t, err)
		}
	}
	const group = "shop/store/v1/prod"
	for _, args := range [][]string{{"status", group}, {"update", group, "--wait"}, {"rollback", group, "--to", "1", "--wait"}, {"terminate", group, "--wait"}} {
		said, ok := does(t, append(args, "--server", service.url)...)
		require.True(t, ok, said)
		require.Contains(t, said, map[bool]string{true: "Terminated", false: "Instantiated"}[args[0] == "terminate"])
	}
}

// requireStill: what was answered is answered still; there may be more.
func requireStill(t *testing.T, where string, before, now any) {
	if warnings, is := before.([]any); is && strings.HasSuffix(where, "/warnings") {
		require.Subset(t, now, warnings, where)
		return
	}
	object, is := before.(map[string]any)
	if !is {
		require.Equal(t, before, now, where)
		return
	}
	after, is := now.(map[string]any)
	require.True(t, is, where)
	for key, value := range object {
		requireStill(t, where+"/"+key, value, after[key])
	}
}

// zipped is a file as signpost backup writes it, of its lines.
func zipped(t *testing.T, lines string) string {
	content, err := os.ReadFile(lines)
	require.NoError(t, err)
	out, err := os.Create(filepath.Join(t.TempDir(), "backup"))
	require.NoError(t, err)
	zip := gzip.NewWriter(out)
	_, err = zip.Write(content)
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	require.NoError(t, out.Close())
	return out.Name()
}
