package faults

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	etcdstore "github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/mongo"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
	"github.com/signpost-dns/signpost/pkg/storage/vault"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// Values at rest: the credentials of some records, and one kubeconfig.
const (
	sealedRecords    = 4
	sealedPerRecord  = 50
	writesBeforeKill = 40 // fewer than there are values
)

// bearer is the token of a kubeconfig.
const bearer = "t0ken-of-the-far-cluster"

// keyed is a Signpost whose key of secrets at rest is replaced. It has a cluster
// that is a directory, and one of which it has a kubeconfig.
type keyed struct {
	service

	dir   string
	args  []string // that say which stores it has
	first string   // the files of the two keys
	other string
	asked *atomic.Int64 // how often the second cluster was asked, with its kubeconfig's token
	// reads looks at the stores while no Signpost runs.
	reads func(look func(documents intent.Store, all kv.KV))
}

// keyedEmbedded has the etcd within it.
func keyedEmbedded(t *testing.T) *keyed {
	k := newKeyed(t)
	k.reads = func(look func(intent.Store, kv.KV)) {
		server, err := etcd.StartEmbedded(t.Context(), etcd.EmbeddedOptions{
			Dir: filepath.Join(k.dir, "server", "data", "etcd"), Logger: slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		look(etcdstore.New(server.KV()), server.KV())
		require.NoError(t, server.Close())
	}
	return k
}

// keyedMongo has documents in FerretDB, and all else in an etcd.
func keyedMongo(t *testing.T) *keyed {
	k := newKeyed(t)
	stores, err := fixture.StartStores(t.Context(), t.TempDir(), &process.Ports{})
	t.Cleanup(stores.Close)
	require.NoError(t, err)
	k.args = stores.Args()
	k.reads = func(look func(intent.Store, kv.KV)) {
		documents, err := mongo.New(t.Context(), stores.MongoURI())
		require.NoError(t, err)
		all, err := etcd.Dial(etcd.DialOptions{Endpoints: []string{stores.Etcd.URL}})
		require.NoError(t, err)
		look(documents, all)
		require.NoError(t, errors.Join(documents.Close(), all.Close()))
	}
	return k
}

func newKeyed(t *testing.T) *keyed {
	k := &keyed{service: service{T: t}, dir: t.TempDir(), asked: &atomic.Int64{}}
	for fill, file := range map[string]*string{"a": &k.first, "b": &k.other} {
		*file = filepath.Join(k.dir, fill+".key")
		key := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(fill, 32)))
		require.NoError(t, os.WriteFile(*file, []byte(key), 0o600))
	}
	return k
}

func (k *keyed) id(file string) string {
	key, err := seal.LoadKeyFile(file)
	require.NoError(k, err)
	return key.ID()
}

// start starts the next life, with a key, and the one before if there is any.
func (k *keyed) start(current, old string) {
	k.Helper()
	program, err := fixture.Build(k.Context(), k.dir)
	require.NoError(k, err)
	args := append([]string{"--shared-directory-root"}, k.args...) // who was killed seems to live for a while
	if args = append(args, "--secret-key-file="+current); old != "" {
		args = append(args, "--old-secret-key-file="+old)
	}
	k.signpost, err = fixture.NewSignpost(program, filepath.Join(k.dir, "server"), args...)
	require.NoError(k, err)
	life := k.signpost
	k.Cleanup(func() {
		life.Kill()
		if k.Failed() {
			k.Log(life.Tail(20))
		}
	})
	require.NoError(k, life.Start(k.Context()))
}

// cluster starts what answers in the place of a cluster's API server, and answers
// the cluster's document.
func (k *keyed) cluster() string {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+bearer {
			k.asked.Add(1)
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	k.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	kubeconfig := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "far",
		"clusters": [{"name": "far", "cluster": {"server": %q, "certificate-authority-data": %q}}],
		"users": [{"name": "signpost", "user": {"token": %q}}],
		"contexts": [{"name": "far", "context": {"cluster": "far", "user": "signpost"}}]}`,
		server.URL, base64.StdEncoding.EncodeToString(certificate), bearer)
	return fmt.Sprintf(`{"kubeconfig": %q}`, base64.StdEncoding.EncodeToString([]byte(kubeconfig)))
}

// stores has something that is sealed in a cluster's document and in records.
func (k *keyed) stores() {
	k.Helper()
	k.intents(`{"directory": "hub"}`, deployed, oldHost)
	k.call(http.MethodPost, "/v2/cluster-providers/edge/clusters", document("far", k.cluster()), http.StatusCreated)
	for n := range sealedRecords {
		credentials := make([]string, sealedPerRecord)
		for i := range credentials {
			credentials[i] = fmt.Sprintf(`{"environment": "SECRET_%d", "value": %q}`, i, plain(n, i))
		}
		k.call(http.MethodPost, "/v2/projects/shop/dns-update-records", document(fmt.Sprintf("sealed-%d", n), `{
			"provider": "coredns", "environment": {"ETCD_URLS": "http://127.0.0.1:2379"},
			"external-dns-parameters": {"policy": "sync", "domain-filter": ["lab.example"]},
			"credentials": [`+strings.Join(credentials, ",")+`]}`), http.StatusCreated)
	}
}

func plain(record, n int) string { return fmt.Sprintf("value %d of %d", n, record) }

// sealedBy counts the values at rest by the key that has sealed them.
func (k *keyed) sealedBy() map[string]int {
	k.Helper()
	found := map[string]int{}
	k.reads(func(documents intent.Store, _ kv.KV) {
		page, err := documents.List(k.Context(), intent.ListOptions{Collection: intent.SecretCollection})
		require.NoError(k, err)
		for _, doc := range page.Items {
			var body struct{ Sealed string }
			require.NoError(k, json.Unmarshal(doc.Body, &body))
			found[strings.Split(body.Sealed, ":")[1]]++
		}
	})
	return found
}

// opensAll requires that a key alone opens each credential, as it was given.
func (k *keyed) opensAll(file string) {
	k.Helper()
	key, err := seal.LoadKeyFile(file)
	require.NoError(k, err)
	sealer, err := seal.New(key)
	require.NoError(k, err)
	opened := map[string]bool{}
	k.reads(func(documents intent.Store, _ kv.KV) {
		page, err := documents.List(k.Context(), intent.ListOptions{Collection: intent.SecretCollection})
		require.NoError(k, err)
		values := vault.New(documents, sealer, time.Now)
		for _, doc := range page.Items {
			value, err := values.Secret(k.Context(), doc.Path.Name())
			require.NoError(k, err)
			opened[string(value)] = true
		}
	})
	for n := range sealedRecords * sealedPerRecord {
		require.Contains(k, opened, plain(n/sealedPerRecord, n%sealedPerRecord))
	}
}

// nothingIsSealedBy requires that a key's id is nowhere in the stores.
func (k *keyed) nothingIsSealedBy(file string) {
	k.Helper()
	k.reads(func(_ intent.Store, all kv.KV) {
		items, _, err := all.Range(k.Context(), kv.Range{Prefix: "/"})
		require.NoError(k, err)
		require.NotEmpty(k, items)
		for _, item := range items {
			require.NotContains(k, string(item.Value), "sp1:"+k.id(file), item.Key)
		}
	})
	require.Zero(k, k.sealedBy()[k.id(file)])
}

// metrics sums those lines of /metrics that a pattern finds; its group is the value.
func (k *keyed) metrics(ctx context.Context, pattern string) (lines, sum int, err error) {
	answer, err := k.signpost.Do(ctx, http.MethodGet, "/metrics", "")
	for _, match := range regexp.MustCompile(`(?m)^`+pattern+`$`).FindAllSubmatch(answer.Body, -1) {
		value, _ := strconv.Atoi(string(match[1]))
		lines, sum = lines+1, sum+value
	}
	return lines, sum, err
}

// killWhileResealing kills Signpost, each time a few writes later, until some
// values are sealed anew and others are not yet. Where a kill came too late, all
// are sealed with the other key, and the keys change places.
func (k *keyed) killWhileResealing(total int) {
	k.Helper()
	for writes := writesBeforeKill; ; writes += writesBeforeKill {
		k.start(k.other, k.first)
		require.Eventually(k, func() bool {
			_, done, err := k.metrics(k.Context(), `signpost_store_request_duration_seconds_count\{op="(?:txn|put)",.*\} (\d+)`)
			return err == nil && done >= writes
		}, 3*patience, time.Millisecond, "%d writes", writes) // a key that a replica killed just now had is looked at a minute later
		k.signpost.Kill()
		sealed := k.sealedBy()
		k.Logf("kill -9 after %d writes, with %v", writes, sealed)
		was, is := sealed[k.id(k.first)], sealed[k.id(k.other)]
		require.Equal(k, total, was+is, "nothing is lost")
		switch {
		case was > 0 && is > 0:
			return
		case was == 0:
			k.first, k.other, writes = k.other, k.first, 0
		}
	}
}

// works requires that another name gets into the first cluster, and that the
// second is asked with its kubeconfig.
func (k *keyed) works(host string) {
	k.Helper()
	k.rename(host)
	plan, err := k.signpost.Do(k.Context(), http.MethodPost, group+"/plan", "")
	require.NoError(k, err)
	require.Equal(k, http.StatusOK, plan.Status, string(plan.Body))
	require.Contains(k, string(plan.Body), `"errors":[]`)
	action := "/update"
	if k.is("Instantiated") != nil {
		action = "/instantiate"
	}
	k.call(http.MethodPost, group+action, "", http.StatusAccepted)
	k.eventually(host, func() error { return errors.Join(k.published(host), k.is("Instantiated")) })
	before := k.asked.Load()
	k.call(http.MethodGet, "/v2/cluster-providers/edge/clusters/far/preflight", "", http.StatusOK)
	require.Greater(k, k.asked.Load(), before, "it is asked with its token")
}

// published requires that a manifest of the first cluster holds a name.
func (k *keyed) published(host string) error {
	found := fmt.Errorf("%s is in no manifest", host)
	err := filepath.WalkDir(filepath.Join(k.dir, "server", "data", "clusters"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), host) {
			found = nil
		}
		return err
	})
	return errors.Join(err, found)
}

// TestTheKeyOfSecretsIsReplacedWithoutALoss: also when the process dies while it
// seals anew. Afterwards the new key alone will do for all that is at rest: it
// opens each credential, and clusters are asked by their kubeconfigs.
func TestTheKeyOfSecretsIsReplacedWithoutALoss(t *testing.T) {
	for _, c := range []struct {
		stores string
		over   func(t *testing.T) *keyed
	}{
		{"embedded etcd", keyedEmbedded},
		{"MongoDB and etcd", keyedMongo},
	} {
		t.Run(c.stores, func(t *testing.T) {
			const total = sealedRecords*sealedPerRecord + 1
			k := c.over(t)
			k.start(k.first, "")
			k.stores()
			k.works(oldHost)
			require.NoError(t, k.signpost.Stop(patience))
			require.Equal(t, map[string]int{k.id(k.first): total}, k.sealedBy())

			k.killWhileResealing(total)
			k.start(k.other, k.first)
			k.eventually("one key", func() error {
				keys, values, err := k.metrics(k.Context(), `signpost_sealed_values\{key="[0-9a-f]+"\} (\d+)`)
				if err == nil && (keys != 1 || values != total) {
					err = fmt.Errorf("%d values are of %d keys", values, keys)
				}
				return err
			})
			k.works("between.lab.example")
			require.NoError(t, k.signpost.Stop(patience))

			k.start(k.other, "")
			k.allPosted()
			k.works(newHost)
			require.NoError(t, k.signpost.Stop(patience))
			k.nothingIsSealedBy(k.first)
			k.opensAll(k.other)
			require.Equal(t, map[string]int{k.id(k.other): total}, k.sealedBy())
		})
	}
}
