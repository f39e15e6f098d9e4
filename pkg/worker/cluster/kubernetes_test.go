package cluster_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

type values map[string]string

func (v values) Secret(_ context.Context, id string) ([]byte, error) { return []byte(v[id]), nil }

// server answers every request with one status, and keeps the last request.
type server struct {
	status metav1.Status
	header http.Header
	body   string
	path   string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	s.header, s.body, s.path = r.Header, string(raw), r.URL.String()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(s.status.Code))
	_ = json.NewEncoder(w).Encode(s.status)
}

func connect(t *testing.T, s *server) *kubeapi.Kubernetes {
	t.Helper()
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	k, err := kubeapi.NewKubernetes(&rest.Config{Host: at.URL}, cluster.Options{
		Installation: installation, Version: "1.2.3", Values: values{"v1": "hush-hush-value"}})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	return k
}

func failure(code int32, reason metav1.StatusReason, message string, kind string, causes ...metav1.StatusCause) metav1.Status {
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: code, Reason: reason, Message: message, Details: &metav1.StatusDetails{Kind: kind, Causes: causes}}
}

// absent is what an API server says of an object that is not there.
func absent(name string) metav1.Status {
	status := failure(404, metav1.StatusReasonNotFound, "not found", "configmaps")
	status.Details.Name = name
	return status
}

func TestAnswersTellWhatToDoNext(t *testing.T) {
	t.Parallel()
	terminating := metav1.StatusCause{Type: corev1.NamespaceTerminatingCause}
	at := cluster.Version{UID: "u1", ResourceVersion: "7"}
	for _, test := range []struct {
		reason string
		status metav1.Status
		create fault.Kind
		apply  fault.Kind
		delete fault.Kind
	}{
		{"a conflict", failure(409, metav1.StatusReasonConflict, "conflict", "configmaps"), cluster.Exists, fault.Stale, fault.Stale},
		{"no such object", absent("a"), cluster.NotServed, cluster.NotServed, ""},
		{"no such kind", failure(404, metav1.StatusReasonNotFound, "not found", ""), cluster.NotServed, cluster.NotServed, fault.Stale},
		{"no such namespace", failure(404, metav1.StatusReasonNotFound, "not found", "namespaces"), cluster.NoNamespace, cluster.NoNamespace, fault.Stale},
		{"a namespace that is going", failure(403, metav1.StatusReasonForbidden, "going", "configmaps", terminating), cluster.NoNamespace, cluster.NoNamespace, cluster.NoNamespace},
		{"forbidden", failure(403, metav1.StatusReasonForbidden, "no", "configmaps"), fault.Refused, fault.Refused, fault.Refused},
		{"invalid", failure(422, metav1.StatusReasonInvalid, "bad", "configmaps"), fault.Refused, fault.Refused, fault.Refused},
		{"a token that is no longer good", failure(401, metav1.StatusReasonUnauthorized, "who", ""), fault.Unreachable, fault.Unreachable, fault.Unreachable},
		{"a broken webhook", failure(500, metav1.StatusReasonInternalError, "hook", ""), fault.Unreachable, fault.Unreachable, fault.Unreachable},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			k := connect(t, &server{status: test.status})
			o := configMap(t, "a", "1")
			_, err := k.Create(t.Context(), o)
			assert.Equal(t, test.create, fault.Of(err), "create: %v", err)
			assert.Equal(t, int(test.status.Code), cluster.CodeOf(err))
			_, err = k.Apply(t.Context(), o, at)
			assert.Equal(t, test.apply, fault.Of(err), "apply: %v", err)
			assert.Equal(t, test.delete, fault.Of(k.Delete(t.Context(), o.ID, at)), "delete")
		})
	}
}

func TestRequestsCarryTheirPreconditions(t *testing.T) {
	t.Parallel()
	s := &server{status: failure(409, metav1.StatusReasonConflict, "conflict", "configmaps")}
	k := connect(t, s)
	o := configMap(t, "a", "1")
	_, err := k.Create(t.Context(), o)
	require.Error(t, err)
	assert.Equal(t, "signpost/1.2.3", s.header.Get("User-Agent"))
	assert.Equal(t, "application/apply-patch+yaml", s.header.Get("Content-Type"))
	assert.Contains(t, s.path, "/api/v1/namespaces/shop/configmaps/a?fieldManager=signpost")
	assert.Contains(t, s.body, `"resourceVersion":"1"`, "creates or conflicts, and never adopts")
	assert.NotContains(t, s.body, `"uid"`)
	_, err = k.Apply(t.Context(), o, cluster.Version{UID: "u1", ResourceVersion: "7"})
	require.Error(t, err)
	assert.Contains(t, s.path, "force=true")
	assert.Contains(t, s.body, `"resourceVersion":"7"`)
	assert.Contains(t, s.body, `"uid":"u1"`)
	require.Error(t, k.Delete(t.Context(), o.ID, cluster.Version{UID: "u1", ResourceVersion: "7"}))
	assert.Contains(t, s.body, `"preconditions":{"uid":"u1","resourceVersion":"7"}`)
	assert.Contains(t, s.body, `"propagationPolicy":"Background"`)
}

func TestSecretValueIsInTheRequestAndNotInTheError(t *testing.T) {
	t.Parallel()
	const encoded = "aHVzaC1odXNoLXZhbHVl"
	s := &server{status: failure(422, metav1.StatusReasonInvalid, `data.secret: Invalid value: "`+encoded+`" which is hush-hush-value`, "secrets")}
	k := connect(t, s)
	o := clustertest.Object(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{
		"name": "tsig", "namespace": "shop", "annotations": map[string]string{bundle.AnnotationValuesFrom: `{"secret":"v1"}`}}})
	_, err := k.Create(t.Context(), o)
	require.Error(t, err)
	assert.Contains(t, s.body, `"data":{"secret":"`+encoded+`"}`)
	for ; err != nil; err = unwrap(err) {
		assert.NotContains(t, err.Error(), encoded)
		assert.NotContains(t, err.Error(), "hush-hush-value")
	}
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}

func TestServerThatIsNotThereIsUnreachable(t *testing.T) {
	t.Parallel()
	at := httptest.NewServer(http.NotFoundHandler())
	at.Close()
	k, err := kubeapi.NewKubernetes(&rest.Config{Host: at.URL}, cluster.Options{Installation: installation})
	require.NoError(t, err)
	for range 2 {
		_, err = k.Identity(t.Context())
		assert.Equal(t, fault.Unreachable, fault.Of(err))
		require.EqualError(t, err, "connection refused", "the same words each time")
	}
	live, err := k.Get(t.Context(), configMap(t, "a", "1").ID)
	require.Error(t, err, "no answer is not absence")
	assert.Nil(t, live)
}

func TestObjectsStandWhereTheirKindSays(t *testing.T) {
	t.Parallel()
	k := connect(t, &server{status: failure(500, "", "unexpected", "")})
	for _, id := range []bundle.ID{
		{Kind: "ConfigMap", Name: "a"},
		{Kind: "Namespace", Namespace: "shop", Name: "a"},
	} {
		_, err := k.Create(t.Context(), bundle.Object{ID: id, JSON: []byte(`{"apiVersion":"v1"}`)})
		assert.Equal(t, fault.Refused, fault.Of(err), "%v", id)
	}
}

func TestKindsAreKnownWithoutACluster(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		group, kind          string
		known, clusterScoped bool
	}{
		{"", "Service", true, false},
		{"", "Namespace", true, true},
		{"apps", "Deployment", true, false},
		{"rbac.authorization.k8s.io", "ClusterRole", true, true},
		{"apiextensions.k8s.io", "CustomResourceDefinition", true, true},
		{"externaldns.k8s.io", "DNSEndpoint", true, false},
		{"gateway.networking.k8s.io", "GatewayClass", true, true},
		{"example.org", "Service", false, false},
	} {
		known, clusterScoped := clustertest.ClusterScoped(test.group, test.kind)
		assert.Equal(t, test.known, known, test.kind)
		assert.Equal(t, test.clusterScoped, clusterScoped, test.kind)
	}
	assert.True(t, cluster.NeedsDefinition(cluster.Kind{Group: "externaldns.k8s.io", Kind: "DNSEndpoint"}))
	assert.False(t, cluster.NeedsDefinition(cluster.Kind{Kind: "Service"}))
}

// TestMetricsThatDoNotEndAreNotReadToTheEnd, whatever the pod says of them.
func TestMetricsThatDoNotEndAreNotReadToTheEnd(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusInternalServerError} {
		written := make(chan int, 1)
		at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			chunk, total := make([]byte, 1<<20), 0
			for total < 256*len(chunk) {
				n, err := w.Write(chunk)
				if total += n; err != nil {
					break
				}
			}
			written <- total
		}))
		t.Cleanup(at.Close)
		k, err := kubeapi.NewKubernetes(&rest.Config{Host: at.URL}, cluster.Options{Installation: installation})
		require.NoError(t, err)
		t.Cleanup(k.Close)
		_, err = k.Metrics(t.Context(), "shop", "lab-1", 8080)
		assert.Equal(t, fault.Unreachable, fault.Of(err), "%v", err)
		assert.Less(t, <-written, 64<<20, "what fits into buffers on the way, beside 4 MiB")
	}
}
