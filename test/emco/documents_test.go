package emco_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	documents "github.com/signpost-dns/signpost/pkg/emco/documents"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/test/emco"
)

// reader reads a world's documents as Signpost does.
func reader(t *testing.T, w *emco.World, now *time.Time) *documents.Store {
	t.Helper()
	var options documents.Options
	for to, service := range map[**url.URL]*emco.Service{&options.Orchestrator: w.Orchestrator, &options.DCM: w.DCM, &options.CLM: w.CLM} {
		base, err := url.Parse(service.URL)
		require.NoError(t, err)
		*to = base
	}
	options.Namespace = func(project string) string { return "signpost-" + project }
	options.Digest = func([]byte) string { return "digest" }
	options.Now = func() time.Time { return *now }
	options.Client = &http.Client{Timeout: 3 * time.Second}
	return documents.New(etcd.New(kvtest.NewFake()), options)
}

func TestSignpostReadsEMCOsDocuments(t *testing.T) {
	w := filled(t)
	now := time.Now()
	s := reader(t, w, &now)
	const (
		dig   intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
		cloud intent.Path = "projects/shop/logical-clouds/eu"
		paris intent.Path = "cluster-providers/edge/clusters/paris"
	)
	for path, want := range map[intent.Path]string{
		"projects/shop":                         `{"metadata":{"name":"shop","description":"the shop"},"spec":{"namespace":"signpost-shop"}}`,
		"projects/shop/composite-apps/store/v1": `{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v1"}}`,
		dig:                                     `{"metadata":{"name":"prod"},"spec":{"logicalCloud":"eu","apps":[{"name":"web"}]}}`,
		cloud:                                   `{"metadata":{"name":"eu"},"spec":{"namespace":"shop"}}`,
		cloud.Child("cluster-references", "paris"):        `{"metadata":{"name":"paris"},"spec":{"clusterProvider":"edge","cluster":"paris"}}`,
		cloud.Child("kv-pairs", "dns-update-record-list"): `{"metadata":{"name":"dns-update-record-list"},"spec":{"kv":[{"key1":"lab"}]}}`,
		"cluster-providers/edge":                          `{"metadata":{"name":"edge"},"spec":{}}`,
		paris:                                             `{"metadata":{"name":"paris"},"spec":{"kubeconfigRef":"emco:edge+paris:digest","labels":{"west":""}}}`,
		paris.Child("kv-pairs", "dns-update-record-list"): `{"metadata":{"name":"dns-update-record-list"},"spec":{"kv":[{"key1":"lab"}]}}`,
	} {
		doc, err := s.Get(t.Context(), path)
		require.NoError(t, err, path)
		require.JSONEq(t, want, string(doc.Body), path)
		page, err := s.List(t.Context(), intent.ListOptions{Collection: path.Collection()})
		require.NoError(t, err, path)
		require.Contains(t, page.Items, doc, path)
		_, err = s.Get(t.Context(), path+"-none")
		require.Equal(t, intent.NotFound, intent.CodeOf(err), path)
	}
	plain, err := s.Values(nil).Secret(t.Context(), "emco:edge+paris:digest")
	require.NoError(t, err)
	require.Equal(t, "kubeconfig of a cluster", string(plain))
	page, err := s.List(t.Context(), intent.ListOptions{Collection: "projects/none/logical-clouds/none/cluster-references"})
	require.NoError(t, err)
	require.Empty(t, page.Items)
}

func TestSignpostGoesOnWhileEMCOFails(t *testing.T) {
	w := filled(t)
	now := time.Now()
	s := reader(t, w, &now)
	const cloud intent.Path = "projects/shop/logical-clouds/eu"
	known, err := s.Get(t.Context(), cloud)
	require.NoError(t, err)
	for _, fault := range []struct{ begin, end func() }{
		{w.DCM.Down, func() { require.NoError(t, w.DCM.Up()) }},
		{func() { w.DCM.Slow(time.Hour) }, func() { w.DCM.Slow(0) }},
		{func() { w.DCM.Fail(http.StatusInternalServerError) }, func() { w.DCM.Fail(0) }},
		{func() { w.DCM.Fail(http.StatusServiceUnavailable) }, func() { w.DCM.Fail(0) }},
	} {
		now = now.Add(documents.DefaultFresh)
		fault.begin()
		doc, err := s.Get(t.Context(), cloud)
		require.NoError(t, err)
		require.Equal(t, known, doc)
		_, err = s.Get(t.Context(), "projects/shop/logical-clouds/other")
		require.Equal(t, intent.Unavailable, intent.CodeOf(err))
		require.ErrorContains(t, err, "EMCO's DCM ("+w.DCM.URL+")")
		fault.end()
		now = now.Add(documents.DefaultFresh)
		_, err = s.Get(t.Context(), "projects/shop/logical-clouds/other")
		require.Equal(t, intent.NotFound, intent.CodeOf(err))
	}
}

func TestSignpostSeesWhatChangesInEMCO(t *testing.T) {
	w := filled(t)
	now := time.Now()
	s := reader(t, w, &now)
	const paris intent.Path = "cluster-providers/edge/clusters/paris"
	first, err := s.Get(t.Context(), paris)
	require.NoError(t, err)
	now = now.Add(documents.DefaultFresh)
	require.NoError(t, w.Emcoctl("").Apply(t.Context(), "resourceContext: {anchor: "+string(paris)+"/labels}\nclusterLabel: new\n"))
	second, err := s.Get(t.Context(), paris)
	require.NoError(t, err)
	require.Equal(t, first.UID, second.UID)
	require.EqualValues(t, 2, second.Revision)
	require.Contains(t, string(second.Body), `"new":""`)
}
