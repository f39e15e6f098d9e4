package cluster_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

// resolverServer is an API server with some settings and two pages of pods.
func resolverServer(t *testing.T, forbidden string) *kubeapi.Kubernetes {
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
	return connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := answer(w, r)
		_ = json.NewEncoder(w).Encode(body)
	}))
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
	require.Equal(t, fault.Refused, fault.Of(err))
	require.Equal(t, []string{"ConfigMap kube-system/six"}, users)
}
