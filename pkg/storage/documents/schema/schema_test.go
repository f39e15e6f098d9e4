package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/schema"
	"github.com/signpost-dns/signpost/pkg/storage/documents/storetest"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

const (
	shop       = intent.Path("projects/shop")
	memberKey  = "/signpost/members/"
	oldReplica = "{}"           // as programs from before schema versions register
	newReplica = `{"schema":2}` // as workers register since
)

// TestConformance: a store around another one keeps what that promises.
func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Options{New: func(*testing.T) storetest.Data {
		over := kvtest.NewFake()
		return storetest.Data{Open: func(*testing.T) intent.Store {
			return schema.New(etcd.New(over), over, schema.Changes())
		}}
	}})
}

type world struct {
	kv    *kvtest.Fake
	below intent.Store
	*schema.Store
}

func newWorld(changes ...schema.Change) world {
	over := kvtest.NewFake()
	below := etcd.New(over)
	return world{over, below, schema.New(below, over, append(schema.Changes(), changes...))}
}

func (w world) register(t *testing.T, name, value string) {
	_, _, err := w.kv.Txn(t.Context(), nil, kv.Put(memberKey+name, []byte(value)))
	require.NoError(t, err)
}

// write stores a body as a program that wraps the store does, or, below, as one
// from before schema versions did.
func write(t *testing.T, s intent.Store, path intent.Path, body string) error {
	_, err := s.Put(t.Context(), intent.Write{Path: path, Body: []byte(body)})
	return err
}

func TestADocumentCarriesTheSchemaThatItNeeds(t *testing.T) {
	for body, want := range map[string]int{
		`{"spec":{"namespace":"shop"}}`:                1,
		`{"spec":{"domains":["lab.example"]}}`:         2,
		`{"spec":{"quotas":{"records":3}}}`:            2,
		`{"spec":{"namespaces":["team"]}}`:             3,
		`{"spec":{"serviceAccounts":["team/web"]}}`:    3,
		`{"spec":{"domains":[]}}`:                      1,
		`{"spec":{"domains":null}}`:                    1,
		`{"metadata":{"description":"\"domains\""}}`:   1,
		`{"metadata":{"domains":"of somewhere else"}}`: 1,
		`{"spec":"domains"}`:                           1,
		`["domains"]`:                                  1,
	} {
		w := newWorld()
		require.NoError(t, write(t, w, shop, body), body)
		doc, err := w.below.Get(t.Context(), shop)
		require.NoError(t, err)
		require.Equal(t, want, doc.Schema, body)
	}
	w := newWorld()
	require.NoError(t, write(t, w, "projects/shop/dns-update-records/lab", `{"spec":{"maxRemoval":0}}`))
	doc, err := w.Get(t.Context(), "projects/shop/dns-update-records/lab")
	require.NoError(t, err)
	require.Equal(t, 2, doc.Schema, "0 says something")
}

// TestOlderFormsAreMigratedWhenRead by whichever way, and written in today's.
func TestOlderFormsAreMigratedWhenRead(t *testing.T) {
	renamed := schema.Change{Schema: 2, Kind: "projects", Field: []string{"spec", "name"}, Migrate: func(body []byte) ([]byte, error) {
		if bytes.Contains(body, []byte("broken")) {
			return nil, errors.New("no name")
		}
		return bytes.Replace(body, []byte(`"title"`), []byte(`"name"`), 1), nil
	}}
	w := newWorld(renamed)
	require.NoError(t, write(t, w.below, shop, `{"spec":{"title":"Shop"}}`))
	const today = `{"spec":{"name":"Shop"}}`

	doc, err := w.Get(t.Context(), shop)
	require.NoError(t, err)
	require.JSONEq(t, today, string(doc.Body))
	all, err := w.GetAll(t.Context(), []intent.Path{shop})
	require.NoError(t, err)
	require.JSONEq(t, today, string(all[0].Body))
	page, err := w.List(t.Context(), intent.ListOptions{Collection: "projects"})
	require.NoError(t, err)
	require.JSONEq(t, today, string(page.Items[0].Body))

	require.NoError(t, write(t, w, shop, today))
	stored, err := w.below.Get(t.Context(), shop)
	require.NoError(t, err)
	require.JSONEq(t, today, string(stored.Body))
	require.Equal(t, 2, stored.Schema)
	require.EqualValues(t, 2, stored.Revision)

	require.NoError(t, write(t, w.below, shop, `{"broken":1}`), "by an older program")
	_, err = w.Get(t.Context(), shop)
	require.ErrorContains(t, err, "the stored document projects/shop is of an older Signpost and cannot be read: no name")
}

// TestNothingIsWrittenThatAnOlderReplicaWouldLose while one runs; what it knows
// all of is written by both.
func TestNothingIsWrittenThatAnOlderReplicaWouldLose(t *testing.T) {
	w := newWorld()
	w.register(t, "signpost-a", newReplica)
	w.register(t, "signpost-b", oldReplica)
	require.NoError(t, write(t, w, shop, `{"spec":{"namespace":"shop"}}`))
	err := write(t, w, shop, `{"spec":{"namespace":"shop","domains":["lab.example"]}}`)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "projects/shop cannot have /spec/domains yet: replica signpost-b is of an older Signpost, which would lose it; upgrade all replicas first")

	w.register(t, "signpost-b", newReplica)
	require.NoError(t, write(t, w, shop, `{"spec":{"namespace":"shop","domains":["lab.example"]}}`))
}

// identity is what programs from before schema versions make of the document
// about the installation when they start.
func identity(t *testing.T, below intent.Store) (string, error) {
	doc, err := below.Get(t.Context(), schema.InstallationPath())
	require.NoError(t, err)
	var id string
	err = json.Unmarshal(doc.Body, &id)
	return id, err
}

// TestAnOlderProgramStartsUntilItWouldLoseSomething: an upgrade can be taken
// back as long as nothing new is used.
func TestAnOlderProgramStartsUntilItWouldLoseSomething(t *testing.T) {
	w := newWorld()
	require.NoError(t, write(t, w.below, schema.InstallationPath(), `"abc"`))
	require.NoError(t, write(t, w, shop, `{"spec":{"namespace":"shop"}}`))
	doc, err := w.Get(t.Context(), schema.InstallationPath())
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"abc"}`, string(doc.Body), "newer programs read both forms")
	id, err := identity(t, w.below)
	require.NoError(t, err)
	require.Equal(t, "abc", id)

	w.register(t, "signpost-b", oldReplica)
	require.Error(t, write(t, w, shop, `{"spec":{"domains":["lab.example"]}}`))
	_, err = identity(t, w.below)
	require.NoError(t, err, "a refused write shuts nobody out")

	w.register(t, "signpost-b", newReplica)
	require.NoError(t, write(t, w, shop, `{"spec":{"domains":["lab.example"]}}`))
	_, err = identity(t, w.below)
	require.ErrorContains(t, err, "cannot unmarshal object")
	require.NoError(t, write(t, w, shop, `{"spec":{"domains":["lab.example","x.example"]}}`), "and the door stays shut")
}

// TestAnOlderReplicaThatStartsMeanwhileIsSeen: between the first look and the
// door.
func TestAnOlderReplicaThatStartsMeanwhileIsSeen(t *testing.T) {
	w := newWorld()
	require.NoError(t, write(t, w.below, schema.InstallationPath(), `"abc"`))
	looked := false
	w.kv.After = func(op, key string) error {
		if op == "range" && key == memberKey && !looked {
			looked = true
			w.register(t, "signpost-b", oldReplica)
		}
		return nil
	}
	require.ErrorContains(t, write(t, w, shop, `{"spec":{"domains":["lab.example"]}}`), "replica signpost-b")
}

func TestALostStoreIsNoReasonToGoOn(t *testing.T) {
	away := &intent.Error{Code: intent.Unavailable, Detail: "away"}
	for _, failing := range []string{memberKey, "/signpost/doc/installation//id"} {
		w := newWorld()
		require.NoError(t, write(t, w.below, schema.InstallationPath(), `"abc"`))
		w.kv.Before = func(_, key string) error {
			if key == failing {
				return away
			}
			return nil
		}
		err := write(t, w, shop, `{"spec":{"domains":["lab.example"]}}`)
		require.Equal(t, intent.Unavailable, intent.CodeOf(err), failing)
		w.kv.Before = nil
		_, err = w.Get(t.Context(), shop)
		require.Equal(t, intent.NotFound, intent.CodeOf(err))
	}
}
