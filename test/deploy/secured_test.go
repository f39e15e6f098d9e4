package deploy

import (
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signpost-dns/signpost/pkg/access/accesstest"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// Tokens of an issuer are taken over TLS alone, as the policy says; those of the
// token file go on being taken. Nobody reaches gRPC.
func TestKustomizeSecuredTakesTokensOfAnIssuerOverTLS(t *testing.T) {
	server := apiServer(t)
	require.NoError(t, server.Apply(t.Context(), kustomize(t, "secured")))
	api := deployed(t, server, "signpost-api")
	reachedByRESTAlone(t, server, api.Spec.Template)
	for _, probe := range []*corev1.Probe{api.Spec.Template.Spec.Containers[0].StartupProbe, api.Spec.Template.Spec.Containers[0].LivenessProbe, api.Spec.Template.Spec.Containers[0].ReadinessProbe} {
		require.Equal(t, corev1.URISchemeHTTPS, probe.HTTPGet.Scheme)
	}
	service, err := server.Client.CoreV1().Services("signpost").Get(t.Context(), "signpost", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "https", *service.Spec.Ports[0].AppProtocol)
	require.Nil(t, service.Spec.Ports[1].AppProtocol, "not in plain text")

	files, issuer, authority := t.TempDir(), accesstest.NewIssuer(t), accesstest.NewAuthority(t, "the platform")
	env := accessed(t, server, api, files)
	require.Equal(t, "https://login.example", env["SIGNPOST_OIDC_ISSUER"])
	databases := stores(t)
	env["SIGNPOST_OIDC_ISSUER"], env["SIGNPOST_MONGO_URI"], env["SIGNPOST_ETCD_ENDPOINTS"] = issuer.URL, mongo(t), databases.Etcd.URL
	certificate, key := authority.Sign(accesstest.Leaf{Name: "signpost", Server: true})
	copied(t, certificate, filepath.Join(files, "tls.crt"))
	copied(t, key, filepath.Join(files, "tls.key"))

	c, address := mounted(t, api.Spec.Template.Spec, env)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool(), MinVersion: tls.VersionTLS12}}}
	p := c.process("signpost", build(t), t.TempDir())
	p.Ready = func(ctx context.Context) error { return getReady(ctx, client, "https://"+address) }
	require.NoError(t, p.Start(t.Context()))
	t.Cleanup(p.Kill)
	for _, asked := range []struct {
		who, token string
		want       int
	}{
		{"nobody", "", http.StatusUnauthorized},
		{"a stranger", issuer.Token("anna", nil), http.StatusForbidden},
		{"a developer", issuer.Token("anna", map[string]any{"groups": []string{"developers"}}), http.StatusForbidden},
		{"the platform team", issuer.Token("anna", map[string]any{"groups": []string{"platform"}}), http.StatusCreated},
		{"a token of the file", "hush", http.StatusConflict}, // it is there already
	} {
		require.Equal(t, asked.want, postBy(t, client, "https://"+address, asked.token), "%s: %s", asked.who, p.Tail(5))
	}
	require.Equal(t, http.StatusBadRequest, post(t, "http://"+address, "hush"), "in plain text")
	require.NoError(t, p.Stop(patience))
}

// accessed is the environment of a Deployment's container, and has its policy in
// dir, where its certificate is expected, too.
func accessed(t *testing.T, server *kube.Server, deployment *appsv1.Deployment, dir string) map[string]string {
	t.Helper()
	env := map[string]string{}
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		env[variable.Name] = strings.NewReplacer("/etc/signpost-tls", dir, "/etc/signpost-access", dir).Replace(variable.Value)
		if from := variable.ValueFrom; from != nil && from.ConfigMapKeyRef != nil {
			env[variable.Name] = settings(t, server, from.ConfigMapKeyRef.Name)[from.ConfigMapKeyRef.Key]
		}
	}
	for _, volume := range deployment.Spec.Template.Spec.Volumes {
		if volume.ConfigMap != nil {
			policy := settings(t, server, volume.ConfigMap.Name)[volume.ConfigMap.Items[0].Key]
			require.NoError(t, os.WriteFile(filepath.Join(dir, volume.ConfigMap.Items[0].Path), []byte(policy), 0o440))
		}
	}
	return env
}

func settings(t *testing.T, server *kube.Server, name string) map[string]string {
	t.Helper()
	found, err := server.Client.CoreV1().ConfigMaps("signpost").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return found.Data
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, content, 0o440))
}

func getReady(ctx context.Context, client *http.Client, server string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// reachedByRESTAlone requires a policy for pods that lets everybody to REST, and
// nobody to gRPC.
func reachedByRESTAlone(t *testing.T, server *kube.Server, pod corev1.PodTemplateSpec) {
	t.Helper()
	policy, err := server.Client.NetworkingV1().NetworkPolicies("signpost").Get(t.Context(), "signpost", metav1.GetOptions{})
	require.NoError(t, err)
	selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	require.NoError(t, err)
	require.True(t, selector.Matches(labels.Set(pod.Labels)), "it is for the pods")
	require.Len(t, policy.Spec.Ingress, 1)
	require.Empty(t, policy.Spec.Ingress[0].From, "everybody")
	require.Len(t, policy.Spec.Ingress[0].Ports, 1)
	require.Equal(t, "http", policy.Spec.Ingress[0].Ports[0].Port.String())
}
