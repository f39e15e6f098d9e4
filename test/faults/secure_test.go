package faults

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	kvetcd "github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// secured starts an etcd that speaks TLS, and to those alone who show a
// certificate and are signpost, who may touch no key but Signpost's own.
func secured(t *testing.T) *etcd.Secure {
	t.Helper()
	server, err := etcd.NewSecure(t.Context(), filepath.Join(t.TempDir(), "etcd"), &process.Ports{})
	require.NoError(t, err)
	require.NoError(t, server.Start(t.Context()))
	server.EndWith(t)
	require.NoError(t, server.RequireUser(t.Context(), "signpost", "pass word", "/signpost/", "/context/"))
	return server
}

// password is a file with a password, as people write it.
func password(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte(text+"\n"), 0o600))
	return file
}

// TestSignpostSignsInToEtcd: with a user and a password, or with a certificate
// that names the user, all of Signpost works within its own two prefixes, for
// longer than a token of etcd lasts, and after a restart of etcd.
func TestSignpostSignsInToEtcd(t *testing.T) {
	server := secured(t)
	cert, key, err := server.Certificate("signpost")
	require.NoError(t, err)
	for way, args := range map[string][]string{
		"by a password":    {"--etcd-cert-file=" + server.Cert, "--etcd-key-file=" + server.Key, "--etcd-user=signpost", "--etcd-password-file=" + password(t, "pass word")},
		"by a certificate": {"--etcd-cert-file=" + cert, "--etcd-key-file=" + key},
	} {
		t.Run(way, func(t *testing.T) {
			s := &service{T: t, signpost: newSignpost(t, t.TempDir(), append(args, "--etcd-endpoints="+server.URL, "--etcd-ca-file="+server.CA)...)}
			require.NoError(t, s.signpost.Start(t.Context()))
			s.intents(`{"directory": "hub"}`, deployed, oldHost)
			s.call(http.MethodPost, group+"/instantiate", "", http.StatusAccepted)
			s.eventually("the group to be instantiated", func() error { return s.is("Instantiated") })

			server.Kill()
			require.NoError(t, server.Start(t.Context()))
			s.eventually("the server to be ready", s.ready)
			s.rename(newHost)
			s.call(http.MethodPost, group+"/update", "", http.StatusAccepted)
			s.eventually("the group to be updated", func() error { return s.is("Instantiated") })
			s.call(http.MethodPost, group+"/terminate", "", http.StatusAccepted)
			s.eventually("the group to be terminated", func() error { return s.is("Terminated") })
			require.NoError(t, s.signpost.Stop(patience))
			require.NoError(t, server.AsRoot(t.Context(), wipe))
		})
	}
}

// TestAWatchThatBeginsLateIsSignedIn: what another watch was signed in with has
// expired long before, while that one goes on.
func TestAWatchThatBeginsLateIsSignedIn(t *testing.T) {
	server := secured(t)
	config, err := server.TLS()
	require.NoError(t, err)
	store, err := kvetcd.Dial(kvetcd.DialOptions{Endpoints: []string{server.URL}, Username: "signpost", Password: "pass word", TLS: config})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	first := store.Watch(t.Context(), "/signpost/a", 1)
	tick := time.NewTicker(2500 * time.Millisecond) // a token that is not used lasts a second
	defer tick.Stop()
	for n := range 4 {
		key := fmt.Sprintf("/signpost/a%d", n)
		_, revision, err := store.Txn(t.Context(), nil, kv.Put(key, nil))
		require.NoError(t, err)
		late, end := context.WithCancel(t.Context())
		for who, batches := range map[string]<-chan kv.Batch{"the first": first, "a late one": store.Watch(late, "/signpost/a", revision)} {
			select {
			case batch := <-batches:
				require.Equal(t, key, batch.Events[0].Key, who)
			case <-time.After(patience):
				require.FailNow(t, "it hears nothing", "%s, of %s", who, key)
			}
		}
		end()
		<-tick.C
	}
}

// TestWhomEtcdRefusesIsToldWhy: Signpost ends with the flag and the cause, also
// when etcd refuses a connection to which Signpost has written already.
func TestWhomEtcdRefusesIsToldWhy(t *testing.T) {
	server, other := secured(t), unknown(t)
	shown := []string{"--etcd-endpoints=" + server.URL, "--etcd-ca-file=" + server.CA, "--etcd-cert-file=" + server.Cert, "--etcd-key-file=" + server.Key}
	user := []string{"--etcd-user=signpost", "--etcd-password-file=" + password(t, "pass word")}
	const missing = "certificate required; if it asks for a certificate, give one with --etcd-cert-file and --etcd-key-file"
	for _, c := range []struct {
		reason string
		args   []string
		says   string
	}{
		{"a wrong password", append(shown, "--etcd-user=signpost", "--etcd-password-file="+password(t, "wrong")), "--etcd-endpoints: etcd refuses the user or the password"},
		{"a user whom it does not know", append(shown, "--etcd-user=anna", "--etcd-password-file="+password(t, "pass word")), "--etcd-endpoints: etcd refuses the user or the password"},
		{"nobody", shown, "--etcd-endpoints: etcd does not allow it"},
		{"no certificate", shown[:2], missing},
		{"a password and no certificate", slices.Concat(shown[:2], user), missing},
		{"a certificate of an authority that it does not know", slices.Concat(shown[:2], []string{"--etcd-cert-file=" + other.Cert, "--etcd-key-file=" + other.Key}), "; etcd may not accept the certificate of --etcd-cert-file"},
		{"an authority that it is not of", []string{shown[0], "--etcd-ca-file=" + other.CA}, "; --etcd-ca-file is for the authority that has signed etcd's certificate"},
		{"a password and an authority that it is not of", slices.Concat(shown[:1], user), "; --etcd-ca-file is for the authority that has signed etcd's certificate"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			signpost := newSignpost(t, t.TempDir(), c.args...)
			require.Error(t, signpost.Start(t.Context()))
			require.Contains(t, signpost.Tail(5), c.says)
		})
	}
}

// unknown is an etcd that never starts, of an authority of its own.
func unknown(t *testing.T) *etcd.Secure {
	t.Helper()
	other, err := etcd.NewSecure(t.Context(), filepath.Join(t.TempDir(), "etcd"), &process.Ports{})
	require.NoError(t, err)
	return other
}

// wipe removes every key.
func wipe(ctx context.Context, etcd *clientv3.Client) error {
	_, err := etcd.Delete(ctx, "\x00", clientv3.WithFromKey())
	return err
}
