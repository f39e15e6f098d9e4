package deploy

import (
	"os"
	"path/filepath"
	"slices"
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
	for overlay, names := range map[string][]string{"standalone": {"signpost"}, "replicated": roles(), "emco": roles(), "secured": roles()} {
		require.NoError(t, server.Apply(t.Context(), kustomize(t, overlay)), overlay)
		for _, name := range names {
			takesPods(t, server, deployed(t, server, name))
		}
	}
}

// roles are the names of the Deployments where each role has one.
func roles() []string { return []string{"signpost-api", "signpost-worker"} }

// takesPods requires that a pod of a Deployment is taken, and is the Deployment's.
func takesPods(t *testing.T, server *kube.Server, deployment *appsv1.Deployment) {
	t.Helper()
	made, err := server.Client.CoreV1().Pods("signpost").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: deployment.Name + "-", Labels: deployment.Spec.Template.Labels},
		Spec:       deployment.Spec.Template.Spec,
	}, metav1.CreateOptions{})
	require.NoError(t, err, deployment.Name)
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	require.NoError(t, err)
	require.True(t, selector.Matches(labels.Set(made.Labels)), "the Deployment selects its pods")
}

func TestKustomizeStandaloneRuns(t *testing.T) {
	server := apiServer(t)
	require.NoError(t, server.Apply(t.Context(), kustomize(t, "standalone")))
	deployment := deployed(t, server, "signpost")
	require.Equal(t, appsv1.RecreateDeploymentStrategyType, deployment.Spec.Strategy.Type, "one process owns the data")
	runPod(t, deployment.Spec.Template.Spec, map[string]string{})
}

func TestKustomizeReplicatedRuns(t *testing.T) {
	server := apiServer(t)
	require.NoError(t, server.Apply(t.Context(), kustomize(t, "replicated")))
	api, worker := deployed(t, server, "signpost-api"), deployed(t, server, "signpost-worker")
	disrupted(t, server, api, worker)
	accepted(t, server, api, worker)
	pod := api.Spec.Template.Spec
	settings, err := server.Client.CoreV1().ConfigMaps("signpost").Get(t.Context(), pod.Containers[0].EnvFrom[0].ConfigMapRef.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Contains(t, settings.Data, "SIGNPOST_ETCD_ENDPOINTS")
	databases := stores(t)
	env := map[string]string{"SIGNPOST_ETCD_ENDPOINTS": databases.Etcd.URL, "SIGNPOST_MONGO_URI": mongo(t)}
	for deployment, role := range map[*appsv1.Deployment]string{api: "api", worker: "worker"} {
		require.Equal(t, map[string]string{"SIGNPOST_ROLE": role, "SIGNPOST_MONGO_URI": "mongo-uri"}, variables(deployment))
	}
	env["SIGNPOST_ROLE"] = "api"
	runPod(t, pod, env)
	env["SIGNPOST_ROLE"] = "worker"
	c, address := mounted(t, worker.Spec.Template.Spec, env)
	c.works(t, build(t), address, "hush")
}

// variables are those of a Deployment's container: the value, or the key of the
// Secret.
func variables(deployment *appsv1.Deployment) map[string]string {
	said := map[string]string{}
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		said[variable.Name] = variable.Value
		if from := variable.ValueFrom; from != nil {
			said[variable.Name] = from.SecretKeyRef.Key
		}
	}
	return said
}

// disrupted requires three replicas of each Deployment, of which a budget of its
// own lets one go at a time, and which a roll replaces one by one.
func disrupted(t *testing.T, server *kube.Server, deployments ...*appsv1.Deployment) {
	t.Helper()
	for _, deployment := range deployments {
		require.EqualValues(t, 3, *deployment.Spec.Replicas)
		require.Zero(t, deployment.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue())
		budget, err := server.Client.PolicyV1().PodDisruptionBudgets("signpost").Get(t.Context(), deployment.Name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, 1, budget.Spec.MaxUnavailable.IntValue())
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		require.NoError(t, err)
		for _, each := range deployments {
			require.Equal(t, each == deployment, selector.Matches(labels.Set(each.Spec.Template.Labels)), "%s has a budget of its own", each.Name)
		}
	}
}

// accepted requires that the Service leads to those who accept requests, alone.
func accepted(t *testing.T, server *kube.Server, api, worker *appsv1.Deployment) {
	t.Helper()
	service, err := server.Client.CoreV1().Services("signpost").Get(t.Context(), "signpost", metav1.GetOptions{})
	require.NoError(t, err)
	selector := labels.SelectorFromSet(service.Spec.Selector)
	require.True(t, selector.Matches(labels.Set(api.Spec.Template.Labels)))
	require.False(t, selector.Matches(labels.Set(worker.Spec.Template.Labels)))
	for _, port := range worker.Spec.Template.Spec.Containers[0].Ports {
		require.Equal(t, "http", port.Name, "for probes and metrics")
	}
}

// EMCO's orchestrator calls without a token, and nobody else reaches the port
// that it calls. REST asks for tokens all the same.
func TestKustomizeRunsBesideEMCO(t *testing.T) {
	server := apiServer(t)
	require.NoError(t, server.Apply(t.Context(), kustomize(t, "emco")))
	api := deployed(t, server, "signpost-api")
	pod := api.Spec.Template
	require.Equal(t, map[string]string{"SIGNPOST_ROLE": "api"}, variables(api), "there is no MongoDB")
	require.Equal(t, map[string]string{"SIGNPOST_ROLE": "worker"}, variables(deployed(t, server, "signpost-worker")))
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
	env["SIGNPOST_ROLE"] = "api"
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

// runPod runs the pod's container as a server.
func runPod(t *testing.T, pod corev1.PodSpec, env map[string]string) {
	t.Helper()
	c, address := mounted(t, pod, env)
	c.serves(t, build(t), address, "hush")
}

// mounted is the pod's container on files as the kubelet would mount them: a
// Secret's have the mode of their volume, and may be read by the pod's fsGroup.
// address is that of HTTP.
func mounted(t *testing.T, pod corev1.PodSpec, env map[string]string) (c container, address string) {
	t.Helper()
	const groupReads = 0o440
	dir, volume := t.TempDir(), pod.Volumes[slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "secrets" })]
	mode := os.FileMode(*volume.Secret.DefaultMode) | groupReads
	for name, content := range map[string]string{"tokens": "hush,admin,admin\n", "secret.key": secretKey} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), mode))
	}
	free := addresses(t, 2)
	spec := pod.Containers[0]
	require.Empty(t, spec.Command, "the image's entrypoint runs")
	require.Equal(t, "/healthz", spec.LivenessProbe.HTTPGet.Path)
	require.Equal(t, "/readyz", spec.ReadinessProbe.HTTPGet.Path)
	return container{args: spec.Args, env: env}.translated(
		"0.0.0.0:9018", free[0], "0.0.0.0:9048", free[1], "/etc/signpost", dir, "/data", filepath.Join(dir, "data"),
	), free[0]
}

func deployed(t *testing.T, server *kube.Server, name string) *appsv1.Deployment {
	t.Helper()
	deployment, err := server.Client.AppsV1().Deployments("signpost").Get(t.Context(), name, metav1.GetOptions{})
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
