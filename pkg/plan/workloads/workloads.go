// Package workloads renders the manifests of a group's apps for the clusters
// that the apps run on.
package workloads

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/podspec"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/poddns"
)

// maxBytes limits the objects of a group on all its clusters, with equal objects counted
// once. Planning or applying the group needs them all in memory.
const maxBytes = 256 << 20

// Render makes each app's objects for each of the app's clusters, with Signpost's labels
// beside the manifest's own. They are in the logical cloud's namespace unless a manifest
// names one. Pod templates and selectors stay as they are, but for the DNS of pods
// (poddns.Render). The findings are about that: each once, in the order of apps and
// manifests. Each cluster that gets an object also gets the logical cloud's Namespace.
// Apps without manifests are somebody else's deployment, as all those of an orchestrated
// group, and give nothing. The error names the app and the manifest that cannot be read,
// or is that of a context that has ended.
func Render(ctx context.Context, g plan.Group) ([]bundle.Object, []poddns.Finding, error) {
	return render(ctx, g, maxBytes)
}

func render(ctx context.Context, g plan.Group, maxBytes int) ([]bundle.Object, []poddns.Finding, error) {
	var out []bundle.Object
	var findings []poddns.Finding
	housed, sharing := map[string]bool{}, bundle.NewSharing()
	for _, app := range g.Apps {
		manifests, err := Manifests(app)
		if err != nil {
			return nil, nil, err
		}
		findings = append(findings, podless(app, manifests)...)
		if len(manifests) == 0 {
			continue
		}
		for _, cluster := range app.Clusters {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			if !housed[cluster] {
				namespace, err := namespace(g, app.Name, cluster)
				if err != nil {
					return nil, nil, err
				}
				out, housed[cluster] = append(out, namespace), true
			}
			objects, found, err := onCluster(g, app, manifests, cluster)
			if err != nil {
				return nil, nil, err
			}
			out, findings = append(out, sharing.Share(objects...)...), append(findings, found...)
			if sharing.Size() > maxBytes {
				return nil, nil, fmt.Errorf("app %q: the differences between the clusters have more than %d bytes; divide the app among several groups", app.Name, maxBytes)
			}
		}
	}
	return out, distinct(findings), nil
}

// onCluster makes an app's objects for one of its clusters.
func onCluster(g plan.Group, app plan.App, manifests []manifest, cluster string) (objects []bundle.Object, findings []poddns.Finding, err error) {
	for _, manifest := range manifests {
		if app.PodDNS != nil {
			var found []poddns.Finding
			manifest, found = poddns.Render(manifest, *app.PodDNS, cluster)
			findings = append(findings, found...)
		}
		object, err := place(g, app.Name, cluster, manifest)
		if err != nil {
			return nil, nil, err
		}
		objects = append(objects, object)
	}
	return objects, findings, nil
}

// podless warns of an intent for the pods of an app that has none.
func podless(app plan.App, manifests []manifest) []poddns.Finding {
	hasPods := func(m manifest) bool { _, ok := podspec.Find(m); return ok }
	if app.PodDNS == nil || len(manifests) == 0 || slices.ContainsFunc(manifests, hasPods) {
		return nil
	}
	return []poddns.Finding{{
		Intent: app.PodDNS.Intent, Pointer: "/spec/app",
		Detail: fmt.Sprintf("app %q has no workload among its manifests: no pod gets the settings", app.Name),
	}}
}

// distinct are the findings, each once: those of one manifest are alike on most
// clusters.
func distinct(findings []poddns.Finding) []poddns.Finding {
	var out []poddns.Finding
	for _, f := range findings {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// namespace is the logical cloud's. It carries nothing of the group, for every
// group of the logical cloud has the same.
func namespace(g plan.Group, app, cluster string) (bundle.Object, error) {
	return bundle.New(cluster, app, &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: g.LogicalCloudNamespace, Labels: plan.Marks(g.Installation)},
	})
}

// manifest is a Kubernetes object of any kind.
type manifest = map[string]any

// Manifests are the objects of an app, those of v1 Lists among them one by one.
// The error names the manifest that cannot be read.
func Manifests(app plan.App) ([]map[string]any, error) {
	var out []manifest
	for n, raw := range app.Manifests {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		var content manifest
		if err := decoder.Decode(&content); err != nil {
			return nil, fmt.Errorf("manifest %d of app %q: %w", n, app.Name, err)
		}
		if content == nil {
			return nil, fmt.Errorf("manifest %d of app %q is not an object", n, app.Name)
		}
		objects, err := items(content)
		if err != nil {
			return nil, fmt.Errorf("manifest %d of app %q: %w", n, app.Name, err)
		}
		out = append(out, objects...)
	}
	return out, nil
}

func items(content manifest) ([]manifest, error) {
	if content["apiVersion"] != "v1" || content["kind"] != "List" {
		return []manifest{content}, nil
	}
	list, ok := content["items"].([]any)
	if !ok && content["items"] != nil {
		return nil, fmt.Errorf("the items of a List are no list")
	}
	var out []manifest
	for n, item := range list {
		object, ok := item.(manifest)
		if !ok || object == nil {
			return nil, fmt.Errorf("item %d of a List is not an object", n)
		}
		inner, err := items(object)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

// place makes the object of a manifest for one cluster. The manifest stays as
// it is.
func place(g plan.Group, app, cluster string, content manifest) (bundle.Object, error) {
	metadata := child(content, "metadata")
	if namespace, _ := metadata["namespace"].(string); namespace == "" {
		metadata["namespace"] = g.LogicalCloudNamespace
	}
	labels := child(metadata, "labels")
	delete(labels, bundle.LabelRecord) // by which Signpost knows its own DNSEndpoints
	delete(labels, bundle.LabelScope)
	for key, value := range g.Labels(app) {
		labels[key] = value
	}
	metadata["labels"] = labels
	content = maps.Clone(content)
	content["metadata"] = metadata
	raw, err := json.Marshal(content)
	if err != nil {
		return bundle.Object{}, fmt.Errorf("app %q: %w", app, err)
	}
	object, err := bundle.Parse(cluster, app, raw)
	switch {
	case err != nil:
		return bundle.Object{}, fmt.Errorf("app %q: %w", app, err)
	case object.Namespace != g.LogicalCloudNamespace:
		return bundle.Object{}, fmt.Errorf("app %q: %s is not in the logical cloud's namespace %s", app, object.ID, g.LogicalCloudNamespace)
	case object.Shared():
		return bundle.Object{}, fmt.Errorf("app %q: %s has the annotation %s, which Signpost reserves", app, object.ID, bundle.AnnotationKeys)
	}
	return object, nil
}

// child is a copy of an object within an object, empty where there is none.
func child(content manifest, key string) manifest {
	copied := manifest{}
	inner, _ := content[key].(manifest)
	maps.Copy(copied, inner)
	return copied
}
