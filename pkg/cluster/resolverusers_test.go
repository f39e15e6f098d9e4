package cluster_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/cluster"
)

// resolverServer is an API server with some settings and two pages of pods.
func resolverServer(t *testing.T, forbidden string) *cluster.Kubernetes {
	t.Helper()
	setting := func(name, text string) corev1.ConfigMap {
		return corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}, Data: map[string]string{"text": text}}
	}
	pod := func(name string, nameservers ...string) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		if len(nameservers) > 0 {
			p.Spec.DNSConfig = &corev1.PodDNSConfig{Nameservers: nameservers}
		}
		return p
	}
	answer := func(w http.ResponseWriter, r *http.Request) any {
		switch {
		case r.URL.Path == forbidden:
			w.WriteHeader(http.StatusForbidden)
			return failure(403, metav1.StatusReasonForbidden, "forbidden", "pods")
		case r.URL.Path == "/api/v1/namespaces/kube-system/configmaps":
			return corev1.ConfigMapList{Items: []corev1.ConfigMap{
				setting("kubelet-config", "clusterDNS:\n- 10.96.0.5\n"), setting("coredns", "forward . 10.96.0.5:53 {"), setting("near", "10.96.0.55 110.96.0.5"),
				setting("six", "forward . [fd00::5]:53"), setting("other", "nothing of the like"),
			}}
		case r.URL.Path == "/api/v1/pods" && r.URL.Query().Get("continue") == "":
			return corev1.PodList{ListMeta: metav1.ListMeta{Continue: "more"}, Items: []corev1.Pod{pod("default"), pod("asks", "10.96.0.10", "10.96.0.5")}}
		case r.URL.Path == "/api/v1/pods":
			return corev1.PodList{Items: []corev1.Pod{pod("asks-too", "fd00::5"), pod("asks-others", "10.96.0.55")}}
		}
		w.WriteHeader(http.StatusNotFound)
		return failure(404, metav1.StatusReasonNotFound, "not found", "services")
	}
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := answer(w, r)
		_ = json.NewEncoder(w).Encode(body)
	}))
	t.Cleanup(at.Close)
	k, err := cluster.NewKubernetes(&rest.Config{Host: at.URL}, cluster.Options{Installation: installation})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	return k
}

func TestWhatAsksANameserverIsSeen(t *testing.T) {
	t.Parallel()
	users, err := resolverServer(t, "").ResolverUsers(t.Context(), []string{"10.96.0.5", "fd00::5"})
	require.NoError(t, err)
	require.Equal(t, []string{
		"ConfigMap kube-system/kubelet-config", "ConfigMap kube-system/coredns", "ConfigMap kube-system/six", "pod shop/asks", "pod shop/asks-too",
	}, users)
}

// TestWhatAsksANameserverIsToldAsFarAsItIsSeen, with what could not be.
func TestWhatAsksANameserverIsToldAsFarAsItIsSeen(t *testing.T) {
	t.Parallel()
	users, err := resolverServer(t, "/api/v1/pods").ResolverUsers(t.Context(), []string{"fd00::5"})
	require.Equal(t, cluster.Refused, cluster.FaultOf(err))
	require.Equal(t, []string{"ConfigMap kube-system/six"}, users)
}

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
			_ = json.NewEncoder(w).Encode(failure(404, metav1.StatusReasonNotFound, "not found", "services"))
			return
		}
		_ = json.NewEncoder(w).Encode(metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "eu-dns", Name: name, Labels: labels, UID: "u1", ResourceVersion: "7"},
		})
	}))
	t.Cleanup(at.Close)
	k, err := cluster.NewKubernetes(&rest.Config{Host: at.URL}, cluster.Options{Installation: installation})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	var ids []bundle.ID
	for _, name := range []string{"absent", "another", "nobodys", "ours"} {
		ids = append(ids, bundle.ID{Cluster: "edge+hub", Kind: "Service", Namespace: "eu-dns", Name: name})
	}
	strangers, err := k.Strangers(t.Context(), ids)
	require.NoError(t, err)
	require.Equal(t, ids[1:3], strangers)
}
