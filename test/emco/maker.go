package emco

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// makeContext writes the context of a group. What cannot be written is deleted
// again; a crash leaves what it left.
func (w *World) makeContext(ctx context.Context, dig DIG) (string, error) {
	c, err := w.plan(dig)
	if err != nil {
		return "", err
	}
	err = w.WriteContext(ctx, c)
	if err != nil && !errors.Is(err, errCrashed) {
		err = errors.Join(err, w.DeleteContext(ctx, c.ID))
	}
	if err != nil {
		return c.ID, fmt.Errorf("error in making AppContext: %w", err)
	}
	return c.ID, nil
}

// plan is the context that a group's documents ask for.
func (w *World) plan(dig DIG) (AppContext, error) {
	group, exists := read[deploymentIntentGroup](w.docs, dig.path())
	if !exists {
		return AppContext{}, errors.New("DeploymentIntentGroup not found")
	}
	cloud, exists := read[logicalCloud](w.docs, cloudOf(dig.Project, group.Spec.LogicalCloud))
	if !exists {
		return AppContext{}, errors.New("failed to obtain Logical Cloud specified")
	}
	if !w.isInstantiated(dig.Project, group.Spec.LogicalCloud) {
		return AppContext{}, errors.New("the Logical Cloud has never been instantiated")
	}
	c := AppContext{ID: NewID(), Meta: Meta{
		Project: dig.Project, CompositeApp: dig.CompositeApp, Version: dig.Version,
		Release: group.Spec.Version, DeploymentIntentGroup: dig.Name,
		Namespace: cloud.Spec.Namespace, Level: cloud.Spec.Level, LogicalCloud: cloud.Metadata.Name,
		Extra: w.extraMeta,
	}}
	for _, found := range w.docs.in(dig.app()+"/apps", 1) {
		app, err := w.planApp(dig, cloud.Metadata.Name, nameOf(found.value), found.file)
		if err != nil {
			return AppContext{}, err
		}
		c.Apps = append(c.Apps, app)
	}
	return c, nil
}

func (w *World) planApp(dig DIG, cloud, name string, manifests []byte) (App, error) {
	clusters, err := w.place(dig, cloud, name)
	if err != nil {
		return App{}, fmt.Errorf("app %s: %w", name, err)
	}
	resources, definitions, err := render(manifests)
	if err != nil {
		return App{}, fmt.Errorf("app %s: %w", name, err)
	}
	app := App{Name: name}
	for _, c := range clusters {
		app.Clusters = append(app.Clusters, Cluster{Name: c.name(), Group: c.group, Resources: resources, CRDs: definitions})
	}
	return app, nil
}

// render makes resources of the manifests that stand for an app's chart, each
// with its bytes as they are, in the order in which Helm installs kinds;
// definitions of kinds are apart.
func render(manifests []byte) (resources, definitions []Resource, err error) {
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifests)))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		name, kind, err := identify(text)
		switch r := (Resource{Name: name + "+" + kind, Text: string(text)}); {
		case err != nil:
			return nil, nil, err
		case r.Name == "+": // nothing but comments
		case kind == "CustomResourceDefinition":
			definitions = append(definitions, r)
		default:
			resources = append(resources, r)
		}
	}
	slices.SortStableFunc(resources, func(a, b Resource) int { return cmp.Compare(installed(a), installed(b)) })
	return resources, definitions, nil
}

// identify reads the name and kind of an object.
func identify(text []byte) (name, kind string, err error) {
	var object struct {
		Kind     string
		Metadata struct{ Name string }
	}
	err = yaml.Unmarshal(text, &object)
	return object.Metadata.Name, object.Kind, err
}

// installed is the place of a resource's kind among those that Helm knows;
// others come last.
func installed(r Resource) int {
	kinds := []string{
		"Namespace", "NetworkPolicy", "ServiceAccount", "Secret", "ConfigMap", "PersistentVolumeClaim",
		"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service",
		"DaemonSet", "Pod", "ReplicaSet", "Deployment", "StatefulSet", "Job", "CronJob", "Ingress",
	}
	_, kind := split(r.Name)
	if at := slices.Index(kinds, kind); at >= 0 {
		return at
	}
	return len(kinds)
}
