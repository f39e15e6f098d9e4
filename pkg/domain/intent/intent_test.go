package intent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestPathsComeApart(t *testing.T) {
	for _, c := range []struct{ path, collection, name, parent string }{
		{"projects/shop", "projects", "shop", ""},
		{"projects/shop/dns-update-records/lab", "projects/shop/dns-update-records", "lab", "projects/shop"},
		{"projects/shop/composite-apps/store/v1", "projects/shop/composite-apps", "store/v1", "projects/shop"},
		{"projects/shop/composite-apps/store/v1/deployment-intent-groups/prod", "projects/shop/composite-apps/store/v1/deployment-intent-groups", "prod", "projects/shop/composite-apps/store/v1"},
		{"projects/composite-apps/composite-apps/projects/v1", "projects/composite-apps/composite-apps", "projects/v1", "projects/composite-apps"},
		{"cluster-providers/edge/clusters/hub/kv-pairs/kv", "cluster-providers/edge/clusters/hub/kv-pairs", "kv", "cluster-providers/edge/clusters/hub"},
		{"lifecycle/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod", "lifecycle", "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod", ""},
		{"secrets/AB12", "secrets", "AB12", ""},
		{"namespaces/shop-dns", "namespaces", "shop-dns", ""},
		{"installation/id", "installation", "id", ""},
		{"projects/secrets", "projects", "secrets", ""},
	} {
		p := intent.Path(c.path)
		require.Equal(t, c.collection, p.Collection(), c.path)
		require.Equal(t, c.name, p.Name(), c.path)
		require.Equal(t, intent.Path(c.parent), p.Parent(), c.path)
	}
}

func TestSegmentsAreFoundByTheirCollection(t *testing.T) {
	prod := intent.Path("projects/shop/composite-apps/store/v1/deployment-intent-groups/prod")
	for collection, want := range map[string]string{
		"projects": "shop", "composite-apps": "store", "deployment-intent-groups": "prod", "shop": "", "store": "", "v1": "", "clusters": "",
	} {
		require.Equal(t, want, prod.Segment(collection), collection)
	}
	require.Equal(t, "composite-apps", intent.Path("projects/composite-apps/logical-clouds/eu").Segment("projects"))
	require.Equal(t, "eu", intent.Path("projects/projects/logical-clouds/eu").Segment("logical-clouds"))
}

// FuzzPathsStayWhole: what Split takes apart, Join puts together; a child's
// parent is the document that it was made of.
func FuzzPathsStayWhole(f *testing.F) {
	for _, path := range []string{"projects/shop", "projects/shop/composite-apps/store/v1", "lifecycle/projects/shop", "composite-apps/a/b", "a", "", "/", "a//b"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := intent.Path(text)
		collection, name := p.Split()
		if name != "" {
			require.Equal(t, p, intent.Join(collection, name))
		}
		require.Equal(t, collection, p.Collection())
		require.Equal(t, name, p.Name())
		require.True(t, p.Parent() == "" || strings.HasPrefix(text, string(p.Parent())+"/"), "%q is not a parent of %q", p.Parent(), text)
		first, _, _ := strings.Cut(text, "/")
		whole := name != "" && strings.Count(name, "/") == map[bool]int{true: 1}[strings.HasSuffix("/"+collection, "/composite-apps")]
		if internal := first == "lifecycle" || first == "secrets" || first == "installation" || first == "namespaces"; whole && !internal {
			child := p.Child("kv-pairs", "kv")
			require.Equal(t, p, child.Parent())
			require.Equal(t, "kv", child.Name())
		}
	})
}

func TestMetadataTakesBothSpellings(t *testing.T) {
	for _, c := range []struct{ reason, text, one, two string }{
		{"the API's", `{"name":"n","userData1":"a","userData2":"b"}`, "a", "b"},
		{"the seed's", `{"name":"n","userdata1":"a","userdata2":"b"}`, "a", "b"},
		{"mixed", `{"name":"n","userdata1":"a","userData2":"b"}`, "a", "b"},
		{"the API's wins", `{"name":"n","userdata1":"x","userData1":"a"}`, "a", ""},
		{"whatever comes last", `{"name":"n","userData1":"a","userdata1":"x"}`, "a", ""},
		{"none", `{"name":"n"}`, "", ""},
	} {
		var m intent.Metadata
		require.NoError(t, json.Unmarshal([]byte(c.text), &m), c.reason)
		require.Equal(t, "n", m.Name)
		require.Equal(t, []string{c.one, c.two}, []string{m.UserData1, m.UserData2}, c.reason)
	}
	var m intent.Metadata
	require.Error(t, json.Unmarshal([]byte(`{"name":1}`), &m))
	raw, err := json.Marshal(intent.Metadata{Name: "n", UserData1: "a"})
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"n","userData1":"a"}`, string(raw), "answers have one spelling")
}

func TestStoredDocumentsSpeakOfThemselves(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	doc := intent.Document{Path: "projects/shop", Revision: 3, CreatedAt: at, UpdatedAt: at.Add(time.Hour), Body: []byte(`{"metadata":{"name":"shop","revision":99},"spec":{"namespace":"shop-dns"}}`)}
	r, err := intent.Of[intent.Project](doc)
	require.NoError(t, err)
	require.Equal(t, "shop-dns", r.Spec.Namespace)
	require.Equal(t, int64(3), r.Metadata.Revision, "the store's, whatever was sent")
	require.Equal(t, at.Add(time.Hour), *r.Metadata.UpdatedAt)
	doc.Body = []byte(`{`)
	_, err = intent.Of[intent.Project](doc)
	require.ErrorContains(t, err, "projects/shop cannot be read")
}

func TestErrorsTellTheirCodeAndEverything(t *testing.T) {
	cause := errors.New("no leader")
	err := &intent.Error{Code: intent.Invalid, Detail: "the body is wrong", Fields: []intent.Field{{Pointer: "/a", Detail: "is missing"}, {Pointer: "/b", Detail: "is odd"}}, Err: cause}
	require.Equal(t, "the body is wrong; /a: is missing; /b: is odd: no leader", err.Error())
	require.ErrorIs(t, err, cause)
	require.Equal(t, intent.Invalid, intent.CodeOf(fmt.Errorf("outer: %w", err)))
	require.Equal(t, intent.Code(""), intent.CodeOf(cause))
	require.Equal(t, intent.Code(""), intent.CodeOf(nil))
	require.Equal(t, intent.NotFound, intent.CodeOf(intent.ErrNotFound("projects/shop")))
	require.Equal(t, intent.Conflict, intent.CodeOf(intent.ErrExists("projects/shop")))
	require.EqualError(t, &intent.MissingReference{From: "a/b", To: "c/d"}, "a/b refers to c/d, which does not exist")
	require.EqualError(t, &intent.Referenced{Path: "a/b", By: []intent.Path{"c/d", "e/f"}}, "a/b is referenced by c/d, e/f")
}

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		reason    string
		condition intent.Condition
		revision  int64
		want      intent.Code
	}{
		{"always, on nothing", intent.Always(), 0, ""},
		{"always, on something", intent.Always(), 7, ""},
		{"the zero value is always", intent.Condition{}, 7, ""},
		{"absent, on nothing", intent.IfAbsent(), 0, ""},
		{"absent, on something", intent.IfAbsent(), 7, intent.Conflict},
		{"a revision, on it", intent.IfRevision(7), 7, ""},
		{"a revision, on another", intent.IfRevision(6), 7, intent.PreconditionFailed},
		{"a revision, on nothing", intent.IfRevision(6), 0, intent.PreconditionFailed},
	} {
		require.Equal(t, c.want, intent.CodeOf(c.condition.Check("projects/shop", c.revision)), c.reason)
	}
}

func TestCredentialsAreToldApartByTheirPlace(t *testing.T) {
	require.Equal(t, "environment A", intent.Credential{Environment: "A"}.Key())
	require.Equal(t, "file /a", intent.Credential{File: "/a"}.Key())
}

func TestClustersAreOneWordAndOneDocument(t *testing.T) {
	ref := intent.ClusterRef{ClusterProvider: "edge", Cluster: "hub"}
	require.Equal(t, "edge+hub", ref.String())
	require.Equal(t, intent.Path("cluster-providers/edge/clusters/hub"), ref.Path())
}

func TestAContextIDHasOneSpelling(t *testing.T) {
	for _, id := range []string{"0", "7", "9223372036854775807"} {
		require.True(t, intent.IsContextID(id), id)
	}
	for _, text := range []string{"", "x", "-1", "+1", "01", "1_0", "0x1", "1/", "9223372036854775808", "١", "<nil>"} {
		require.False(t, intent.IsContextID(text), text)
	}
}

func TestActionsHaveAPassive(t *testing.T) {
	for action, want := range map[intent.Action]string{
		intent.Instantiate: "instantiated", intent.Update: "updated", intent.Rollback: "rolled back", intent.Terminate: "terminated",
	} {
		require.Equal(t, want, action.Done())
	}
}

// TestNobodySeesAnything: what Signpost does by itself tells nobody of
// projects.
func TestNobodySeesAnything(t *testing.T) {
	require.False(t, intent.By(t.Context()).Sees("shop"))
	ctx := intent.As(t.Context(), intent.Actor{Subject: "anna", Reads: func(project string) bool { return project == "shop" }})
	require.Equal(t, "anna", intent.By(ctx).Subject)
	require.True(t, intent.By(ctx).Sees("shop"))
	require.False(t, intent.By(ctx).Sees("lab"))
	require.Equal(t, "project shop", intent.By(ctx).Project("shop"))
	require.Equal(t, "another project", intent.By(ctx).Project("lab"))
	require.Equal(t, "projects/shop/logical-clouds/eu", intent.By(ctx).Names("projects/shop/logical-clouds/eu"))
	require.Equal(t, "another project", intent.By(ctx).Names("projects/lab/logical-clouds/eu"))
}

// TestWithinAProjectNoOtherIsSeen, but it is still the same one who asks.
func TestWithinAProjectNoOtherIsSeen(t *testing.T) {
	root := intent.Actor{Subject: "root", RequestID: "r1", Reads: func(string) bool { return true }}
	within := intent.By(intent.Within(intent.As(t.Context(), root), "shop"))
	require.Equal(t, "root", within.Subject)
	require.Equal(t, "r1", within.RequestID)
	require.True(t, within.Sees("shop"))
	require.False(t, within.Sees("bank"))
}
