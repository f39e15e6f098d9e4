package documents_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/documents"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/storetest"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// Own documents are kept as the wrapped store keeps them, whatever EMCO keeps.
func TestOwnDocumentsConform(t *testing.T) {
	options := storetest.Options{New: func(t *testing.T) storetest.Data {
		w := newWorld(t)
		cloudsOnly := func(o *documents.Options) { o.Orchestrator, o.CLM = nil, nil }
		return storetest.Data{
			Open: func(*testing.T) intent.Store { return w.store(cloudsOnly) },
			Crashing: func(_ *testing.T, step func(string) error) intent.Store {
				options := w.store(cloudsOnly).Options
				return documents.New(etcd.New(kvtest.Stepping{KV: w.data, Step: step}), options)
			},
		}
	}}
	storetest.Run(t, options)
	storetest.RunCrashes(t, options)
}

func TestDocumentsOfEMCOAreSignposts(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	for _, c := range []struct {
		reason string
		path   intent.Path
		want   string
	}{
		{"a project has a namespace of its own", shop, `{"metadata":{"name":"shop","description":"the shop","userData1":"a"},"spec":{"namespace":"signpost-shop"}}`},
		{"a composite app", "projects/shop/composite-apps/store/v1", `{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v1"}}`},
		{"a group's apps are its composite app's", prod, `{"metadata":{"name":"prod"},"spec":{"logicalCloud":"eu","apps":[{"name":"web"},{"name":"cart"}]}}`},
		{"a logical cloud", eu, `{"metadata":{"name":"eu"},"spec":{"namespace":"shop-eu"}}`},
		{"one of level 0 is in namespace default", "projects/shop/logical-clouds/admin", `{"metadata":{"name":"admin"},"spec":{"namespace":"default"}}`},
		{"one without a namespace", "projects/shop/logical-clouds/us", `{"metadata":{"name":"us"},"spec":{"namespace":"us"}}`},
		{"a cluster reference", eu.Child("cluster-references", "paris"), `{"metadata":{"name":"paris"},"spec":{"clusterProvider":"edge","cluster":"paris"}}`},
		{"values of any type", eu.Child("kv-pairs", intent.AssociationName), `{"metadata":{"name":"dns-update-record-list"},"spec":{"kv":[{"key1":"lab"},{"n":1.50}]}}`},
		{"no values", paris.Child("kv-pairs", intent.AssociationName), `{"metadata":{"name":"dns-update-record-list"},"spec":{"kv":[]}}`},
		{"a cluster provider", "cluster-providers/edge", `{"metadata":{"name":"edge"},"spec":{}}`},
		{"labels are plain words", paris, `{"metadata":{"name":"paris"},"spec":{"kubeconfigRef":"emco:edge+paris:digest}","labels":{"big":"","west":""}}}`},
	} {
		doc := w.get(s, c.path)
		require.Equal(t, c.path, doc.Path, c.reason)
		require.Equal(t, c.want, string(doc.Body), c.reason)
		require.EqualValues(t, 1, doc.Revision, c.reason)
		require.NotEmpty(t, doc.UID, c.reason)
		require.False(t, doc.CreatedAt.IsZero(), c.reason)
	}
}

func TestListsOfEMCOAreOrdered(t *testing.T) {
	w := newWorld(t)
	w.fail(eu.Child("cluster-references", "")[:len(eu)+len("/cluster-references")], 400, "No Cluster References associated\n")
	s := w.store()
	for collection, want := range map[string][]string{
		"projects":                                             {"Lab", "shop"},
		"projects/shop/composite-apps":                         {"store/v1", "store/v2"},
		prod.Collection():                                      {"prod"},
		string(eu) + "/kv-pairs":                               {}, // null
		string(paris) + "/kv-pairs":                            {}, // []
		string(eu) + "/cluster-references":                     {}, // 400
		"projects/none/logical-clouds/none/cluster-references": {}, // 404
		"projects/../projects/logical-clouds/x/kv-pairs":       {}, // never asked
		"cluster-providers/edge/clusters":                      {"flux", "paris"},
	} {
		require.Equal(t, want, w.names(s, collection), collection)
	}
	first, err := s.List(t.Context(), intent.ListOptions{Collection: "projects", Limit: 1})
	require.NoError(t, err)
	require.Len(t, first.Items, 1)
	second, err := s.List(t.Context(), intent.ListOptions{Collection: "projects", Limit: 1, Continue: first.Continue})
	require.NoError(t, err)
	require.Equal(t, shop, second.Items[0].Path)
	require.Empty(t, second.Continue)
	filtered, err := s.List(t.Context(), intent.ListOptions{Collection: "projects", NamePrefix: "s"})
	require.NoError(t, err)
	require.Len(t, filtered.Items, 1)
	_, err = s.List(t.Context(), intent.ListOptions{Collection: "projects", Continue: "%"})
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
}

// A cluster that its provider still lists has gone when its labels or its
// kubeconfig are read.
func TestAListThatChangesMeanwhileLeavesOutWhatHasGone(t *testing.T) {
	w := newWorld(t)
	w.say(paris+" as a file", "")
	require.Equal(t, []string{"flux"}, w.names(w.store(), "cluster-providers/edge/clusters"))
	_, err := w.store().Get(t.Context(), paris)
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
}

func TestOddNamesAreNotAskedFor(t *testing.T) {
	w := newWorld(t)
	w.meanwhile(func(path string) { t.Error("asked for " + path) })
	for _, path := range []intent.Path{"projects/..", "projects/.", "projects/a?b", "projects/a%2fb", "projects/a b", "projects/../logical-clouds/eu", "cluster-providers/é"} {
		_, err := w.store().Get(t.Context(), path)
		require.Equal(t, intent.NotFound, intent.CodeOf(err), path)
	}
	_, err := w.store().Get(t.Context(), "projects")
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
}

// Each kind comes from its own service, or from the own store.
func TestServicesMayBeMissing(t *testing.T) {
	own := map[string]intent.Path{"orchestrator": "projects/own", "DCM": "projects/shop/logical-clouds/own", "CLM": "cluster-providers/own"}
	for missing, path := range own {
		w := newWorld(t)
		s := w.store(func(o *documents.Options) {
			switch missing {
			case "orchestrator":
				o.Orchestrator = nil
			case "DCM":
				o.DCM = nil
			case "CLM":
				o.CLM = nil
			}
		})
		_, err := s.Put(t.Context(), intent.Write{Path: path, Body: []byte(`{}`)})
		require.NoError(t, err, missing)
		require.Equal(t, []string{"own"}, w.names(s, path.Collection()), missing)
		for other, theirs := range own {
			if other == missing {
				continue
			}
			_, err := s.Put(t.Context(), intent.Write{Path: theirs, Body: []byte(`{}`)})
			require.Equal(t, intent.Conflict, intent.CodeOf(err), "%s without %s", theirs, missing)
		}
	}
}

func TestWritesSayWhereEMCOsDocumentsAreWritten(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	for path, service := range map[intent.Path]string{
		shop: "orchestrator", "projects/shop/composite-apps/store/v3": "orchestrator", prod: "orchestrator",
		eu: "DCM", eu.Child("cluster-references", "x"): "DCM", eu.Child("kv-pairs", "x"): "DCM",
		"cluster-providers/edge": "CLM", paris: "CLM", paris.Child("kv-pairs", "x"): "CLM",
	} {
		_, err := s.Put(t.Context(), intent.Write{Path: path, Body: []byte(`{}`)})
		for _, err := range []error{err, s.Delete(t.Context(), path, intent.Always()), s.ExternallyManaged(path)} {
			require.Equal(t, intent.Conflict, intent.CodeOf(err), path)
			require.ErrorContains(t, err, "EMCO's "+service+" ("+w.server.URL+")")
			require.ErrorContains(t, err, "write it there")
		}
	}
	for _, path := range []intent.Path{lab, eu.Child("dns-cr-intents", "x"), prod.Child("traffic-group-intents", "front")} {
		require.NoError(t, s.ExternallyManaged(path))
	}
}

func TestANamespaceIsItsProjects(t *testing.T) {
	w := newWorld(t)
	for namespace, project := range map[string]string{"signpost-shop": "shop", "signpost-lab": "Lab", "shop": ""} {
		holder, err := w.store().NamespaceHolder(t.Context(), namespace)
		require.NoError(t, err)
		require.Equal(t, project, holder)
	}
}

func TestRevisionsAndIdentitiesAreGiven(t *testing.T) {
	w := newWorld(t)
	first := w.get(w.store(), eu)
	w.pass(documents.DefaultFresh)
	require.Equal(t, first, w.get(w.store(), eu), "unchanged, on another replica")
	w.say(eu, strings.Replace(answers()[string(eu)], "shop-eu", "moved", 1))
	second := w.get(w.store(), eu)
	require.EqualValues(t, 2, second.Revision, "changed")
	require.Equal(t, first.UID, second.UID)
	w.say(eu, answers()[string(eu)])
	require.EqualValues(t, 3, w.get(w.store(), eu).Revision, "changed back")

	w.say(eu, "")
	_, err := w.store().Get(t.Context(), eu)
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	w.say(eu, answers()[string(eu)])
	again := w.get(w.store(), eu)
	require.NotEqual(t, first.UID, again.UID, "recreated")
	require.EqualValues(t, 1, again.Revision)
}

// What EMCO adds to a document without a meaning here is no change.
func TestFieldsWithoutMeaningAreNoChange(t *testing.T) {
	w := newWorld(t)
	first := w.get(w.store(), prod)
	w.say(prod, strings.Replace(answers()[string(prod)], `"r1"`, `"r2","more":[1]`, 1))
	require.Equal(t, first, w.get(w.store(), prod))
	w.say("projects/shop/composite-apps/store/v1/apps", `[{"metadata":{"name":"web"}}]`)
	require.EqualValues(t, 2, w.get(w.store(), prod).Revision, "an app less is one")
}

func TestReferencesToEMCOsDocuments(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	write := intent.Write{Path: lab, Body: []byte(`{}`), Refs: []intent.Path{shop, paris, "projects/shop"}}
	stored, err := s.Put(t.Context(), write)
	require.NoError(t, err)
	require.Equal(t, []intent.Path{paris, shop}, stored.Refs)
	require.Equal(t, stored, w.get(s, lab))
	page, err := s.List(t.Context(), intent.ListOptions{Collection: lab.Collection()})
	require.NoError(t, err)
	require.Equal(t, []intent.Document{stored}, page.Items)
	again, err := s.Put(t.Context(), write)
	require.NoError(t, err)
	require.Equal(t, stored, again, "the same again changes nothing")
	by, err := s.Referrers(t.Context(), paris)
	require.NoError(t, err)
	require.Equal(t, []intent.Path{lab}, by)
	const namespace intent.Path = "namespaces/x"
	_, err = s.Put(t.Context(), intent.Write{Path: namespace, Body: []byte(`{}`)})
	require.NoError(t, err)
	write.Refs = []intent.Path{namespace, paris}
	stored, err = s.Put(t.Context(), write)
	require.NoError(t, err)
	require.Equal(t, []intent.Path{paris, namespace}, stored.Refs, "in order")

	_, err = s.Put(t.Context(), intent.Write{Path: lab, Body: []byte(`{}`), Refs: []intent.Path{shop, "cluster-providers/edge/clusters/rome"}})
	var missing *intent.MissingReference
	require.ErrorAs(t, err, &missing)
	require.Equal(t, intent.MissingReference{From: lab, To: "cluster-providers/edge/clusters/rome"}, *missing)
}

// EMCO may delete what a document refers to. It keeps its identity until it
// comes back, and the document can go.
func TestADocumentThatIsReferredToKeepsItsIdentity(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	first := w.get(s, paris)
	_, err := s.Put(t.Context(), intent.Write{Path: lab, Body: []byte(`{}`), Refs: []intent.Path{paris}})
	require.NoError(t, err)
	w.say(paris, "")
	_, err = s.Get(t.Context(), paris)
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	by, err := s.Referrers(t.Context(), paris)
	require.NoError(t, err)
	require.Equal(t, []intent.Path{lab}, by)
	_, err = s.Put(t.Context(), intent.Write{Path: lab, Body: []byte(`{"changed":true}`), Refs: []intent.Path{paris}})
	require.ErrorContains(t, err, string(paris), "a user's document names what exists")
	w.say(paris, answers()[string(paris)])
	require.Equal(t, first, w.get(s, paris))
	w.say(paris, "")
	require.NoError(t, s.Delete(t.Context(), lab, intent.Always()))
	_, err = s.Get(t.Context(), paris)
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	w.say(paris, answers()[string(paris)])
	require.NotEqual(t, first.UID, w.get(s, paris).UID)
}

// A lifecycle goes on without EMCO: what it relies on was read before.
func TestInternalDocumentsReferWithoutAsking(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	w.get(s, prod)
	lifecycle := intent.Write{Path: intent.Join(intent.LifecycleCollection, string(prod)), Body: []byte(`{}`), Refs: []intent.Path{prod}}
	w.server.Close()
	w.pass(documents.DefaultStale)
	stored, err := s.Put(t.Context(), lifecycle)
	require.NoError(t, err)
	require.Equal(t, []intent.Path{prod}, stored.Refs)
	lifecycle.Refs = []intent.Path{eu}
	_, err = s.Put(t.Context(), lifecycle)
	w.requireUnavailable(err, "DCM") // nobody has read it
}

// Many replicas that see a document for the first time, at once, agree on it.
func TestFirstReadersAgree(t *testing.T) {
	w := newWorld(t)
	var group sync.WaitGroup
	docs := make([]intent.Document, 16)
	for i := range docs {
		s := w.store()
		group.Go(func() {
			var err error
			if docs[i], err = s.Get(t.Context(), paris); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, doc := range docs {
		require.Equal(t, docs[0], doc)
	}
	require.EqualValues(t, 1, docs[0].Revision)
}
