package connections

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
)

// atlas is two registered names and one cluster.
type atlas struct {
	Identities
	t       *testing.T
	cluster *clustertest.Fake
}

func newAtlas(t *testing.T) *atlas {
	store := kvtest.NewFake()
	a := &atlas{t: t, cluster: clustertest.NewFake("a"), Identities: Identities{ledger.New(store), etcd.New(store)}}
	put(t, a.Documents, hub, intent.Cluster{})
	put(t, a.Documents, "cluster-providers/edge/clusters/alias", intent.Cluster{})
	return a
}

// as is the cluster under a name, over a connection of its own.
func (a *atlas) as(name, source string) cluster.Target {
	target := a.cluster.Target(cluster.Options{Installation: "inst-1"})
	return &claimed{Target: target, identities: a.Identities, name: name, source: source}
}

func (a *atlas) unregister(path intent.Path) {
	require.NoError(a.t, a.Documents.Delete(a.t.Context(), path, intent.Always()))
}

func TestClusterAnswersUnderOneName(t *testing.T) {
	t.Parallel()
	a := newAtlas(t)
	uid, err := a.as("edge+hub", "https://a").Identity(t.Context())
	require.NoError(t, err)
	require.Equal(t, "a", uid)
	_, err = a.as("edge+alias", "https://alias").Identity(t.Context())
	require.ErrorContains(t, err, "registered as edge+hub already")
}

// TestDeletedRegistrationMakesRoom: at once, and without being asked for.
func TestDeletedRegistrationMakesRoom(t *testing.T) {
	t.Parallel()
	a := newAtlas(t)
	_, err := a.as("edge+hub", "https://a").Identity(t.Context())
	require.NoError(t, err)
	require.NoError(t, a.Sweep(t.Context()))
	names, err := a.Ledger.Claimants(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"edge+hub"}, names)

	a.unregister(hub)
	_, err = a.as("edge+alias", "https://a").Identity(t.Context())
	require.NoError(t, err)
	a.unregister("cluster-providers/edge/clusters/alias")
	require.NoError(t, a.Sweep(t.Context()))
	names, err = a.Ledger.Claimants(t.Context())
	require.NoError(t, err)
	require.Empty(t, names)
}

func TestDeletedRegistrationKeepsItsClusterWhileSomethingIsLeft(t *testing.T) {
	t.Parallel()
	a := newAtlas(t)
	_, err := a.as("edge+hub", "https://a").Identity(t.Context())
	require.NoError(t, err)
	left := ledger.Entry{ID: bundle.ID{Cluster: "edge+hub", Kind: "ConfigMap", Namespace: "shop", Name: "a"}, CreatedByUs: true, Going: true}
	nobody := kv.Compare{Key: "/nobody"}
	require.NoError(t, a.Ledger.Write(t.Context(), nobody, []ledger.Entry{left}, nil))
	a.unregister(hub)
	require.NoError(t, a.Sweep(t.Context()))
	_, err = a.as("edge+alias", "https://a").Identity(t.Context())
	require.ErrorContains(t, err, "registered as edge+hub already")
}

// TestOneConnectionSeesTheClusterRebuilt: what was claimed once over it says
// nothing of another cluster that answers later.
func TestOneConnectionSeesTheClusterRebuilt(t *testing.T) {
	t.Parallel()
	a := newAtlas(t)
	target := a.as("edge+hub", "https://a")
	_, err := target.Identity(t.Context())
	require.NoError(t, err)
	a.cluster.Rebuild("b")
	uid, err := target.Identity(t.Context())
	require.NoError(t, err)
	require.Equal(t, "b", uid)
	_, err = a.as("edge+alias", "https://b").Identity(t.Context())
	require.ErrorContains(t, err, "registered as edge+hub already")
}

func TestPreflightTellsWhatTheNameStandsFor(t *testing.T) {
	t.Parallel()
	a := newAtlas(t)
	report := intent.Preflight{Reachable: true}
	failed := func(name, source string) []string {
		var names []string
		for _, check := range recognized(t.Context(), a.as(name, source), report).Checks {
			if !check.OK {
				names = append(names, check.Name+": "+check.Message)
			}
		}
		return names
	}
	require.Empty(t, failed("edge+hub", "https://a"))
	wrong := failed("edge+alias", "https://a")
	require.Len(t, wrong, 1)
	require.Contains(t, wrong[0], "is registered once: https://a answers as cluster a, which is registered as edge+hub already")

	made := ledger.Entry{ID: bundle.ID{Cluster: "edge+hub", Kind: "ConfigMap", Namespace: "shop", Name: "a"}, CreatedByUs: true}
	nobody := kv.Compare{Key: "/nobody"}
	require.NoError(t, a.Ledger.Adopt(t.Context(), nobody, "edge+hub", "a"))
	require.NoError(t, a.Ledger.Write(t.Context(), nobody, []ledger.Entry{made}, nil))
	a.cluster.Rebuild("b")
	wrong = failed("edge+hub", "https://b")
	require.Len(t, wrong, 1)
	require.Contains(t, wrong[0], "is the cluster that it was: https://b answers as cluster b, but edge+hub is cluster a at https://a")
	require.Empty(t, recognized(t.Context(), a.as("edge+hub", "https://b"), intent.Preflight{}).Checks, "who was not reached is not judged")
}

// apiServer answers for its namespace kube-system, or hangs when it has no UID.
func apiServer(t *testing.T, uid string) (kubeconfig []byte) {
	release := make(chan struct{})
	kubeconfig = answering(t, func(w http.ResponseWriter, _ *http.Request) {
		if uid == "" {
			<-release
		}
		identify(w, uid)
	})
	t.Cleanup(func() { close(release) })
	return kubeconfig
}

// identify answers with a namespace kube-system of this UID.
func identify(w http.ResponseWriter, uid string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"kube-system","uid":%q}}`, uid)
}

// answering is the kubeconfig of a server that answers so.
func answering(t *testing.T, answer http.HandlerFunc) (kubeconfig []byte) {
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c"}}]}`, server.URL)
}

// TestNewKubeconfigIsHeldAgainstWhatAnswers: what does not answer is accepted.
func TestNewKubeconfigIsHeldAgainstWhatAnswers(t *testing.T) {
	t.Parallel()
	a := newAtlas(t)
	c := New(Settings{Installation: "inst-1"}, a.Identities, nil)
	const alias intent.Path = "cluster-providers/edge/clusters/alias"
	first := apiServer(t, "a")
	require.NoError(t, c.Claim(t.Context(), hub, first))
	require.NoError(t, c.Claim(t.Context(), hub, first))
	err := c.Claim(t.Context(), alias, first)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "registered as edge+hub already")
	require.NoError(t, c.Claim(t.Context(), alias, apiServer(t, "b")))
	require.NoError(t, c.Claim(t.Context(), alias, apiServer(t, "")))
}

// TestServicesAreListedAPageAtATime: as the API server pages them, and no other cluster's.
func TestServicesAreListedAPageAtATime(t *testing.T) {
	t.Parallel()
	c := behind(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path != "/api/v1/services":
			http.NotFound(w, r)
		case r.URL.Query().Get("continue") == "next":
			_, _ = io.WriteString(w, `{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"name":"web","namespace":"shop"},"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.10"}]}}}]}`)
		case r.URL.Query().Get("continue") != "":
			w.WriteHeader(http.StatusGone)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
		default:
			_, _ = io.WriteString(w, `{"kind":"ServiceList","apiVersion":"v1","metadata":{"continue":"next"},"items":[{"metadata":{"name":"db","namespace":"shop"},"spec":{"type":"ClusterIP"}}]}`)
		}
	})
	page, err := c.Services(t.Context(), hub, intent.ServiceQuery{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, intent.ServicePage{Items: []intent.ClusterService{{Namespace: "shop", Name: "db", Type: "ClusterIP", Targets: []string{}}}, Continue: "next"}, page)
	page, err = c.Services(t.Context(), hub, intent.ServiceQuery{Limit: 1, After: page.Continue})
	require.NoError(t, err)
	require.Equal(t, intent.ServicePage{Items: []intent.ClusterService{{Namespace: "shop", Name: "web", Type: "LoadBalancer", Targets: []string{"203.0.113.10"}}}}, page)

	_, err = c.Services(t.Context(), hub, intent.ServiceQuery{Limit: 1, After: "old"})
	require.Equal(t, intent.Invalid, intent.CodeOf(err), err)
	_, err = c.Services(t.Context(), hub, intent.ServiceQuery{Limit: 1, Namespace: "other"})
	require.Equal(t, intent.Unavailable, intent.CodeOf(err), err)
	_, err = c.Services(t.Context(), "cluster-providers/edge/clusters/none", intent.ServiceQuery{Limit: 1})
	require.Equal(t, intent.NotFound, intent.CodeOf(err), err)
	put(t, c.documents, "cluster-providers/edge/clusters/files", intent.Cluster{Directory: "files"})
	page, err = c.Services(t.Context(), "cluster-providers/edge/clusters/files", intent.ServiceQuery{Limit: 1})
	require.NoError(t, err)
	require.Contains(t, page.Message, "no kubeconfig")
}

// TestAPlanLooksAtNoClusterInAnothersPlace: its addresses would be published
// under names that are not its own.
func TestAPlanLooksAtNoClusterInAnothersPlace(t *testing.T) {
	t.Parallel()
	c := behind(t, func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) != "services" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"name":"web","namespace":"shop"},"spec":{"externalIPs":["203.0.113.10"]}}]}`)
	})
	put(t, c.documents, "cluster-providers/edge/clusters/alias", intent.Cluster{KubeconfigRef: "v1"})
	seen, err := c.ReadService(t.Context(), address.Service{Cluster: "edge+hub", Namespace: "shop", Name: "web"})
	require.NoError(t, err)
	require.Equal(t, "203.0.113.10", seen.Candidates[0].Target)
	services, err := c.ReadServiceNames(t.Context(), "edge+hub", "shop")
	require.NoError(t, err)
	require.Equal(t, []string{"web"}, services)
	names, err := c.Identities.Ledger.Claimants(t.Context())
	require.NoError(t, err)
	require.Empty(t, names, "a look claims nothing")

	require.NoError(t, c.Claim(t.Context(), hub, c.values.(opened)))
	_, err = c.ReadService(t.Context(), address.Service{Cluster: "edge+alias", Namespace: "shop", Name: "web"})
	require.ErrorContains(t, err, "registered as edge+hub already")
}
