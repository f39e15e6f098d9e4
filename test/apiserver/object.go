package apiserver

import (
	"net/http"
	"path"
	"strings"
)

// Object is an object in JSON.
type Object map[string]any

// metadata is that of an object; not nil if there is an object.
func (o Object) metadata() map[string]any {
	metadata, _ := o["metadata"].(map[string]any)
	return metadata
}

// asked is the object as it was asked for: whole, or its metadata alone.
func (o Object) asked(brief bool) Object {
	if !brief || o["kind"] == "Status" {
		return o
	}
	return Object{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": o["metadata"]}
}

// selected reports whether the labels are those of a selector: keys that have
// to be there, or keys with their values.
func (o Object) selected(selector string) bool {
	labels, _ := o.metadata()["labels"].(map[string]any)
	for part := range strings.SplitSeq(selector, ",") {
		key, value, equals := strings.Cut(part, "=")
		if part != "" && (labels[key] == nil || equals && labels[key] != value) {
			return false
		}
	}
	return true
}

// failure is an answer that refuses. That of an absent object says its path.
func failure(code int, message string) (int, Object) {
	reasons := map[int]string{http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict"}
	return code, Object{
		"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reasons[code], "message": message,
		"details": map[string]any{"name": path.Base(message)},
	}
}

// discovered is what clients ask for before they use a kind that they have no
// path for; nil for any other path.
func discovered(at string) Object {
	const group, version = "externaldns.k8s.io", "externaldns.k8s.io/v1alpha1"
	versions := map[string]any{"groupVersion": version, "version": "v1alpha1"}
	switch at {
	case "/api":
		return Object{"kind": "APIVersions", "versions": []any{"v1"}}
	case "/api/v1":
		return Object{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{
			map[string]any{"name": "namespaces", "singularName": "namespace", "namespaced": false, "kind": "Namespace", "verbs": []any{"get", "list", "watch"}},
		}}
	case "/apis":
		return Object{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{
			map[string]any{"name": group, "versions": []any{versions}, "preferredVersion": versions},
		}}
	case "/apis/" + group:
		return Object{"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": []any{versions}, "preferredVersion": versions}
	case "/apis/" + version:
		verbs := []any{"get", "list", "watch", "update", "patch"}
		return Object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": []any{
			map[string]any{"name": "dnsendpoints", "singularName": "dnsendpoint", "namespaced": true, "kind": "DNSEndpoint", "verbs": verbs},
			map[string]any{"name": "dnsendpoints/status", "namespaced": true, "kind": "DNSEndpoint", "verbs": verbs},
		}}
	default:
		return nil
	}
}

// groupVersion returns the first parts of a path behind /api or /apis.
func groupVersion(path string) []string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		return parts[1:2]
	}
	return parts[1:3]
}

// resource splits what is behind the version: the namespace, the resource and
// the name, which may be empty.
func resource(path string) (namespace, plural, name string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	parts = append(parts[len(groupVersion(path))+1:], "", "", "", "")
	if parts[0] == "namespaces" && parts[2] != "" {
		return parts[1], parts[2], parts[3]
	}
	return "", parts[0], parts[1]
}

// listed reports whether a path is that of a collection.
func listed(path string) bool {
	_, _, name := resource(path)
	return name == ""
}

// kindOf is what all objects of a kind have in common, by the path of one, or of several.
func kindOf(path string) string {
	_, plural, _ := resource(path)
	return strings.Join(groupVersion(path), "/") + "/" + plural
}

// within reports whether a list or watch at a path has an object.
func within(list, at string) bool {
	namespace, _, _ := resource(list)
	of, _, _ := resource(at)
	return kindOf(list) == kindOf(at) && (namespace == "" || namespace == of)
}

// listKind is the kind of a list of what clients have types for.
func listKind(path string) string {
	_, plural, _ := resource(path)
	kind := map[string]string{
		"services": "Service", "deployments": "Deployment", "daemonsets": "DaemonSet", "pods": "Pod", "nodes": "Node",
		"endpointslices": "EndpointSlice", "ingresses": "Ingress", "dnsendpoints": "DNSEndpoint",
	}[plural]
	return kind + "List"
}
