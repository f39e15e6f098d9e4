package emco

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// deploymentLabel is on all that rsync applies: which context has the statuses,
// and the app.
const deploymentLabel = "emco/deployment-id"

// target is a cluster as rsync and the monitor reach it.
type target struct {
	client  kubernetes.Interface
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func newTarget(kubeconfig []byte) (*target, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	return &target{client: client, dynamic: objects, mapper: mapper}, nil
}

// ping tells whether the cluster can be worked with. EMCO asks for its version,
// which an API server that starts answers while it refuses all else: what is
// applied then fails for good.
func (t *target) ping(ctx context.Context) error {
	_, err := t.client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	return err
}

// apply puts an object into a cluster, labelled, into a namespace unless it
// names one.
func (t *target) apply(ctx context.Context, namespace, text, label string) error {
	object, at, err := t.locate(namespace, text)
	if err != nil {
		return err
	}
	tag(object, label)
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	_, err = at.Patch(ctx, object.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: rsyncController, Force: new(true)})
	return err
}

func (t *target) remove(ctx context.Context, namespace, text string) error {
	object, at, err := t.locate(namespace, text)
	if err != nil {
		return err
	}
	return at.Delete(ctx, object.GetName(), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
}

// locate reads an object and finds where its kind is in the cluster; what the
// cluster serves is asked again when the kind is not known.
func (t *target) locate(namespace, text string) (*unstructured.Unstructured, dynamic.ResourceInterface, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), len(text)+1).Decode(object); err != nil {
		return nil, nil, err
	}
	kind := object.GroupVersionKind()
	mapping, err := t.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		t.mapper.Reset()
		mapping, err = t.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return nil, nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return object, t.dynamic.Resource(mapping.Resource), nil
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(namespace)
	}
	return object, t.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
}

// tag labels an object, and the pods that it makes.
func tag(object *unstructured.Unstructured, label string) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[deploymentLabel] = label
	object.SetLabels(labels)
	if _, exists, err := unstructured.NestedMap(object.Object, "spec", "template"); err == nil && exists {
		// A template whose labels are no map is the API server's to refuse.
		_ = unstructured.SetNestedField(object.Object, label, "spec", "template", "metadata", "labels", deploymentLabel)
	}
}

// split parts "<name>+<Kind>".
func split(resource string) (name, kind string) {
	name, kind, _ = strings.Cut(resource, "+")
	return name, kind
}
