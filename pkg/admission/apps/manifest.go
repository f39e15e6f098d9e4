package apps

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/podspec"
)

// Manifest is what admit reads of a Kubernetes object.
type Manifest struct {
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

// deepestManifest is how deeply objects and lists of a manifest may nest;
// Kubernetes' own stay far below.
const deepestManifest = 64

// ReadManifest decodes an object. Its fields are matched as Kubernetes matches
// them: by their exact names.
func ReadManifest(raw json.RawMessage) (Manifest, error) {
	var m Manifest
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var content any
	if err := decoder.Decode(&content); err != nil {
		return m, err
	}
	object, ok := content.(map[string]any)
	if !ok {
		return m, errors.New("is not a Kubernetes object; give one with apiVersion, kind and metadata")
	}
	if depth(object, deepestManifest+1) > deepestManifest {
		return m, errors.New("nests more than 64 levels deep; a Kubernetes object does not")
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
		*r.faults = append(*r.faults, name+" is not a string; give it in quotes")
	}
	return text
}

// spellings refuses keys that differ from a field's name only in letter case. A lenient
// reader would accept such a key as the field, and Kubernetes does not.
func (r reader) spellings(object map[string]any, fields ...string) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		for _, field := range fields {
			if key != field && strings.EqualFold(key, field) {
				*r.faults = append(*r.faults, review.Quote(key)+" is not a field of Kubernetes; write "+field)
			}
		}
	}
}

func (r reader) texts(object map[string]any, name string) map[string]string {
	inner, ok := object[name].(map[string]any)
	if !ok {
		if object[name] != nil {
			*r.faults = append(*r.faults, name+" is not an object")
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

// checkManifests checks the objects of an app. They may only be in cloud, the namespace
// of the logical cloud; it is empty when it is not known.
func checkManifests(r *review.Review, at review.Pointer, manifests []json.RawMessage, cloud string) {
	type identity struct{ group, kind, name string }
	places := map[identity]review.Pointer{}
	for i, raw := range manifests {
		here := at.Index(i)
		m, err := ReadManifest(raw)
		if err != nil {
			r.Refusef(here, "%s", err)
			continue
		}
		checkManifestKind(r, here, m)
		checkManifestMetadata(r, here+"/metadata", m, cloud)
		checkManifestKeys(r, here, raw)
		checkManifestDNS(r, here, raw)
		id := identity{grant.Group(m.APIVersion), m.Kind, m.Metadata.Name}
		if first, twice := places[id]; twice {
			r.Refusef(here, "%s %s is given at %s already; give each object once", m.Kind, review.Quote(m.Metadata.Name), first)
			continue
		}
		places[id] = here
	}
}

// checkManifestKind allows namespaced kinds without RBAC.
func checkManifestKind(r *review.Review, at review.Pointer, m Manifest) {
	group, version, grouped := strings.Cut(m.APIVersion, "/")
	if !grouped {
		group, version = "", m.APIVersion
	}
	if !review.IsDNSLabel(version) || grouped && !review.IsSubdomain(group) {
		r.Refusef(at.Key("apiVersion"), "%s is not an API version; give one such as v1 or apps/v1", review.Quote(m.APIVersion))
	}
	kind := at.Key("kind")
	switch {
	case !review.IsLabelValue(m.Kind):
		r.Refusef(kind, "%s is not a kind; give one such as Service", review.Quote(m.Kind))
	case strings.HasSuffix(m.Kind, "List") && (m.Items != nil || m.Kind == "List"):
		r.Refusef(kind, "%s holds other objects; give each of them as a manifest of its own", m.Kind)
	case review.IsAccessControl(group):
		r.Refusef(kind, "%s (%s) grants rights, which an app's manifests must not do; let the cluster's operator create it", m.Kind, m.APIVersion)
	case review.IsClusterScoped(group, m.Kind):
		r.Refusef(kind, "%s (%s) belongs to no namespace; an app's manifests may hold only namespaced kinds", m.Kind, m.APIVersion)
	case group == "core":
		r.Refusef(at.Key("apiVersion"), "%s is not an API version; the core group has none in front of its version: write %s", review.Quote(m.APIVersion), version)
	case group == "" && !grant.Common(group, m.Kind):
		r.Refusef(kind, "%s is not a kind of %s that manifests may hold; write it as Kubernetes does, as in ConfigMap", review.Quote(m.Kind), m.APIVersion)
	}
}

// checkManifestMetadata checks name and namespace, and what only servers write.
func checkManifestMetadata(r *review.Review, at review.Pointer, m Manifest, cloud string) {
	const oldestNames = "Service" // whose names are host names
	switch name := m.Metadata.Name; {
	case name == "" && m.Metadata.GenerateName != "":
		r.Refusef(at.Key("generateName"), "makes a new object each time it is applied; give a name instead")
	case m.Kind == oldestNames && !review.IsDNSLabel(name), !review.IsSubdomain(name):
		r.Refusef(at.Key("name"), "%s is not a name of a %s; use lower-case letters, digits and '-'", review.Quote(name), m.Kind)
	}
	if namespace := m.Metadata.Namespace; namespace != "" && cloud != "" && namespace != cloud {
		r.Refusef(at.Key("namespace"), "%s is not the logical cloud's namespace; leave it out, or give %s", review.Quote(namespace), review.Quote(cloud))
	}
	review.CheckLabels(r, at.Key("labels"), m.Metadata.Labels)
	review.CheckAnnotations(r, at.Key("annotations"), m.Metadata.Annotations)
	for _, part := range []struct {
		name string
		keys map[string]string
	}{{"labels", m.Metadata.Labels}, {"annotations", m.Metadata.Annotations}} {
		for _, key := range slices.Sorted(maps.Keys(part.keys)) {
			if review.Ours(key) {
				r.Refusef(at.Key(part.name).Key(key), "%s %s", review.Quote(key), review.OursAdvice)
			}
		}
	}
	for _, field := range notByManifests() {
		if isSet(m.Metadata.all[field.name]) {
			r.Refusef(at.Key(field.name), "%s; leave it out", field.why)
		}
	}
}

// Why a manifest may not have a field of an object's metadata.
const (
	byServers = "is written only by an API server"
	holds     = "would keep the cluster from deleting the object until somebody removes the finalizers, which Signpost does not"
	owned     = "would have the cluster delete the object together with another, and Signpost would create it again"
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

// checkManifestKeys refuses Signpost's own labels and annotations below the object's
// metadata, as in the template and the selector of its pods. Signpost and its
// external-dns tell their objects from others by these.
func checkManifestKeys(r *review.Review, at review.Pointer, raw json.RawMessage) {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		r.Refusef(at, "%s", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != "metadata" {
			checkNested(r, at.Key(name), fields[name])
		}
	}
}

// checkNested refuses keys of Signpost's own. It refuses finalizers and owners, because
// controllers copy them from a template to pods and volume claims.
func checkNested(r *review.Review, at review.Pointer, value any) {
	switch value := value.(type) {
	case map[string]any:
		metadata, _ := value["metadata"].(map[string]any)
		if isSet(metadata["finalizers"]) {
			r.Refusef(at.Key("metadata").Key("finalizers"), "%s; leave it out", holds)
		}
		if isSet(metadata["ownerReferences"]) {
			r.Refusef(at.Key("metadata").Key("ownerReferences"), "%s; leave it out", owned)
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if review.Ours(key) {
				r.Refusef(at.Key(key), "%s %s", review.Quote(key), review.OursAdvice)
			} else {
				checkNested(r, at.Key(key), value[key])
			}
		}
	case []any:
		for i, item := range value {
			checkNested(r, at.Index(i), item)
		}
	}
}

// checkManifestDNS refuses what a lenient reader would take for the DNS settings of
// the pods, and Kubernetes does not.
func checkManifestDNS(r *review.Review, at review.Pointer, raw json.RawMessage) {
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
		at = at.Key(field)
	}
	checkSpellings(r, at, pod, "dnsPolicy", "dnsConfig", "hostNetwork")
	checkSpellings(r, at.Key("dnsConfig"), config, "nameservers", "searches", "options")
	for i, item := range options {
		option, _ := item.(map[string]any)
		checkSpellings(r, at.Key("dnsConfig").Key("options").Index(i), option, "name", "value")
	}
}

// checkSpellings refuses other spellings of an object's fields.
func checkSpellings(r *review.Review, at review.Pointer, object map[string]any, fields ...string) {
	var faults []string
	reader{&faults}.spellings(object, fields...)
	for _, fault := range faults {
		r.Refusef(at, "%s", fault)
	}
}
