package stores

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/mongo"
	"github.com/signpost-dns/signpost/pkg/storage/documents/storetest"
)

func TestStoreOverMongoWireProtocol(t *testing.T) {
	server, err := newServer(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, server.kill()) }()
	proxy, err := NewSerial(t.Context(), server.address)
	require.NoError(t, err)
	defer func() { require.NoError(t, proxy.Close()) }()
	databases := 0
	options := storetest.Options{New: func(*testing.T) storetest.Data {
		databases++
		open := func(t *testing.T, options ...mongo.Option) intent.Store {
			t.Helper()
			options = append(options, mongo.WithSweepAge(0))
			store, err := mongo.New(t.Context(), fmt.Sprintf("mongodb://%s/test%d", proxy.Address(), databases), options...)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, store.Close()) })
			return store
		}
		return storetest.Data{
			Open: func(t *testing.T) intent.Store { return open(t) },
			Crashing: func(t *testing.T, step func(string) error) intent.Store {
				return open(t, mongo.WithHook(step))
			},
			Kill:    func(t *testing.T) { require.NoError(t, server.kill()) },
			Restart: func(t *testing.T) { require.NoError(t, server.start(t.Context())) },
		}
	}}
	storetest.Run(t, options)
	storetest.RunCrashes(t, options)
	storetest.RunKills(t, options)
}

// TestTheURINamesTheDatabase: "signpost" where it names none.
func TestTheURINamesTheDatabase(t *testing.T) {
	server, err := newServer(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, server.kill()) }()
	open := func(database string) intent.Store {
		store, err := mongo.New(t.Context(), "mongodb://"+server.address+database)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return store
	}
	_, err = open("").Put(t.Context(), intent.Write{Path: "projects/shop", Body: []byte(`{}`)})
	require.NoError(t, err)
	_, err = open("/signpost").Get(t.Context(), "projects/shop")
	require.NoError(t, err)
	_, err = open("/shop").Get(t.Context(), "projects/shop")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
}

// TestAServerThatHangsIsGivenUp: long before the caller, who has half a minute
// for a request of many.
func TestAServerThatHangsIsGivenUp(t *testing.T) {
	server, err := newServer(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, server.kill()) }()
	store, err := mongo.New(t.Context(), "mongodb://"+server.address)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	require.NoError(t, server.process.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool { return stands(t, server.process.Process.Pid) }, 10*time.Second, 10*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	began := time.Now()
	_, err = store.Put(ctx, intent.Write{Path: "projects/shop", Body: []byte(`{}`)})
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.Less(t, time.Since(began), 30*time.Second)
}

// stands tells whether all threads of a process are stopped, which takes a moment after the
// signal.
func stands(t *testing.T, pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	require.NoError(t, err)
	return len(threads) > 0 && !slices.ContainsFunc(threads, func(path string) bool {
		stat, err := os.ReadFile(path)
		return err != nil || !strings.Contains(string(stat), ") T ")
	})
}

// TestUsageIsThatOfAProject: its own document and those below it, and no other
// project's.
func TestUsageIsThatOfAProject(t *testing.T) {
	server, err := newServer(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, server.kill()) }()
	store, err := mongo.New(t.Context(), "mongodb://"+server.address)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	for path, body := range map[intent.Path]string{
		"projects/shop": `{"a":1}`, "projects/shop/logical-clouds/west": `{"b":22}`, "projects/shop/logical-clouds/west/cluster-references/r": `{"c":333}`,
		"projects/shop-2": `{}`, "projects/shop-2/logical-clouds/west": `{}`, "projects/shop0/logical-clouds/west": `{}`, "lifecycle/projects/shop": `{}`,
	} {
		_, err := store.Put(t.Context(), intent.Write{Path: path, Body: []byte(body)})
		require.NoError(t, err)
	}
	documents, bytes, err := store.Usage(t.Context(), "projects/shop")
	require.NoError(t, err)
	require.Equal(t, 3, documents)
	require.EqualValues(t, 7+8+9, bytes)
}
