package admission_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// Paths that the stories below speak of.
const (
	shop  intent.Path = "projects/shop"
	lab   intent.Path = "projects/shop/dns-update-records/lab"
	eu    intent.Path = "projects/shop/logical-clouds/eu"
	hub   intent.Path = "cluster-providers/edge/clusters/hub"
	store intent.Path = "projects/shop/composite-apps/store/v1"
	prod  intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	front intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents/front"
	www   intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents/front/dns-intents/www"
)

// world is a store with an Admitter before it, and a seal that counts.
type world struct {
	*testing.T
	store    intent.Store
	admitter *admission.Admitter
	sealed   map[string]string // id to field and value
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, etcd.New(kvtest.NewFake()))
}

func newWorldOn(t *testing.T, documents intent.Store) *world {
	t.Helper()
	return &world{T: t, store: documents, sealed: map[string]string{}, admitter: admission.New(documents, review.Rules{
		ImageRegistry: "mirror.example:5000",
		Kubeconfig: func(yaml []byte) (expires time.Time, err error) {
			if !bytes.HasPrefix(yaml, []byte("apiVersion:")) {
				return time.Time{}, errors.New("it is not a Config of apiVersion v1")
			}
			return time.Date(2026, 12, 2, 9, 30, 0, 0, time.UTC), nil
		},
	})}
}

// newShop is a world in which the main story was posted, up to its intent.
func newShop(t *testing.T) *world {
	t.Helper()
	return newShopOn(t, etcd.New(kvtest.NewFake()))
}

func newShopOn(t *testing.T, documents intent.Store) *world {
	t.Helper()
	w := newWorldOn(t, documents)
	w.must("projects/shop", `{"namespace":"shop-dns"}`)
	w.must("projects/other", `{"namespace":"other-dns"}`)
	w.must("cluster-providers/edge", `{}`)
	for _, name := range []string{"hub", "berlin", "paris"} {
		w.must(intent.Join("cluster-providers/edge/clusters", name), `{}`)
	}
	w.must("cluster-providers/edge/clusters/private", `{"projects":["other"]}`)
	w.must(lab, `{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"]},"environment":{"ETCD_URLS":"http://10.0.0.5:2379"}}`)
	w.must("projects/other/dns-update-records/theirs", `{"provider":"coredns"}`)
	w.must(eu, `{"namespace":"shop"}`)
	w.must(eu.Child("cluster-references", "berlin"), `{"clusterProvider":"edge","cluster":"berlin"}`)
	w.must(store, `{"compositeAppVersion":"v1"}`)
	w.must(prod, `{"logicalCloud":"eu","apps":[{"name":"web"},{"name":"api"}]}`)
	w.must(front, `{}`)
	return w
}

// body is the document of a path with the spec.
func body(path intent.Path, spec string) []byte {
	name, _, _ := strings.Cut(path.Name(), "/")
	return fmt.Appendf(nil, `{"metadata":{"name":%q},"spec":%s}`, name, spec)
}

// old is the document that a PUT to path replaces.
func (w *world) old(path intent.Path) *intent.Document {
	w.Helper()
	doc, err := w.store.Get(context.Background(), path)
	if intent.CodeOf(err) == intent.NotFound {
		return nil
	}
	require.NoError(w, err)
	return &doc
}

// admit admits a spec in the place of whatever is stored at path.
func (w *world) admit(path intent.Path, spec string) (*review.Write, error) {
	w.Helper()
	return w.admitter.Admit(context.Background(), path, body(path, spec), w.old(path))
}

// must stores a spec as an edge does.
func (w *world) must(path intent.Path, spec string) intent.Document {
	w.Helper()
	write, err := w.admit(path, spec)
	require.NoError(w, err)
	return w.put(write)
}

func (w *world) put(write *review.Write) intent.Document {
	w.Helper()
	for _, secret := range write.Secrets {
		id := fmt.Sprintf("seal%d", len(w.sealed)+1)
		w.sealed[id] = secret.Field + " = " + string(secret.Value)
		_, err := w.store.Put(context.Background(), intent.Write{Path: intent.Join(intent.SecretCollection, id), Body: []byte(`{}`)})
		require.NoError(w, err)
		secret.Set(id)
	}
	doc, err := w.admitter.Put(context.Background(), write)
	require.NoError(w, err)
	return doc
}

// spec is what is stored at path, decoded.
func (w *world) spec(path intent.Path) map[string]any {
	w.Helper()
	doc := w.old(path)
	require.NotNil(w, doc, "%s is not stored", path)
	stored, err := intent.Of[map[string]any](*doc)
	require.NoError(w, err)
	return stored.Spec
}

// shown is the document at path as users see it, as JSON.
func (w *world) shown(path intent.Path) string {
	w.Helper()
	view, err := w.admitter.View(context.Background(), *w.old(path))
	require.NoError(w, err)
	raw, err := json.Marshal(view)
	require.NoError(w, err)
	return string(raw)
}

// refusal is a body that must not be stored.
type refusal struct {
	reason string
	path   intent.Path
	spec   string
	code   intent.Code
	errors map[string]string // pointer to a part of its detail; all of them, and no others
}

// refused runs each refusal against the main story.
func refused(t *testing.T, cases []refusal) {
	t.Helper()
	w := newShop(t)
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			_, err := w.admit(c.path, c.spec)
			if c.code == "" {
				c.code = intent.Invalid
			}
			assertFields(t, err, c.code, c.errors)
		})
	}
}

func assertFields(t *testing.T, err error, code intent.Code, want map[string]string) {
	t.Helper()
	require.Error(t, err)
	assert.Equal(t, code, intent.CodeOf(err), "%v", err)
	var refusal *intent.Error
	require.ErrorAs(t, err, &refusal)
	got := map[string]string{}
	for _, f := range refusal.Fields {
		got[f.Pointer] += f.Detail
	}
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), "%v", err)
	for pointer, part := range want {
		assert.Contains(t, got[pointer], part, "at %s", pointer)
	}
}

// acceptance is a body that must be stored; stored is what becomes of its spec.
type acceptance struct {
	reason string
	path   intent.Path
	spec   string
	stored string
	refs   []intent.Path // among others
}

// accepted runs each acceptance against the main story.
func accepted(t *testing.T, cases []acceptance) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			w := newShop(t)
			doc := w.must(c.path, c.spec)
			raw, err := json.Marshal(w.spec(c.path))
			require.NoError(t, err)
			assert.JSONEq(t, c.stored, string(raw))
			assert.Subset(t, doc.Refs, c.refs)
			assert.Contains(t, append(doc.Refs, ""), c.path.Parent(), "a document refers to its parent")
		})
	}
}
