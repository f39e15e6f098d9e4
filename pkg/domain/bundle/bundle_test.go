package bundle_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// parse makes an object of app web on edge+hub.
func parse(t testing.TB, text string) bundle.Object {
	o, err := bundle.Parse("edge+hub", "web", []byte(text))
	require.NoError(t, err, text)
	return o
}

func configMap(t testing.TB, name, value string) bundle.Object {
	return parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+name+`","namespace":"shop"},"data":{"v":"`+value+`"}}`)
}

func TestParseWritesObjectsCanonically(t *testing.T) {
	for _, c := range []struct{ reason, text, want string }{
		{"keys are sorted, white space goes", `{ "kind":"A","metadata":{"name":"n"}, "apiVersion":"v1" }`, `{"apiVersion":"v1","kind":"A","metadata":{"name":"n"}}`},
		{"a status is the cluster's", `{"apiVersion":"v1","kind":"A","metadata":{"name":"n"},"status":{"x":1}}`, `{"apiVersion":"v1","kind":"A","metadata":{"name":"n"}}`},
		{"a status below stays", `{"apiVersion":"v1","kind":"A","metadata":{"name":"n"},"spec":{"status":1}}`, `{"apiVersion":"v1","kind":"A","metadata":{"name":"n"},"spec":{"status":1}}`},
		{"unset creation times go, wherever they are", `{"apiVersion":"v1","kind":"A","metadata":{"name":"n","creationTimestamp":null},"l":[{"metadata":{"creationTimestamp":null}}]}`, `{"apiVersion":"v1","kind":"A","l":[{"metadata":{}}],"metadata":{"name":"n"}}`},
		{"a creation time stays", `{"apiVersion":"v1","kind":"A","metadata":{"name":"n","creationTimestamp":"2026"}}`, `{"apiVersion":"v1","kind":"A","metadata":{"creationTimestamp":"2026","name":"n"}}`},
		{"numbers stay as they are", `{"apiVersion":"v1","kind":"A","metadata":{"name":"n"},"v":[9007199254740993,1.50,1e400]}`, `{"apiVersion":"v1","kind":"A","metadata":{"name":"n"},"v":[9007199254740993,1.50,1e400]}`},
	} {
		o := parse(t, c.text)
		require.Equal(t, c.want, string(o.JSON), c.reason)
		require.Equal(t, o, parse(t, string(o.JSON)), c.reason)
		again, err := bundle.Stored("edge+hub", o.App, o.JSON)
		require.NoError(t, err, c.reason)
		require.Equal(t, o, again, c.reason)
	}
}

func TestParseIdentifiesObjects(t *testing.T) {
	for text, want := range map[string]bundle.ID{
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"}}`:      {Cluster: "edge+hub", Kind: "Service", Namespace: "shop", Name: "web"},
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"s"}}`: {Cluster: "edge+hub", Group: "apps", Kind: "Deployment", Namespace: "s", Name: "web"},
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`:                      {Cluster: "edge+hub", Kind: "Namespace", Name: "shop"},
	} {
		require.Equal(t, want, parse(t, text).ID)
	}
	require.Equal(t, "edge+hub Deployment.apps s/web", bundle.ID{Cluster: "edge+hub", Group: "apps", Kind: "Deployment", Namespace: "s", Name: "web"}.String())
	require.Equal(t, "edge+hub Namespace shop", bundle.ID{Cluster: "edge+hub", Kind: "Namespace", Name: "shop"}.String())
}

// TestFieldsAreReadByTheirExactNames: what differs in letter case is no field of
// Kubernetes, and says nothing about the object.
func TestFieldsAreReadByTheirExactNames(t *testing.T) {
	o := parse(t, `{"apiVersion":"v1","kind":"ConfigMap","Kind":"Secret","metadata":{"name":"a","NAME":"b","namespace":"shop",
		"nameſpace":"kube-system","Annotations":{"signpost.dev/keys":"own"},"Labels":{"a":"b"}},"data":{"n":1e400}}`)
	require.Equal(t, bundle.ID{Cluster: "edge+hub", Kind: "ConfigMap", Namespace: "shop", Name: "a"}, o.ID)
	require.False(t, o.Shared())
	head, err := o.Head()
	require.NoError(t, err)
	require.Equal(t, bundle.Head{APIVersion: "v1", Kind: "ConfigMap", Name: "a", Namespace: "shop"}, head)
}

func TestAnObjectIsSharedByItsAnnotation(t *testing.T) {
	require.True(t, parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"signpost.dev/keys":"own"}}}`).Shared())
	require.False(t, parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"signpost.dev/keys":"other"}}}`).Shared())
	require.False(t, bundle.Object{JSON: []byte(`{`)}.Shared())
}

func TestParseRefusesWhatIsNoObject(t *testing.T) {
	for _, text := range []string{
		``, `null`, `[]`, `"a"`, `{`, `{}`, `{"apiVersion":"v1","kind":"A"}`, `{"apiVersion":"v1","kind":"A","metadata":{"name":""}}`,
		`{"kind":"A","metadata":{"name":"n"}}`, `{"apiVersion":"v1","metadata":{"name":"n"}}`, `{"apiVersion":"v1","kind":"A","metadata":{"name":1}}`,
	} {
		_, err := bundle.Parse("edge+hub", "web", []byte(text))
		require.Error(t, err, text)
		_, err = bundle.Stored("edge+hub", "web", []byte(text))
		require.Error(t, err, text)
	}
	for metadata, want := range map[string]string{
		`{"name":1}`:                    "metadata.name: a string is expected in place of the number",
		`{"name":"n","labels":{"a":1}}`: "metadata.labels: a string is expected in place of the number",
		`{"name":"n","labels":["a"]}`:   "metadata.labels: a JSON object is expected in place of the array",
		`[]`:                            "metadata: a JSON object is expected in place of the array",
	} {
		_, err := bundle.Parse("edge+hub", "web", []byte(`{"apiVersion":"v1","kind":"A","metadata":`+metadata+`}`))
		require.EqualError(t, err, want)
	}
	_, err := bundle.New("edge+hub", "web", func() {})
	require.Error(t, err, "what does not marshal")
}

func TestDigestsFollowTheContentAlone(t *testing.T) {
	a := configMap(t, "c", "1")
	other := a
	other.App, other.Cluster = "api", "edge+paris"
	require.Equal(t, a.Digest(), other.Digest())
	require.NotEqual(t, a.Digest(), configMap(t, "c", "2").Digest())
	require.Regexp(t, `^[0-9a-f]{32}$`, a.Digest())
}

func TestCollectOrdersAndRefusesConflicts(t *testing.T) {
	a, b := configMap(t, "a", "1"), configMap(t, "b", "1")
	got, err := bundle.Collect([]bundle.Object{b, a, b})
	require.NoError(t, err)
	require.Equal(t, bundle.Bundle{a, b}, got)

	other := configMap(t, "b", "2")
	other.App = "api"
	_, err = bundle.Collect([]bundle.Object{b, other})
	require.ErrorContains(t, err, `apps "web" and "api" both hold edge+hub ConfigMap shop/b`)

	other.Cluster = "edge+paris"
	got, err = bundle.Collect([]bundle.Object{other, b})
	require.NoError(t, err)
	require.Len(t, got, 2, "another cluster's object is another")

	got, err = bundle.Collect(nil)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestCollectLeavesItsArgumentAsItIs(t *testing.T) {
	a, b := configMap(t, "a", "1"), configMap(t, "b", "1")
	given := []bundle.Object{b, a}
	_, err := bundle.Collect(given)
	require.NoError(t, err)
	require.Equal(t, []bundle.Object{b, a}, given)
}

func TestDiffTellsEveryObject(t *testing.T) {
	a1, a2, b, c := configMap(t, "a", "1"), configMap(t, "a", "2"), configMap(t, "b", "1"), configMap(t, "c", "1")
	for _, s := range []struct {
		reason   string
		old, new bundle.Bundle
		want     []bundle.Change
	}{
		{"nothing", nil, nil, nil},
		{"all is new", nil, bundle.Bundle{a1}, []bundle.Change{{Action: bundle.Create, ID: a1.ID, New: a1.JSON}}},
		{"all goes", bundle.Bundle{a1}, nil, []bundle.Change{{Action: bundle.Delete, ID: a1.ID, Old: a1.JSON}}},
		{"each in its place", bundle.Bundle{a1, b}, bundle.Bundle{a2, b, c}, []bundle.Change{
			{Action: bundle.Update, ID: a1.ID, Old: a1.JSON, New: a2.JSON},
			{Action: bundle.Unchanged, ID: b.ID, Old: b.JSON, New: b.JSON},
			{Action: bundle.Create, ID: c.ID, New: c.JSON},
		}},
		{"one for another", bundle.Bundle{b}, bundle.Bundle{a1, c}, []bundle.Change{
			{Action: bundle.Create, ID: a1.ID, New: a1.JSON},
			{Action: bundle.Delete, ID: b.ID, Old: b.JSON},
			{Action: bundle.Create, ID: c.ID, New: c.JSON},
		}},
	} {
		require.Equal(t, s.want, bundle.Diff(s.old, s.new), s.reason)
	}
}

// FuzzParse: what is accepted is canonical: parsed again, it stays as it is,
// and so does its identity.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","kind":"A","metadata":{"name":"n"}}`))
	f.Add([]byte(`{"apiVersion":"a/b/c","kind":"A","metadata":{"name":"<&>","creationTimestamp":null},"status":{}}`))
	f.Add([]byte(`{"APIVERSION":"v1","kind":"A","Kind":"B","metadata":{"name":"n"},"x":1e999}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := bundle.Parse("edge+hub", "web", raw)
		if err != nil {
			return
		}
		require.True(t, json.Valid(o.JSON))
		again, err := bundle.Parse("edge+hub", "web", o.JSON)
		require.NoError(t, err)
		require.Equal(t, o, again)
		require.NotEmpty(t, o.Name)
		require.NotEmpty(t, o.Kind)
		require.False(t, bytes.Contains(o.JSON, []byte(`"creationTimestamp":null`)) && !bytes.Contains(raw, []byte(`\"creationTimestamp\":null`)))
	})
}

// TestSharedObjectsAreMarked: only the mark makes an object somebody else's.
func TestSharedObjectsAreMarked(t *testing.T) {
	for metadata, want := range map[string]bool{
		`{"name":"a","annotations":{"signpost.dev/keys":"own"}}`:   true,
		`{"name":"a","annotations":{"signpost.dev/keys":"other"}}`: false,
		`{"name":"a","annotations":{}}`:                            false,
		`{"name":"a","labels":{"signpost.dev/keys":"own"}}`:        false,
		`{"name":"a"}`: false,
	} {
		o := parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":`+metadata+`}`)
		require.Equal(t, want, o.Shared(), metadata)
	}
}
