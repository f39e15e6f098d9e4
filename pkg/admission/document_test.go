package admission_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func mustJSON(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	return string(raw)
}

func TestNamesWithOddCharactersAreRefused(t *testing.T) {
	w := newShop(t)
	for _, name := range []string{"", ".", "..", "-a", "a-", "a b", "a/b", "ä", "a\n", strings.Repeat("a", 64)} {
		raw := mustJSON(t, map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{}})
		_, err := w.admitter.Admit(t.Context(), "cluster-providers/x", []byte(raw), nil)
		assertFields(t, err, intent.Invalid, map[string]string{"/metadata/name": "not a name"})
	}
	_, err := w.admitter.Admit(t.Context(), "cluster-providers/x", []byte(`{"metadata":{"name":"y"},"spec":{}}`), nil)
	assertFields(t, err, intent.Invalid, map[string]string{"/metadata/name": `the path names "x"`})
}

func TestParentsThatDoNotExistAreNotFound(t *testing.T) {
	w := newShop(t)
	cases := map[intent.Path]string{
		"projects/none/dns-update-records/lab":                                "projects/none",
		"projects/none/logical-clouds/eu/kv-pairs/x":                          "projects/none",
		"cluster-providers/edge/clusters/none/kv-pairs/x":                     "cluster-providers/edge/clusters/none",
		"projects/shop/composite-apps/store/v2/deployment-intent-groups/prod": "projects/shop/composite-apps/store/v2",
	}
	for path, missing := range cases {
		_, err := w.admit(path, `{}`)
		assert.Equal(t, intent.NotFound, intent.CodeOf(err))
		assert.ErrorContains(t, err, missing+" does not exist")
	}
}

func TestEveryKindIsAdmitted(t *testing.T) {
	for _, kind := range intent.Kinds() {
		assert.True(t, admission.Admits(kind), kind.Shape)
	}
}

func TestPathsOfNoResourceAreNotFound(t *testing.T) {
	w := newWorld(t)
	for _, path := range []intent.Path{"", "projects", "things/x", "projects/shop/kv-pairs/x", "secrets/x", "namespaces/x", "lifecycle/projects/shop",
		"projects/shop/composite-apps/store", "/", "//", "projects//dns-update-records/x"} {
		_, err := w.admitter.Admit(t.Context(), path, []byte(`{}`), nil)
		assert.Equal(t, intent.NotFound, intent.CodeOf(err), "%q: %v", path, err)
		_, err = w.admitter.View(t.Context(), intent.Document{Path: path})
		assert.Equal(t, intent.NotFound, intent.CodeOf(err), "%q", path)
	}
}

func TestBodiesThatAreNoDocumentAreRefused(t *testing.T) {
	w := newShop(t)
	for _, raw := range []string{``, `null`, `[]`, `"x"`, `{`, `{"metadata":1}`, `{"metadata":{"name":"lab"},"spec":[]}`,
		`{"metadata":{"name":"lab"},"spec":{"provider":1}}`, strings.Repeat(`{"spec":`, 20000), strings.Repeat(`[`, 20000)} {
		_, err := w.admitter.Admit(t.Context(), lab, []byte(raw), nil)
		assert.Equal(t, intent.Invalid, intent.CodeOf(err), "%.40s", raw)
	}
	_, err := w.admitter.Admit(t.Context(), lab, []byte(`{"metadata":{"name":"lab"},"spec":{"provider":1}}`), nil)
	assertFields(t, err, intent.Invalid, map[string]string{"/spec/provider": "string"})
}

func TestMetadataIsKeptAndTheServersOwnIsNot(t *testing.T) {
	w := newWorld(t)
	write, err := w.admitter.Admit(t.Context(), "projects/shop", []byte(
		`{"metadata":{"name":"shop","description":"d","userdata1":"1","userData2":"2","revision":9,"createdAt":"2020-01-01T00:00:00Z"},"spec":{},"status":{"x":1}}`), nil)
	require.NoError(t, err)
	doc := w.put(write)
	assert.JSONEq(t, `{"metadata":{"name":"shop","description":"d","userData1":"1","userData2":"2"},"spec":{"namespace":"signpost-shop"}}`, string(doc.Body))
	view, err := w.admitter.View(t.Context(), doc)
	require.NoError(t, err)
	assert.Equal(t, int64(1), view.Metadata.Revision)
	assert.Equal(t, doc.CreatedAt, *view.Metadata.CreatedAt)
	assert.Nil(t, view.Status)
}

func TestAParentThatGoesMeanwhileIsNotFound(t *testing.T) {
	w := newShop(t)
	write, err := w.admit("projects/other/logical-clouds/x", `{}`)
	require.NoError(t, err)
	require.NoError(t, w.store.Delete(t.Context(), "projects/other/dns-update-records/theirs", intent.Always()))
	private := w.old("cluster-providers/edge/clusters/private")
	require.NoError(t, w.store.Delete(t.Context(), private.Path, intent.Always()))
	require.NoError(t, w.admitter.Delete(t.Context(), "projects/other", intent.Always()))
	_, err = w.admitter.Put(t.Context(), write)
	assert.Equal(t, intent.NotFound, intent.CodeOf(err))
}

func TestADocumentThatChangedMeanwhileIsNotOverwritten(t *testing.T) {
	w := newShop(t)
	write, err := w.admit(lab, coredns(``))
	require.NoError(t, err)
	w.must(lab, coredns(`,"suspend":true`))
	_, err = w.admitter.Put(t.Context(), write)
	assert.Equal(t, intent.PreconditionFailed, intent.CodeOf(err))
	assert.Equal(t, true, w.spec(lab)["suspend"])
}

func TestCompositeAppsAreNamedByNameAndVersion(t *testing.T) {
	refused(t, []refusal{
		{reason: "another version than the path's", path: "projects/shop/composite-apps/store/v2", spec: `{"compositeAppVersion":"v3"}`,
			errors: map[string]string{"/spec/compositeAppVersion": `the path names "v2"`}},
		{reason: "not a version", path: "projects/shop/composite-apps/store/v2", spec: `{}`, errors: map[string]string{"/spec/compositeAppVersion": "not a version"}},
	})
}

func TestKVPairs(t *testing.T) {
	cloud, cluster := eu.Child("kv-pairs", intent.AssociationName), hub.Child("kv-pairs", intent.AssociationName)
	free := eu.Child("kv-pairs", "settings")
	refused(t, []refusal{
		{reason: "no pair, several keys, no value", path: free, spec: `{"kv":[{},{"a":"1","b":"2"},{"d":null}]}`,
			errors: map[string]string{"/spec/kv/0": "0 keys", "/spec/kv/1": "2 keys", "/spec/kv/2/d": "has no value"}},
		{reason: "a record that is not a string", path: cloud, spec: `{"kv":[{"a":3},{"b":{"x":[]}}]}`,
			errors: map[string]string{"/spec/kv/0/a": "is not a string", "/spec/kv/1/b": "is not a string"}},
		{reason: "a key twice", path: free, spec: `{"kv":[{"a/b":"1"},{"a/b":"2"}]}`, errors: map[string]string{"/spec/kv/1/a~1b": "/spec/kv/0/a~1b already"}},
		{reason: "an empty key", path: free, spec: `{"kv":[{"":"1"}]}`, errors: map[string]string{"/spec/kv/0/": "empty key"}},
		{reason: "no record's name", path: cloud, spec: `{"kv":[{"key1":"other/theirs"}]}`, errors: map[string]string{"/spec/kv/0/key1": "not a name of a provider"}},
		{reason: "no such record", path: cloud, code: intent.Conflict, spec: `{"kv":[{"key1":"lab"},{"key2":"none"}]}`,
			errors: map[string]string{"/spec/kv/1/key2": "projects/shop/dns-update-records/none, which does not exist"}},
		{reason: "another project's record", path: cloud, code: intent.Conflict, spec: `{"kv":[{"key1":"theirs"}]}`,
			errors: map[string]string{"/spec/kv/0/key1": "does not exist"}},
		{reason: "no project's record on a cluster", path: cluster, spec: `{"kv":[{"key1":"a b/lab"},{"key2":"shop/a/b"}]}`,
			errors: map[string]string{"/spec/kv/0/key1": "project/provider", "/spec/kv/1/key2": "not a name of a provider"}},
		{reason: "a record of a project that the cluster shuts out", path: "cluster-providers/edge/clusters/private/kv-pairs/dns-update-record-list", code: intent.Conflict,
			spec: `{"kv":[{"key1":"shop/lab"}]}`, errors: map[string]string{"/spec/kv/0/key1": "allows only the projects other"}},
	})
	accepted(t, []acceptance{
		{reason: "a logical cloud's association refers to records", path: cloud, spec: `{"kv":[{"key1":"lab"}]}`, stored: `{"kv":[{"key1":"lab"}]}`, refs: []intent.Path{lab}},
		{reason: "a cluster's names projects, or none", path: cluster, spec: `{"kv":[{"key1":"shop/lab"},{"key2":"none"}]}`,
			stored: `{"kv":[{"key1":"shop/lab"},{"key2":"none"}]}`, refs: []intent.Path{lab}},
		{reason: "other documents hold any value", path: free, spec: `{"kv":[{"a":""},{"b":[1,{"x":"y"}]}]}`, stored: `{"kv":[{"a":""},{"b":[1,{"x":"y"}]}]}`},
		{reason: "none at all", path: free, spec: `{}`, stored: `{"kv":[]}`},
	})
}

func hostnameOf(t *testing.T, write *review.Write) string {
	t.Helper()
	raw, err := write.Body()
	require.NoError(t, err)
	var stored intent.Resource[intent.DNSIntent]
	require.NoError(t, json.Unmarshal(raw, &stored))
	require.Len(t, stored.Spec.Hostnames, 1)
	return stored.Spec.Hostnames[0]
}

func FuzzBodiesNeverPanic(f *testing.F) {
	paths := []intent.Path{shop, lab, eu, hub, prod, www, store, eu.Child("cluster-references", "berlin"), eu.Child("kv-pairs", intent.AssociationName)}
	for i := range paths {
		f.Add(byte(i), `{"provider":"coredns","external-dns-parameters":{"x":[[{}]]},"credentials":[{}],"verify":null,"targetFilter":{}}`)
		f.Add(byte(i), `{"kv":[{"a":null}],"apps":[{"manifests":[null],"clusters":[{}]}],"hostnames":[""],"routing":{},"dns":{}}`)
	}
	w := newShop(&testing.T{})
	f.Fuzz(func(t *testing.T, which byte, spec string) {
		path := paths[int(which)%len(paths)]
		write, err := w.admit(path, spec)
		if err != nil {
			assert.NotEmpty(t, intent.CodeOf(err), "%v", err)
			return
		}
		raw, err := write.Body()
		require.NoError(t, err)
		_, err = w.admitter.View(t.Context(), intent.Document{Path: path, Body: raw})
		require.NoError(t, err)
	})
}
