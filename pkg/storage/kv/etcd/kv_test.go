package etcd_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// wiped is a KV whose server is shared by the tests, each of which finds it
// empty, and whose history can be compacted over a connection of its own.
type wiped struct {
	*etcd.KV
	admin *clientv3.Client
}

// Compact implements kvtest.Subject.
func (w wiped) Compact(ctx context.Context) error {
	answer, err := w.admin.Get(ctx, "k")
	if err != nil {
		return err
	}
	_, err = w.admin.Compact(ctx, answer.Header.Revision)
	return err
}

func start(t *testing.T, options etcd.EmbeddedOptions) *etcd.Embedded {
	t.Helper()
	if options.Dir == "" {
		options.Dir = t.TempDir()
	}
	options.Logger = slog.New(slog.DiscardHandler)
	server, err := etcd.StartEmbedded(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

func TestEmbeddedServerKeepsTheContract(t *testing.T) {
	t.Parallel()
	server := start(t, etcd.EmbeddedOptions{ListenClients: true})
	admin, err := clientv3.NewFromURL(server.ClientURL())
	require.NoError(t, err)
	defer admin.Close()
	kvtest.Run(t, func(t *testing.T) kvtest.Subject {
		wipe(t, admin)
		return wiped{KV: server.KV(), admin: admin}
	})
}

func TestExternalServerKeepsTheContract(t *testing.T) {
	t.Parallel()
	server := start(t, etcd.EmbeddedOptions{ListenClients: true})
	admin, err := clientv3.NewFromURL(server.ClientURL())
	require.NoError(t, err)
	defer admin.Close()
	dialled, err := etcd.Dial(etcd.DialOptions{Endpoints: []string{server.ClientURL()}})
	require.NoError(t, err)
	defer func() { require.NoError(t, dialled.Close()) }()
	kvtest.Run(t, func(t *testing.T) kvtest.Subject {
		wipe(t, admin)
		return wiped{KV: dialled, admin: admin}
	})
}

func wipe(t *testing.T, admin *clientv3.Client) {
	t.Helper()
	_, err := admin.Delete(t.Context(), "\x00", clientv3.WithFromKey())
	require.NoError(t, err)
}

func TestDialNeedsAnEndpoint(t *testing.T) {
	t.Parallel()
	_, err := etcd.Dial(etcd.DialOptions{})
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
}

// TestTheSizeOfAnExternalServerIsKnown: as long as one of its members answers.
func TestTheSizeOfAnExternalServerIsKnown(t *testing.T) {
	t.Parallel()
	server := start(t, etcd.EmbeddedOptions{ListenClients: true})
	some, err := etcd.Dial(etcd.DialOptions{Endpoints: []string{"http://127.0.0.1:1", server.ClientURL()}})
	require.NoError(t, err)
	defer func() { require.NoError(t, some.Close()) }()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	size, err := some.Size(ctx)
	require.NoError(t, err)
	require.Positive(t, size.InUse)
	require.GreaterOrEqual(t, size.Allocated, size.InUse)
	require.Equal(t, server.Size().Quota, size.Quota)

	one, err := etcd.Dial(etcd.DialOptions{Endpoints: []string{server.ClientURL()}})
	require.NoError(t, err)
	defer func() { require.NoError(t, one.Close()) }()
	alone, err := one.Size(ctx)
	require.NoError(t, err)
	require.Equal(t, size.Quota, alone.Quota, "by the connection that there is")
	require.Positive(t, alone.InUse)

	none, err := etcd.Dial(etcd.DialOptions{Endpoints: []string{"http://127.0.0.1:1"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, none.Close()) }()
	_, err = none.Size(ctx)
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
}
