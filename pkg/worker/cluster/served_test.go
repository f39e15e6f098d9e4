package cluster_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

const (
	gatewayAPI = "gateway.networking.k8s.io"
	routesOfV1 = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/tlsroutes/"
)

func tlsRoute(name string) bundle.ID {
	return bundle.ID{Cluster: "edge+test", Group: gatewayAPI, Kind: "TLSRoute", Namespace: "shop", Name: name}
}

// versioned is an API server that serves TLSRoutes in one version, one of which is there.
// It says of all other paths that there is nothing, as a kube-apiserver does.
type versioned struct {
	listed string // the version in which discovery lists TLSRoutes; empty: in none
	silent string // an API group that does not answer
	blank  bool   // discovery lists nothing, as a proxy without an API server does

	mu    sync.Mutex
	gone  bool
	asked []string
}

func (v *versioned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = append(v.asked, r.Method+" "+r.URL.Path)
	route := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1", ResourceVersion: "7"}}
	route.APIVersion, route.Kind = "meta.k8s.io/v1", "PartialObjectMetadata"
	var answer any
	switch path := r.URL.Path; {
	case v.blank:
	case path == "/api":
		answer = metav1.APIVersions{Versions: []string{"v1"}}
	case path == "/api/v1":
		answer = metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "namespaces", Kind: "Namespace"}}}
	case path == "/apis":
		answer = v.groups()
	case path == "/apis/"+gatewayAPI+"/"+v.listed:
		answer = metav1.APIResourceList{GroupVersion: gatewayAPI + "/" + v.listed, APIResources: []metav1.APIResource{{Name: "tlsroutes", Kind: "TLSRoute", Namespaced: true}}}
	case v.silent != "" && strings.HasPrefix(path, "/apis/"+v.silent):
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case v.listed == "v1" && path == "/apis/gateway.networking.k8s.io/v1/tlsroutes":
		if r.URL.Query().Get("watch") == "" {
			answer = metav1.PartialObjectMetadataList{
				TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
				ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []metav1.PartialObjectMetadata{route},
			}
		}
	case v.listed == "v1" && strings.HasPrefix(path, routesOfV1), strings.HasPrefix(path, "/api/v1/namespaces/shop/configmaps/"):
		answer = route
		if name := path[strings.LastIndexByte(path, '/')+1:]; name != "web" || v.gone {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			answer = absent(name)
		}
		v.gone = v.gone || r.Method == http.MethodDelete
	}
	if answer == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (v *versioned) groups() metav1.APIGroupList {
	var list metav1.APIGroupList
	for group, version := range map[string]string{gatewayAPI: v.listed, v.silent: "v1"} {
		if group == "" || version == "" {
			continue
		}
		at := metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + version, Version: version}
		list.Groups = append(list.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{at}, PreferredVersion: at})
	}
	return list
}

// Objects are written in the version of their manifest. Gateway API 1.5 serves TLSRoutes as
// v1 alone.
func TestObjectsAreReadWatchedAndDeletedInAVersionThatIsServed(t *testing.T) {
	t.Parallel()
	k := connectTo(t, &versioned{listed: "v1"})
	seen := make(chan struct{}, 8)
	w := k.Watch(t.Context(), cluster.Notify{Objects: func(...bundle.ID) { seen <- struct{}{} }})
	t.Cleanup(w.Stop)
	w.Follow(cluster.Interest{Kinds: []cluster.Kind{cluster.KindOf(tlsRoute(""))}})
	<-seen
	live, err := k.Get(t.Context(), tlsRoute("web"))
	require.NoError(t, err)
	require.NotNil(t, live)
	assert.Equal(t, "u1", live.UID)
	other, err := k.Get(t.Context(), tlsRoute("other"))
	require.NoError(t, err)
	require.Nil(t, other)
	require.NoError(t, k.Delete(t.Context(), tlsRoute("web"), live.Version))
	live, err = k.Get(t.Context(), tlsRoute("web"))
	require.NoError(t, err)
	require.Nil(t, live, "it was deleted")
}

// What is not known to be absent would stay in the cluster for good (I5).
func TestAbsenceIsSaidOfAnObject(t *testing.T) {
	t.Parallel()
	database := bundle.ID{Cluster: "edge+test", Group: "stores.example", Kind: "Database", Namespace: "shop", Name: "a"}
	for reason, test := range map[string]struct {
		server *versioned
		id     bundle.ID
		known  fault.Kind
	}{
		"a kind of the table that is served nowhere": {&versioned{}, tlsRoute("web"), ""},
		"another kind that is served nowhere":        {&versioned{}, database, ""},
		"a kind whose group does not answer":         {&versioned{silent: database.Group}, database, fault.Unreachable},
		"a kind of the table, too":                   {&versioned{silent: gatewayAPI}, tlsRoute("web"), fault.Unreachable},
		"a kind when another group does not answer":  {&versioned{silent: "metrics.example"}, database, ""},
		"a kind that is listed and not there":        {&versioned{listed: "v1alpha2"}, tlsRoute("web"), fault.Unreachable},
		"a proxy with nothing behind it":             {&versioned{blank: true}, tlsRoute("web"), fault.Unreachable},
		"a proxy, asked for another kind":            {&versioned{blank: true}, database, fault.Unreachable},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			live, err := connectTo(t, test.server).Get(t.Context(), test.id)
			require.Nil(t, live)
			require.Equal(t, test.known, fault.Of(err), "%v", err)
			if err != nil {
				require.NotZero(t, cluster.CodeOf(err), "others are gone on with")
			}
		})
	}
}

// A feed that asked when the kind was not served does not keep an object from being found.
func TestAKindIsAskedForAgainBeforeItsObjectsAreAbsent(t *testing.T) {
	t.Parallel()
	v := &versioned{}
	k := connectTo(t, v)
	live, err := k.Get(t.Context(), tlsRoute("web"))
	require.NoError(t, err)
	require.Nil(t, live)
	v.mu.Lock()
	v.listed = "v1"
	v.mu.Unlock()
	live, err = k.Get(t.Context(), tlsRoute("web"))
	require.NoError(t, err)
	require.NotNil(t, live)
}

func TestWhatAnAPIServerSaysOfAnObjectCostsOneRequest(t *testing.T) {
	t.Parallel()
	v := &versioned{}
	live, err := connectTo(t, v).Get(t.Context(), bundle.ID{Cluster: "edge+test", Kind: "ConfigMap", Namespace: "shop", Name: "a"})
	require.NoError(t, err)
	require.Nil(t, live)
	require.Equal(t, []string{"GET /api/v1/namespaces/shop/configmaps/a"}, v.asked)
}
