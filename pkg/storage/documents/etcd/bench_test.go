package etcd_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	kvetcd "github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

func BenchmarkStoreOverEmbeddedServer(b *testing.B) {
	server, err := kvetcd.StartEmbedded(b.Context(), kvetcd.EmbeddedOptions{Dir: b.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	defer func() { require.NoError(b, server.Close()) }()
	store := etcd.New(server.KV())
	write := func(path intent.Path, refs ...intent.Path) {
		_, err := store.Put(b.Context(), intent.Write{Path: path, Body: []byte(`{"spec":{"text":"some text"}}`), Refs: refs})
		require.NoError(b, err)
	}
	write("projects/p")
	created := 0
	b.Run("create with a reference", func(b *testing.B) {
		for b.Loop() {
			created++
			write(intent.Path(fmt.Sprintf("projects/p/kv-pairs/%d", created)), "projects/p")
		}
	})
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			_, err := store.Get(b.Context(), "projects/p")
			require.NoError(b, err)
		}
	})
	b.Run("list 100", func(b *testing.B) {
		for b.Loop() {
			_, err := store.List(b.Context(), intent.ListOptions{Collection: "projects/p/kv-pairs", Limit: 100})
			require.NoError(b, err)
		}
	})
}
