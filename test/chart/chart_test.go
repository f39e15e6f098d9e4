// Package chart proves the Helm chart of deploy/helm: Helm's own code renders
// it, a real API server takes its objects, and kustomize builds the same
// objects but for differences that are listed with their reasons.
package chart

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli/serve"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// root is the directory of the repository.
const root = "../.."

// everything switches on what no variant has.
const everything = `
mode: replicated
image: {digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", pullPolicy: Always}
imagePullSecrets: [registry]
etcd:
  endpoints: ["https://etcd:2379"]
  tls: {secretName: etcd-tls, clientCertificate: true}
  auth: {user: signpost, secretName: etcd-password}
tls: {enabled: true}
oidc: {issuer: "https://login.example", audience: signpost}
policy: {grants: [{role: admin, groups: ["oidc:platform"]}]}
settings: {SIGNPOST_REQUIRE_DOMAINS: "true"}
networkPolicy:
  enabled: true
  restFrom: [{namespaceSelector: {}}]
  grpcFrom: [{podSelector: {matchLabels: {app: orchestrator}}}]
serviceMonitor: {enabled: true, labels: {release: prometheus}}
podAnnotations: {team: dns}
podLabels: {team: dns}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: dedicated, operator: Exists}]
affinity: {nodeAffinity: {}}
priorityClassName: important
extraVolumes: [{name: authority, configMap: {name: authority}}]
extraVolumeMounts: [{name: authority, mountPath: /etc/authority}]
`

// variants are the values files by the overlay of kustomize that each is compared with.
func variants() map[string]string {
	return map[string]string{"standalone": "values.yaml", "replicated": "values-replicated.yaml", "secured": "values-secured.yaml", "emco": "values-emco.yaml"}
}

func directory() string { return filepath.Join(root, "deploy", "helm", "signpost") }

func load(t *testing.T) *helmchart.Chart {
	t.Helper()
	loaded, err := loader.Load(directory())
	require.NoError(t, err)
	return loaded
}

// valuesOf are the values of a file of the chart.
func valuesOf(t *testing.T, file string) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValuesFile(filepath.Join(directory(), file))
	require.NoError(t, err)
	return values
}

// rendered are the manifest and the notes that "helm install NAME -n signpost" makes of values.
func rendered(t *testing.T, name string, values map[string]any) (manifest, notes string, err error) {
	t.Helper()
	loaded := load(t)
	options := chartutil.ReleaseOptions{Name: name, Namespace: "signpost", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(loaded, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return "", "", err
	}
	files, err := engine.Engine{Strict: true, LintMode: false}.Render(loaded, all)
	if err != nil {
		return "", "", err
	}
	var documents []string
	for file, text := range files {
		switch {
		case strings.HasSuffix(file, "NOTES.txt"):
			notes = text
		case strings.TrimSpace(text) != "":
			documents = append(documents, text)
		}
	}
	return strings.Join(documents, "\n---\n"), notes, nil
}

// objects are those that the chart makes of values, under the release's name signpost.
func objects(t *testing.T, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	manifest, _, err := rendered(t, "signpost", values)
	require.NoError(t, err)
	parsed, err := kube.Parse(manifest)
	require.NoError(t, err)
	return parsed
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &values))
	return values
}

// TestAnAPIServerTakesEachVariant in a namespace that enforces the strictest pod
// security standard. Unknown and repeated fields are errors.
func TestAnAPIServerTakesEachVariant(t *testing.T) {
	server := apiServer(t)
	all := map[string]map[string]any{"everything": parsed(t, everything)}
	for name, file := range variants() {
		all[name] = valuesOf(t, file)
	}
	for name, values := range all {
		for _, object := range objects(t, values) {
			if object.GetKind() == "ServiceMonitor" {
				continue // TestTheMonitorIsOneOfPrometheusOperator
			}
			text, err := yaml.Marshal(object)
			require.NoError(t, err)
			require.NoError(t, server.Apply(t.Context(), string(text)), name)
			if object.GetKind() == "Deployment" {
				takesPod(t, server, name, object)
			}
		}
	}
}

// takesPod requires that the server takes a pod of a Deployment.
func takesPod(t *testing.T, server *kube.Server, variant string, object *unstructured.Unstructured) {
	t.Helper()
	var deployment appsv1.Deployment
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: deployment.Name + "-", Labels: deployment.Spec.Template.Labels},
		Spec:       deployment.Spec.Template.Spec,
	}
	pod.Spec.PriorityClassName = "" // the server looks it up
	_, err := server.Client.CoreV1().Pods("signpost").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err, "%s: %s", variant, deployment.Name)
}

// apiServer starts a kube-apiserver with a namespace that enforces the pod
// security standard restricted.
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
	namespace, err := os.ReadFile(filepath.Join(root, "deploy", "kustomize", "base", "namespace.yaml"))
	require.NoError(t, err)
	require.NoError(t, server.Apply(t.Context(), string(namespace)))
	return server
}

// The operator's own types have all fields of the monitor.
func TestTheMonitorIsOneOfPrometheusOperator(t *testing.T) {
	for _, tls := range []bool{false, true} {
		values := valuesOf(t, "values-replicated.yaml")
		values["serviceMonitor"] = map[string]any{"enabled": true}
		values["tls"] = map[string]any{"enabled": tls}
		var monitor monitoringv1.ServiceMonitor
		var service corev1.Service
		for _, object := range objects(t, values) {
			switch {
			case object.GetKind() == "ServiceMonitor":
				strictly(t, object, &monitor)
			case object.GetKind() == "Service" && object.GetName() == "signpost-metrics":
				strictly(t, object, &service)
			}
		}
		require.Len(t, monitor.Spec.Endpoints, 1)
		endpoint := monitor.Spec.Endpoints[0]
		require.Equal(t, service.Spec.Ports[0].Name, endpoint.Port)
		require.Equal(t, "signpost-metrics", endpoint.Authorization.Credentials.Name, "the token of a viewer")
		require.Equal(t, tls, endpoint.TLSConfig != nil)
		selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
		require.NoError(t, err)
		require.True(t, selector.Matches(labels.Set(service.Labels)), "the monitor selects the Service of metrics")
		require.NotContains(t, service.Spec.Selector, "app.kubernetes.io/component", "the Service leads to API servers and workers")
	}
}

func strictly(t *testing.T, object *unstructured.Unstructured, into any) {
	t.Helper()
	text, err := json.Marshal(object)
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(into))
}

// The schema and the templates name the value that is wrong, and say what to do.
func TestBadValuesAreRefused(t *testing.T) {
	for values, want := range map[string]string{
		`mode: singel`:                                   `at '/mode': value must be one of 'standalone', 'replicated'`,
		`replica: 3`:                                     `additional properties 'replica' not allowed`,
		`replicas: {api: 0}`:                             `at '/replicas/api': minimum: got 0, want 1`,
		`image: {digest: abc}`:                           `at '/image/digest': 'abc' does not match pattern`,
		`image: {tag: 1.0}`:                              `at '/image/tag': got number, want string`,
		`etcd: {endpoints: http://etcd:2379}`:            `at '/etcd/endpoints': got string, want array`,
		`etcd: {endpoints: ["etcd:2379"]}`:               `at '/etcd/endpoints/0': 'etcd:2379' does not match pattern '^https?`,
		`settings: {require-domains: "true"}`:            `at '/settings': additional properties 'require-domains' not allowed`,
		`settings: {SIGNPOST_REQUIRE_DOMAINS: true}`:     `at '/settings/SIGNPOST_REQUIRE_DOMAINS': got boolean, want string`,
		`oidc: {issuer: "http://login.example"}`:         `at '/oidc/issuer': 'http://login.example' does not match pattern '^(https:`,
		`policy: {grants: [{groups: [a]}]}`:              `at '/policy/grants/0': missing property 'role'`,
		`persistence: {accessModes: [ReadWriteMany]}`:    `at '/persistence/accessModes/0': value must be one of`,
		`serviceMonitor: {interval: often}`:              `at '/serviceMonitor/interval': 'often' does not match pattern`,
		`mode: replicated`:                               `mode replicated needs an etcd cluster: set etcd.endpoints`,
		`etcd: {endpoints: ["http://etcd:2379"]}`:        `mode standalone has an embedded etcd: set mode to replicated`,
		`etcd: {auth: {user: signpost}}`:                 `etcd.auth.user needs a password: set etcd.auth.secretName`,
		`etcd: {tls: {clientCertificate: true}}`:         `set etcd.tls.secretName`,
		`oidc: {issuer: "https://login.example"}`:        `set oidc.audience`,
		`oidc: {audience: signpost}`:                     `set oidc.issuer`,
		`policy: {grants: [{role: admin, groups: [a]}]}`: `policy.grants needs subjects from an issuer or from certificates: set oidc.issuer`,
	} {
		_, _, err := rendered(t, "signpost", parsed(t, values))
		require.ErrorContains(t, err, want, values)
	}
}

// Each property of the schema has a default in values.yaml, and the other way
// round: no value is without a check, or unknown to the reader.
func TestEachValueHasADefaultAndASchema(t *testing.T) {
	var schema map[string]any
	require.NoError(t, json.Unmarshal(load(t).Schema, &schema))
	properties := schema["properties"].(map[string]any)
	delete(properties, "global") // Helm's own
	equalKeys(t, "", schema, valuesOf(t, "values.yaml"))
}

func equalKeys(t *testing.T, path string, schema, values map[string]any) {
	t.Helper()
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return // free-form
	}
	for name, property := range properties {
		require.Contains(t, values, name, "values.yaml has no %s", path+name)
		if inner, ok := values[name].(map[string]any); ok {
			equalKeys(t, path+name+".", property.(map[string]any), inner)
		}
	}
	for name := range values {
		require.Contains(t, properties, name, "the schema has no %s", path+name)
	}
}

// Each variable in the objects is a flag of "signpost serve", and so is each
// argument.
func TestEachVariableIsAFlag(t *testing.T) {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	serve.ServeFlags(flags, &app.Config{})
	known := map[string]bool{}
	flags.VisitAll(func(flag *pflag.Flag) {
		known["SIGNPOST_"+strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))] = true
		known["--"+flag.Name] = true
	})
	named := regexp.MustCompile(`SIGNPOST_[A-Z_]+|- (--[a-z-]+)=`)
	for name, values := range map[string]map[string]any{"everything": parsed(t, everything), "emco": valuesOf(t, "values-emco.yaml")} {
		manifest, _, err := rendered(t, "signpost", values)
		require.NoError(t, err)
		found := named.FindAllString(manifest, -1)
		require.Greater(t, len(found), 10)
		for _, each := range found {
			require.Contains(t, known, strings.TrimSuffix(strings.TrimPrefix(each, "- "), "="), "%s", name)
		}
	}
}

// A change of the settings or of the policy rolls the pods.
func TestAChangedConfigMapRollsThePods(t *testing.T) {
	values, changed := parsed(t, everything), parsed(t, everything)
	changed["settings"] = map[string]any{"SIGNPOST_REQUIRE_DOMAINS": "false"}
	changed["oidc"] = map[string]any{"issuer": "https://other.example", "audience": "signpost"}
	before, after := annotations(t, values), annotations(t, changed)
	for _, name := range []string{"checksum/stores", "checksum/access"} {
		require.Regexp(t, "^[0-9a-f]{64}$", before[name])
		require.NotEqual(t, before[name], after[name], name)
	}
	require.Equal(t, "dns", before["team"])
	require.Equal(t, before, annotations(t, values))
}

// annotations are those of the pods of the API.
func annotations(t *testing.T, values map[string]any) map[string]string {
	t.Helper()
	for _, object := range objects(t, values) {
		if object.GetKind() == "Deployment" && object.GetName() == "signpost-api" {
			found, _, err := unstructured.NestedStringMap(object.Object, "spec", "template", "metadata", "annotations")
			require.NoError(t, err)
			return found
		}
	}
	t.Fatal("there is no Deployment of the API")
	return nil
}

// Two releases in one namespace have no object, and no pod, in common.
func TestTwoReleasesShareNothing(t *testing.T) {
	names := map[string]string{}
	for _, release := range []string{"signpost", "east", "east-signpost"} {
		manifest, notes, err := rendered(t, release, parsed(t, everything))
		require.NoError(t, err)
		require.NotContains(t, notes, "<no value>")
		parsed, err := kube.Parse(manifest)
		require.NoError(t, err)
		for _, object := range parsed {
			key := object.GetKind() + " " + object.GetName()
			if release != "east-signpost" { // it has the names of east
				require.NotContains(t, names, key, "%s has it, too", names[key])
			}
			names[key] = release
			require.Equal(t, "signpost", object.GetNamespace(), key)
			require.Equal(t, release, object.GetLabels()["app.kubernetes.io/instance"], key)
		}
	}
}
