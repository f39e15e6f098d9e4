package emco_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

const (
	first  = "4242"
	second = "9223372036854775807"
	paris  = "edge+paris"
	berlin = "edge+berlin"
)

// onEach runs a test over the fake and over a real etcd.
func onEach(t *testing.T, test func(t *testing.T, store kv.KV)) {
	t.Helper()
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		test(t, kvtest.NewFake())
	})
	t.Run("etcd", func(t *testing.T) {
		t.Parallel()
		test(t, realEtcd(t))
	})
}

func realEtcd(t testing.TB) kv.KV {
	t.Helper()
	server, err := etcd.StartEmbedded(t.Context(), etcd.EmbeddedOptions{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server.KV()
}

func newStore(store kv.KV) *emco.Store { return emco.NewStore(store, time.Now) }

// keys are what a store is to hold.
type keys map[string]string

// dump reads the keys of a context that the stand-in for EMCO has written, as
// test/emco dumps them.
func dump(t testing.TB, name string) keys {
	t.Helper()
	raw, err := os.ReadFile("../../test/emco/testdata/" + name + ".txt")
	require.NoError(t, err)
	id := first
	if name == "updated-second" {
		id = second
	}
	text := strings.NewReplacer("[…]", "[]", "…", `"…"`, "SECOND", second, "FIRST", first, "/ID/", "/"+id+"/", "> ID", "> "+id, "ID-web", id+"-web").Replace(string(raw))
	found := keys{}
	var key string
	var lines []string
	flush := func(newline string) {
		if len(lines) > 0 {
			found[key] = jsonText(t, strings.Join(lines, "\n")+newline)
		}
		lines = nil
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "/context/"):
			flush("\n")
			key = line
		case strings.HasPrefix(line, "  | "):
			lines = append(lines, line[4:])
		case line == "  (no newline)":
			flush("")
		case strings.HasPrefix(line, "  > "):
			found[key] = jsonText(t, line[4:])
		default:
			found[key] = line[2:]
		}
	}
	flush("\n")
	return found
}

func jsonText(t testing.TB, text string) string {
	t.Helper()
	raw, err := json.Marshal(text)
	require.NoError(t, err)
	return string(raw)
}

// write puts keys, in transactions where they are many.
func (k keys) write(t testing.TB, store kv.KV) {
	t.Helper()
	var ops []kv.Op
	size := 0
	flush := func() {
		_, _, err := store.Txn(t.Context(), nil, ops...)
		require.NoError(t, err)
		ops, size = nil, 0
	}
	for _, key := range slices.Sorted(maps.Keys(k)) {
		if size += len(key) + len(k[key]); len(ops) == 1000 || size > kv.MaxBytes && len(ops) > 0 {
			flush()
			size = len(key) + len(k[key])
		}
		ops = append(ops, kv.Put(key, []byte(k[key])))
	}
	flush()
}

// held are all keys of a store.
func held(t testing.TB, store kv.KV) keys {
	t.Helper()
	items, _, err := store.Range(t.Context(), kv.Range{Prefix: "/"})
	require.NoError(t, err)
	found := keys{}
	for _, item := range items {
		found[item.Key] = string(item.Value)
	}
	return found
}

// with is a copy with some keys of other values; one with the value "-" is
// left out.
func (k keys) with(changes keys) keys {
	copied := maps.Clone(k)
	maps.Copy(copied, changes)
	maps.DeleteFunc(copied, func(_, value string) bool { return value == "-" })
	return copied
}

func put(t testing.TB, store kv.KV, key, value string) {
	t.Helper()
	keys{key: value}.write(t, store)
}

func read(t testing.TB, s *emco.Store, id string) *emco.Context {
	t.Helper()
	c, err := s.Read(t.Context(), id)
	require.NoError(t, err)
	return c
}

func revision(t testing.TB, store kv.KV) int64 {
	t.Helper()
	_, now, err := store.Get(t.Context(), "/")
	require.NoError(t, err)
	return now
}

func refused(t testing.TB, err error, code intent.Code, words ...string) {
	t.Helper()
	require.Equal(t, code, intent.CodeOf(err), "%v", err)
	for _, word := range words {
		require.ErrorContains(t, err, word)
	}
}

// large is a context of an app on so many clusters with so many resources of
// so many bytes each.
func large(t testing.TB, clusters, resources, size int) keys {
	t.Helper()
	const root = "/context/" + first + "/"
	k := keys{
		root:                                 jsonText(t, first),
		root + "meta/":                       `{"Project":"shop","ChildContextIDs":null,"Namespace":"shop"}`,
		root + "app/web/":                    `"web"`,
		root + "app/instruction/order/":      jsonText(t, `{"apporder":["web"]}`),
		root + "app/instruction/dependency/": jsonText(t, `{"web":"go"}`),
	}
	for n := range clusters {
		cluster := clusterName(n)
		at := root + "app/web/cluster/" + cluster + "/"
		k[at] = jsonText(t, cluster)
		k[at+"!@#metaGrp/"] = `"1"`
		var order []string
		for r := range resources {
			key := fmt.Sprintf("web-%d+Deployment", r)
			order = append(order, key)
			k[at+"resource/"+key+"/"] = jsonText(t, "# Source: web\nkind: Deployment\nmetadata: {name: web}\ndata: "+strings.Repeat("x", size)+"\n")
		}
		raw, err := json.Marshal(map[string]any{"resorder": order})
		require.NoError(t, err)
		k[at+"resource/instruction/order/"] = jsonText(t, string(raw))
	}
	return k
}

func clusterName(n int) string { return fmt.Sprintf("edge+site-%d", n) }

// resource is one that is read from a context.
func resource(t testing.TB, text string) emco.Resource {
	t.Helper()
	store := kvtest.NewFake()
	dump(t, "context").with(keys{parisKey + "resource/web+Service/": jsonText(t, text)}).write(t, store)
	return *read(t, newStore(store), first).App("web").Cluster(paris).Resource("web+Service")
}

func textOf(t testing.TB, r *emco.Resource) string {
	t.Helper()
	text, err := r.Text()
	require.NoError(t, err)
	return text
}
