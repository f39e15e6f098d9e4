package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// secretKey is 32 bytes in base64.
const secretKey = "c2lnbnBvc3QgZGVwbG95bWVudCB0ZXN0cyBrZXkgMzI="

// kustomize builds a directory below deploy/kustomize.
func kustomize(t *testing.T, name string) string {
	t.Helper()
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(
		filesys.MakeFsOnDisk(), filepath.Join(root, "deploy", "kustomize", name))
	require.NoError(t, err)
	manifest, err := objects.AsYaml()
	require.NoError(t, err)
	return string(manifest)
}

// Every object passes the schemas of a real API server, unknown and repeated
// fields being errors, and the pod passes the strictest pod security standard,
// which the namespace enforces.
func TestKustomizeBuildsWhatAnAPIServerTakes(t *testing.T) {
	server := apiServer(t)
	for _, overlay := range []string{"standalone", "replicated", "emco"} {
		require.NoError(t, server.Apply(t.Context(), kustomize(t, overlay)), overlay)
		deployment := deployed(t, server)
		_, err := server.Client.CoreV1().Pods("signpost").Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: overlay + "-", Labels: deployment.Spec.Template.Labels},
			Spec:       deployment.Spec.Template.Spec,
		}, metav1.CreateOptions{})
		require.NoError(t, err, overlay)
		selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
		require.NoError(t, err)
		pods, err := server.Client.CoreV1().Pods("signpost").List(t.Context(), metav1.ListOptions{LabelSelector: selector.String()})
		require.NoError(t, err)
		require.NotEmpty(t, pods.Items, "the Deployment selects its pods")
	}
}

func TestKustomizeStandaloneRuns(t *testing.T) {
	server := apiServer(t)
	require.NoError(t, server.Apply(t.Context(), kustomize(t, "standalone")))
	deployment := deployed(t, server)
	require.Equal(t, appsv1.RecreateDeploymentStrategyType, deployment.Spec.Strategy.Type, "one process owns the data")
	runPod(t, deployment.Spec.Template.Spec, map[string]string{})
}

func TestKustomizeReplicatedRuns(t *testing.T) {
	server := apiServer(t)
	require.NoError(t, server.Apply(t.Context(), kustomize(t, "replicated")))
	deployment := deployed(t, server)
	require.EqualValues(t, 3, *deployment.Spec.Replicas)
	pod := deployment.Spec.Template.Spec
	settings, err := server.Client.CoreV1().ConfigMaps("signpost").Get(t.Context(), pod.Containers[0].EnvFrom[0].ConfigMapRef.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Contains(t, settings.Data, "SIGNPOST_ETCD_ENDPOINTS")
	uri := pod.Containers[0].Env[0]
	require.Equal(t, "SIGNPOST_MONGO_URI", uri.Name)
	require.Equal(t, "mongo-uri", uri.ValueFrom.SecretKeyRef.Key)
	databases := stores(t)
	runPod(t, pod, map[string]string{"SIGNPOST_ETCD_ENDPOINTS": databases.Etcd.URL, "SIGNPOST_MONGO_URI": mongo(t)})
}

// EMCO's orchestrator calls without a token, and nobody else reaches the port
// that it calls. REST asks for tokens all the same.
func TestKustomizeRunsBesideEMCO(t *testing.T) {
	server := apiServer(t)
	require.NoError(t, server.Apply(t.Context(), kustomize(t, "emco")))
	pod := deployed(t, server).Spec.Template
	require.Empty(t, pod.Spec.Containers[0].Env, "there is no MongoDB")
	settings, err := server.Client.CoreV1().ConfigMaps("signpost").Get(t.Context(), pod.Spec.Containers[0].EnvFrom[0].ConfigMapRef.Name, metav1.GetOptions{})
	require.NoError(t, err)
	reachedByOrchestratorAlone(t, server, pod)

	env := settings.Data
	require.Equal(t, map[string]string{
		"SIGNPOST_ETCD_ENDPOINTS":    "http://emco-etcd.emco:2379",
		"SIGNPOST_EMCO_ORCHESTRATOR": "http://orchestrator.emco:9015",
		"SIGNPOST_EMCO_DCM":          "http://dcm.emco:9077",
		"SIGNPOST_EMCO_CLM":          "http://clm.emco:9061",
		"SIGNPOST_INSECURE":          "true",
	}, env)
	delete(env, "SIGNPOST_EMCO_ORCHESTRATOR") // no EMCO runs here, and the test's first request is for a project
	env["SIGNPOST_ETCD_ENDPOINTS"] = stores(t).Etcd.URL
	runPod(t, pod.Spec, env)
}

// reachedByOrchestratorAlone requires a policy for pods that lets only EMCO's
// orchestrator to gRPC.
func reachedByOrchestratorAlone(t *testing.T, server *kube.Server, pod corev1.PodTemplateSpec) {
	t.Helper()
	policy, err := server.Client.NetworkingV1().NetworkPolicies("signpost").Get(t.Context(), "signpost", metav1.GetOptions{})
	require.NoError(t, err)
	selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	require.NoError(t, err)
	require.True(t, selector.Matches(labels.Set(pod.Labels)), "it is for the pods")
	named := map[string]int32{}
	for _, port := range pod.Spec.Containers[0].Ports {
		named[port.Name] = port.ContainerPort
	}
	require.Equal(t, map[string]int32{"http": 9018, "grpc": 9048}, named)
	rest, grpc := policy.Spec.Ingress[0], policy.Spec.Ingress[1]
	require.Len(t, policy.Spec.Ingress, 2)
	require.Empty(t, rest.From, "everybody")
	require.Equal(t, "http", rest.Ports[0].Port.String())
	require.Len(t, rest.Ports, 1)
	require.Equal(t, "grpc", grpc.Ports[0].Port.String())
	require.Len(t, grpc.From, 1)
	require.Equal(t, map[string]string{"kubernetes.io/metadata.name": "emco"}, grpc.From[0].NamespaceSelector.MatchLabels)
	require.Equal(t, map[string]string{"app": "orchestrator"}, grpc.From[0].PodSelector.MatchLabels)
}

// runPod runs the pod's container on files as the kubelet would mount them: a
// Secret's belong to root and may be read by the group.
func runPod(t *testing.T, pod corev1.PodSpec, env map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"tokens": "hush,admin,admin\n", "secret.key": secretKey} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o440))
	}
	free := addresses(t, 2)
	spec := pod.Containers[0]
	require.Empty(t, spec.Command, "the image's entrypoint runs")
	require.Equal(t, "/healthz", spec.LivenessProbe.HTTPGet.Path)
	require.Equal(t, "/readyz", spec.ReadinessProbe.HTTPGet.Path)
	container{args: spec.Args, env: env}.translated(
		"0.0.0.0:9018", free[0], "0.0.0.0:9048", free[1], "/etc/signpost", dir, "/data", filepath.Join(dir, "data"),
	).serves(t, build(t), free[0], "hush")
}

func deployed(t *testing.T, server *kube.Server) *appsv1.Deployment {
	t.Helper()
	deployment, err := server.Client.AppsV1().Deployments("signpost").Get(t.Context(), "signpost", metav1.GetOptions{})
	require.NoError(t, err)
	require.False(t, strings.HasSuffix(deployment.Spec.Template.Spec.Containers[0].Image, ":latest"), "the image has a version")
	return deployment
}

// apiServer starts a kube-apiserver.
func apiServer(t *testing.T) *kube.Server {
	t.Helper()
	ports, dir := &process.Ports{}, t.TempDir()
	store, err := etcd.NewServer(t.Context(), filepath.Join(dir, "etcd"), ports)
	require.NoError(t, err)
	t.Cleanup(store.Kill)
	require.NoError(t, store.Start(t.Context()))
	server, err := kube.NewServer(t.Context(), kube.Options{Name: "own", Dir: filepath.Join(dir, "own"), Etcd: store.URL, Ports: ports})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	require.NoError(t, server.Start(t.Context()))
	return server
}
