package admit

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/grant"
	"github.com/signpost-dns/signpost/pkg/podspec"
)

// manifest is what admit reads of a Kubernetes object.
type manifest struct {
	APIVersion string
	Kind       string
	Items      any
	Metadata   struct {
		Name         string
		Namespace    string
		Labels       map[string]string
		Annotations  map[string]string
		GenerateName string

		all map[string]any
	}
}

// group is the API group, empty for the core group.
func (m manifest) group() string {
	group, _, grouped := strings.Cut(m.APIVersion, "/")
	if !grouped {
		return ""
	}
	return group
}

// deepestManifest is how deeply objects and lists of a manifest may nest;
// Kubernetes' own stay far below.
const deepestManifest = 64

// readManifest decodes an object. Its fields are matched as Kubernetes matches
// them: by their exact names.
func readManifest(raw json.RawMessage) (manifest, error) {
	var m manifest
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var content any
	if err := decoder.Decode(&content); err != nil {
		return m, err
	}
	object, ok := content.(map[string]any)
	if !ok {
		return m, errors.New("is no Kubernetes object; give one with apiVersion, kind and metadata")
	}
	if depth(object, deepestManifest+1) > deepestManifest {
		return m, errors.New("nests more than 64 deep; a Kubernetes object does not")
	}
	var faults []string
	read := reader{&faults}
	m.APIVersion, m.Kind, m.Items = read.text(object, "apiVersion"), read.text(object, "kind"), object["items"]
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return m, errors.New("has no metadata; give one with a name")
	}
	m.Metadata.Name, m.Metadata.Namespace = read.text(metadata, "name"), read.text(metadata, "namespace")
	m.Metadata.Labels, m.Metadata.Annotations = read.texts(metadata, "labels"), read.texts(metadata, "annotations")
	m.Metadata.GenerateName, m.Metadata.all = read.text(metadata, "generateName"), metadata
	read.spellings(object, "apiVersion", "kind", "metadata", "spec", "status", "data", "items")
	read.spellings(metadata, "name", "namespace", "labels", "annotations", "generateName")
	for _, field := range notByManifests() {
		read.spellings(metadata, field.name)
	}
	if len(faults) > 0 {
		return m, errors.New(strings.Join(faults, "; "))
	}
	return m, nil
}

// reader reads texts out of decoded JSON and notes what is none.
type reader struct{ faults *[]string }

func (r reader) text(object map[string]any, name string) string {
	text, ok := object[name].(string)
	if !ok && object[name] != nil {
		*r.faults = append(*r.faults, name+" is no text; give it in quotes")
	}
	return text
}

// spellings refuses keys that differ from a field's name in nothing but letter
// case: a lenient reader would take one for the field, and Kubernetes does not.
func (r reader) spellings(object map[string]any, fields ...string) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		for _, field := range fields {
			if key != field && strings.EqualFold(key, field) {
				*r.faults = append(*r.faults, quote(key)+" is no field of Kubernetes; write "+field)
			}
		}
	}
}

func (r reader) texts(object map[string]any, name string) map[string]string {
	inner, ok := object[name].(map[string]any)
	if !ok {
		if object[name] != nil {
			*r.faults = append(*r.faults, name+" is no object")
		}
		return nil
	}
	texts := make(map[string]string, len(inner))
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		texts[key] = r.text(inner, key)
	}
	return texts
}

// depth is how deeply a value nests, counted no further than most.
func depth(value any, most int) int {
	if most == 0 {
		return 0
	}
	deepest := 0
	switch value := value.(type) {
	case map[string]any:
		for _, inner := range value {
			deepest = max(deepest, depth(inner, most-1))
		}
	case []any:
		for _, inner := range value {
			deepest = max(deepest, depth(inner, most-1))
		}
	default:
		return 0
	}
	return deepest + 1
}

// manifests checks the objects of an app. cloud is the namespace of the
// logical cloud, the only one they may be in; empty when it is not known.
func (r *review) manifests(at pointer, manifests []json.RawMessage, cloud string) {
	type identity struct{ group, kind, name string }
	places := map[identity]pointer{}
	for i, raw := range manifests {
		here := at.index(i)
		m, err := readManifest(raw)
		if err != nil {
			r.refusef(here, "%s", err)
			continue
		}
		r.manifestKind(here, m)
		r.manifestMetadata(here+"/metadata", m, cloud)
		r.manifestKeys(here, raw)
		r.manifestDNS(here, raw)
		id := identity{m.group(), m.Kind, m.Metadata.Name}
		if first, twice := places[id]; twice {
			r.refusef(here, "%s %s is given at %s already; give each object once", m.Kind, quote(m.Metadata.Name), first)
			continue
		}
		places[id] = here
	}
}

// manifestKind allows namespaced kinds without RBAC.
func (r *review) manifestKind(at pointer, m manifest) {
	group, version, grouped := strings.Cut(m.APIVersion, "/")
	if !grouped {
		group, version = "", m.APIVersion
	}
	if !isDNSLabel(version) || grouped && !isSubdomain(group) {
		r.refusef(at.key("apiVersion"), "%s is no API version; give one such as v1 or apps/v1", quote(m.APIVersion))
	}
	kind := at.key("kind")
	switch {
	case !isLabelValue(m.Kind):
		r.refusef(kind, "%s is no kind; give one such as Service", quote(m.Kind))
	case strings.HasSuffix(m.Kind, "List") && (m.Items != nil || m.Kind == "List"):
		r.refusef(kind, "%s holds other objects; give each of them as a manifest of its own", m.Kind)
	case isAccessControl(group):
		r.refusef(kind, "%s (%s) grants rights, which an app's manifests may not; let the cluster's operator create it", m.Kind, m.APIVersion)
	case isClusterScoped(group, m.Kind):
		r.refusef(kind, "%s (%s) belongs to no namespace; an app's manifests may hold namespaced kinds alone", m.Kind, m.APIVersion)
	case group == "core":
		r.refusef(at.key("apiVersion"), "%s is no API version; the core group has none in front of its version: write %s", quote(m.APIVersion), version)
	case group == "" && !grant.Common(group, m.Kind):
		r.refusef(kind, "%s is no kind of %s that manifests may hold; write it as Kubernetes does, as in ConfigMap", quote(m.Kind), m.APIVersion)
	}
}

// manifestMetadata checks name and namespace, and what only servers write.
func (r *review) manifestMetadata(at pointer, m manifest, cloud string) {
	const oldestNames = "Service" // whose names are host names
	switch name := m.Metadata.Name; {
	case name == "" && m.Metadata.GenerateName != "":
		r.refusef(at.key("generateName"), "makes a new object each time; give a name")
	case m.Kind == oldestNames && !isDNSLabel(name), !isSubdomain(name):
		r.refusef(at.key("name"), "%s is no name of a %s; use lower-case letters, digits and '-'", quote(name), m.Kind)
	}
	if namespace := m.Metadata.Namespace; namespace != "" && cloud != "" && namespace != cloud {
		r.refusef(at.key("namespace"), "%s is not the logical cloud's namespace; leave it out, or give %s", quote(namespace), quote(cloud))
	}
	r.labels(at.key("labels"), m.Metadata.Labels)
	r.annotations(at.key("annotations"), m.Metadata.Annotations)
	for _, part := range []struct {
		name string
		keys map[string]string
	}{{"labels", m.Metadata.Labels}, {"annotations", m.Metadata.Annotations}} {
		for _, key := range slices.Sorted(maps.Keys(part.keys)) {
			if ours(key) {
				r.refusef(at.key(part.name).key(key), "%s %s", quote(key), oursAdvice)
			}
		}
	}
	for _, field := range notByManifests() {
		if isSet(m.Metadata.all[field.name]) {
			r.refusef(at.key(field.name), "%s; leave it out", field.why)
		}
	}
}

// Why a manifest may not have a field of an object's metadata.
const (
	byServers = "is written by an API server alone"
	holds     = "would keep the cluster from deleting the object until somebody takes them away, which Signpost does not"
	owned     = "would have the cluster delete the object together with another, which Signpost would put back"
)

// refusedField is a field of an object's metadata that no manifest may have.
type refusedField struct{ name, why string }

func notByManifests() []refusedField {
	return []refusedField{
		{"managedFields", byServers}, {"resourceVersion", byServers}, {"uid", byServers}, {"selfLink", byServers},
		{"deletionTimestamp", byServers}, {"deletionGracePeriodSeconds", byServers},
		{"finalizers", holds}, {"ownerReferences", owned},
	}
}

// isSet tells whether a field says anything.
func isSet(value any) bool {
	switch value := value.(type) {
	case []any:
		return len(value) > 0
	case map[string]any:
		return len(value) > 0
	}
	return value != nil && value != ""
}

// manifestKeys refuses Signpost's own labels and annotations beside the object's
// metadata, as in the template and the selector of its pods: by these Signpost
// and its external-dns tell their objects from others.
func (r *review) manifestKeys(at pointer, raw json.RawMessage) {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		r.refusef(at, "%s", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != "metadata" {
			r.noKeysOfOurs(at.key(name), fields[name])
			r.noHolds(at.key(name), fields[name])
		}
	}
}

// noHolds refuses finalizers and owners of what a controller makes of a template,
// as pods and volume claims: it copies them.
func (r *review) noHolds(at pointer, value any) {
	switch value := value.(type) {
	case map[string]any:
		metadata, _ := value["metadata"].(map[string]any)
		if isSet(metadata["finalizers"]) {
			r.refusef(at.key("metadata").key("finalizers"), "%s; leave it out", holds)
		}
		if isSet(metadata["ownerReferences"]) {
			r.refusef(at.key("metadata").key("ownerReferences"), "%s; leave it out", owned)
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			r.noHolds(at.key(key), value[key])
		}
	case []any:
		for i, item := range value {
			r.noHolds(at.index(i), item)
		}
	}
}

// manifestDNS refuses what a lenient reader would take for the DNS settings of
// the pods, and Kubernetes does not.
func (r *review) manifestDNS(at pointer, raw json.RawMessage) {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return // is told already
	}
	place, ok := podspec.Find(fields)
	if !ok || !place.Known {
		return
	}
	pod := podspec.At(fields, place.Fields)
	config, _ := pod["dnsConfig"].(map[string]any)
	options, _ := config["options"].([]any)
	for _, field := range place.Fields {
		at = at.key(field)
	}
	r.spellings(at, pod, "dnsPolicy", "dnsConfig", "hostNetwork")
	r.spellings(at.key("dnsConfig"), config, "nameservers", "searches", "options")
	for i, item := range options {
		option, _ := item.(map[string]any)
		r.spellings(at.key("dnsConfig").key("options").index(i), option, "name", "value")
	}
}

// spellings refuses other spellings of an object's fields.
func (r *review) spellings(at pointer, object map[string]any, fields ...string) {
	var faults []string
	reader{&faults}.spellings(object, fields...)
	for _, fault := range faults {
		r.refusef(at, "%s", fault)
	}
}

func (r *review) noKeysOfOurs(at pointer, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if ours(key) {
				r.refusef(at.key(key), "%s %s", quote(key), oursAdvice)
				continue
			}
			r.noKeysOfOurs(at.key(key), value[key])
		}
	case []any:
		for i, item := range value {
			r.noKeysOfOurs(at.index(i), item)
		}
	}
}

// isAccessControl tells the groups whose objects grant rights.
func isAccessControl(group string) bool {
	return group == "rbac.authorization.k8s.io" || group == "authorization.openshift.io"
}

// isClusterScoped tells the kinds without a namespace of Kubernetes and of
// what is commonly installed beside it. Others show when they are applied.
func isClusterScoped(group, kind string) bool {
	switch group {
	case "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io",
		"authentication.k8s.io", "authorization.k8s.io", "flowcontrol.apiserver.k8s.io",
		"internal.apiserver.k8s.io", "storagemigration.k8s.io",
		"config.openshift.io", "security.openshift.io", "project.openshift.io":
		return true
	}
	switch group + "/" + kind {
	case "/Namespace", "/Node", "/PersistentVolume", "/ComponentStatus",
		"scheduling.k8s.io/PriorityClass",
		"storage.k8s.io/StorageClass", "storage.k8s.io/VolumeAttachment", "storage.k8s.io/CSIDriver",
		"storage.k8s.io/CSINode", "storage.k8s.io/VolumeAttributesClass",
		"networking.k8s.io/IngressClass", "networking.k8s.io/IPAddress", "networking.k8s.io/ServiceCIDR",
		"node.k8s.io/RuntimeClass", "policy/PodSecurityPolicy", "extensions/PodSecurityPolicy",
		"certificates.k8s.io/CertificateSigningRequest", "certificates.k8s.io/ClusterTrustBundle",
		"resource.k8s.io/DeviceClass", "resource.k8s.io/ResourceSlice", "resource.k8s.io/DeviceTaintRule",
		"gateway.networking.k8s.io/GatewayClass",
		"snapshot.storage.k8s.io/VolumeSnapshotClass", "snapshot.storage.k8s.io/VolumeSnapshotContent":
		return true
	}
	return false
}
