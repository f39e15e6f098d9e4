package etcd_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/storetest"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	kvetcd "github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd/etcdtest"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

func TestMain(m *testing.M) { etcdtest.Main(m) }

func TestStoreOverEmbeddedServer(t *testing.T) {
	t.Parallel()
	server, err := kvetcd.StartEmbedded(t.Context(), kvetcd.EmbeddedOptions{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	options := storetest.Options{New: func(t *testing.T) storetest.Data {
		wipe(t, server.KV())
		return storetest.Data{
			Open: func(*testing.T) intent.Store { return etcd.New(server.KV()) },
			Crashing: func(_ *testing.T, step func(string) error) intent.Store {
				return etcd.New(kvtest.Stepping{KV: server.KV(), Step: step})
			},
		}
	}}
	storetest.Run(t, options)
	storetest.RunCrashes(t, options)
}

func TestStoreOverServerThatIsKilled(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	store := kvetcd.New(server.Client)
	options := storetest.Options{New: func(t *testing.T) storetest.Data {
		wipe(t, store)
		return storetest.Data{
			Open:    func(*testing.T) intent.Store { return etcd.New(store) },
			Kill:    server.Kill,
			Restart: server.Restart,
		}
	}}
	storetest.Run(t, options)
	storetest.RunKills(t, options)
}

func TestStoreOverFake(t *testing.T) {
	t.Parallel()
	options := storetest.Options{New: func(*testing.T) storetest.Data {
		fake := kvtest.NewFake()
		return storetest.Data{
			Open: func(*testing.T) intent.Store { return etcd.New(fake) },
			Crashing: func(_ *testing.T, step func(string) error) intent.Store {
				return etcd.New(kvtest.Stepping{KV: fake, Step: step})
			},
		}
	}}
	storetest.Run(t, options)
	storetest.RunCrashes(t, options)
}

func wipe(t *testing.T, store kv.KV) {
	t.Helper()
	_, _, err := store.Txn(t.Context(), nil, kv.DeletePrefix("/"))
	require.NoError(t, err)
}
