package canary

import (
	"encoding/base64"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// stores are an etcd and a server that speaks MongoDB's protocol.
type stores struct {
	*fixture.Stores
	dir string
}

func startStores(t *testing.T) stores {
	t.Helper()
	s := stores{dir: t.TempDir()}
	var err error
	s.Stores, err = fixture.StartStores(t.Context(), s.dir, &process.Ports{})
	t.Cleanup(s.Close)
	require.NoError(t, err)
	return s
}

// args have Signpost use them, with the key that the environment gives.
func (s stores) args() []string {
	return slices.DeleteFunc(s.Args(), func(arg string) bool { return strings.HasPrefix(arg, "--secret-key-file=") })
}

// seeStores sees all that the stores keep, by its keys and as bytes, and ends
// them.
func (w *world) seeStores(s stores) {
	w.Helper()
	items, err := s.Etcd.Prefix(w.Context(), "/")
	require.NoError(w, err)
	require.NotEmpty(w, items)
	for key, value := range items {
		w.see("the key "+key, []byte(value))
	}
	s.Close()
	w.seeFiles(filepath.Join(s.dir, "etcd"))
	w.seeFiles(filepath.Join(s.dir, "ferretdb"))
	w.seeFiles(filepath.Join(s.dir, "ferretdb.log"))
}

// apiserver is a cluster with a kube-apiserver.
type apiserver struct {
	*kube.Server
	document string
}

// startCluster starts a cluster with the rights that Signpost asks for.
func (w *world) startCluster() apiserver {
	w.Helper()
	dir, ports := w.TempDir(), &process.Ports{}
	store, err := etcd.NewServer(w.Context(), filepath.Join(dir, "etcd"), ports)
	require.NoError(w, err)
	require.NoError(w, store.Start(w.Context()))
	w.Cleanup(store.Kill)
	server, err := kube.NewServer(w.Context(), kube.Options{Name: "hub", Dir: filepath.Join(dir, "hub"), Etcd: store.URL, Ports: ports})
	require.NoError(w, err)
	require.NoError(w, server.Start(w.Context()))
	w.Cleanup(server.Stop)
	require.NoError(w, server.GrantSignpost(w.Context()))
	require.NoError(w, fixture.DefineEndpoints(w.Context(), server))
	text, err := server.Kubeconfig(kube.Signpost)
	require.NoError(w, err)
	config, err := clientcmd.Load(text)
	require.NoError(w, err)
	w.keep("the token of the cluster", config.AuthInfos[kube.Signpost].Token)
	return apiserver{server, `{"kubeconfig": "` + base64.StdEncoding.EncodeToString(text) + `"}`}
}

func (a apiserver) spec() string { return a.document }

func (a apiserver) secrets() bool { return true }

// objects are those of each kind that Signpost makes.
func (a apiserver) objects(w *world) []map[string]any {
	w.Helper()
	var all []map[string]any
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "Namespace"}, {Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "ServiceAccount"},
		{Version: "v1", Kind: "Event"}, {Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "apps", Version: "v1", Kind: "DaemonSet"}, fixture.EndpointKind(),
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	} {
		objects, err := a.List(w.Context(), kind, "", "")
		require.NoError(w, err)
		for _, object := range objects {
			all = append(all, object.Object)
		}
	}
	return all
}
