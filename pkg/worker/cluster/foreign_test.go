package cluster_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

// TestStrangersAreThoseOfNoOrAnotherInstallation; what is not there is nobody's.
func TestStrangersAreThoseOfNoOrAnotherInstallation(t *testing.T) {
	t.Parallel()
	live := map[string]map[string]string{
		"ours": {bundle.LabelInstallation: installation}, "another": {bundle.LabelInstallation: "staging"}, "nobodys": nil,
	}
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		name := r.URL.Path[len("/api/v1/namespaces/eu-dns/services/"):]
		labels, there := live[name]
		if !there {
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(absent(name))
			return
		}
		_ = json.NewEncoder(w).Encode(metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "eu-dns", Name: name, Labels: labels, UID: "u1", ResourceVersion: "7"},
		})
	}))
	t.Cleanup(at.Close)
	k, err := kubeapi.NewKubernetes(&rest.Config{Host: at.URL}, cluster.Options{Installation: installation})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	var ids []bundle.ID
	for _, name := range []string{"absent", "another", "nobodys", "ours"} {
		ids = append(ids, bundle.ID{Cluster: "edge+hub", Kind: "Service", Namespace: "eu-dns", Name: name})
	}
	foreign, err := k.Foreign(t.Context(), ids)
	require.NoError(t, err)
	require.Equal(t, ids[1:3], foreign)
}
