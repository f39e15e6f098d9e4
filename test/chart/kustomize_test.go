package chart

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// onPurpose are the differences between the chart and kustomize, with their
// reasons: patterns of "variant object path: kustomize -> chart".
func onPurpose() map[string]string {
	const instance = `app\.kubernetes\.io/instance`
	return map[string]string{
		`^\w+ Namespace/signpost: only kustomize`: "helm install --create-namespace makes it, and the page says which label it needs",
		`^\w+ \S+ /metadata/labels/(` + instance + `|app\.kubernetes\.io/(version|managed-by)|helm\.sh/chart): none -> `:                    "Helm's labels",
		`^standalone PersistentVolumeClaim/signpost-data /metadata/labels: none -> `:                                                        "the same; kustomize gives the claim no label",
		`^(replicated|secured|emco) ConfigMap/signpost-(stores|access) /metadata/labels: none -> `:                                          "the same; a generated ConfigMap has no label",
		`^(secured|emco) NetworkPolicy/signpost /metadata/labels: none -> `:                                                                 "the same; a component has no label",
		`^(replicated|secured|emco) PodDisruptionBudget/signpost-(api|worker) /metadata/labels/app\.kubernetes\.io/name: none -> signpost$`: "the same; the component of kustomize gives the budget one label",
		`/(matchLabels|podSelector/matchLabels|spec/selector|template/metadata/labels)/` + instance + `: none -> signpost$`:                 "two releases in one namespace share no pod",
		`/template/metadata/annotations: none -> map\[checksum/`:                                                                            "the sums roll the pods, as the names of generated ConfigMaps do",
		`^standalone PersistentVolumeClaim/signpost-data /metadata/annotations: none -> map\[helm.sh/resource-policy:keep\]$`:               "helm uninstall leaves the data",
	}
}

// TestTheChartMakesWhatKustomizeMakes but for what is different on purpose. Each
// listed difference exists.
func TestTheChartMakesWhatKustomizeMakes(t *testing.T) {
	met := map[string]bool{}
	for variant, file := range variants() {
		chart, kustomize := byName(t, objects(t, valuesOf(t, file))), byName(t, built(t, variant))
		for _, difference := range compared(variant, kustomize, chart) {
			reason := ""
			for pattern := range onPurpose() {
				if regexp.MustCompile(pattern).MatchString(difference) {
					reason, met[pattern] = pattern, true
				}
			}
			assert.NotEmpty(t, reason, "not on purpose: %s", difference)
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(onPurpose())), slices.Collect(maps.Keys(met)), "each listed difference exists")
}

// compared are the differences between the objects of kustomize and the chart.
func compared(variant string, kustomize, chart map[string]any) []string {
	var found []string
	for name := range kustomize {
		if chart[name] == nil {
			found = append(found, fmt.Sprintf("%s %s: only kustomize", variant, name))
			continue
		}
		differences(kustomize[name], chart[name], variant+" "+name+" ", func(text string) { found = append(found, text) })
	}
	for name := range chart {
		if kustomize[name] == nil {
			found = append(found, fmt.Sprintf("%s %s: only the chart", variant, name))
		}
	}
	sort.Strings(found)
	return found
}

// differences tells where two values differ, field by field.
func differences(before, after any, path string, tell func(string)) {
	a, isMap := before.(map[string]any)
	b, areMaps := after.(map[string]any)
	if !isMap || !areMaps {
		if !reflect.DeepEqual(before, after) {
			tell(fmt.Sprintf("%s: %s -> %s", path, orNone(before), orNone(after)))
		}
		return
	}
	for name := range a {
		differences(a[name], b[name], path+"/"+name, tell)
	}
	for name := range b {
		if _, both := a[name]; !both {
			differences(nil, b[name], path+"/"+name, tell)
		}
	}
}

func orNone(value any) string {
	if value == nil {
		return "none"
	}
	return fmt.Sprint(value)
}

// built are the objects of an overlay of kustomize.
func built(t *testing.T, overlay string) []*unstructured.Unstructured {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(root, "deploy", "kustomize", overlay))
	require.NoError(t, err)
	manifest, err := made.AsYaml()
	require.NoError(t, err)
	// The hashes in the names of ConfigMaps are no difference.
	manifest = regexp.MustCompile(`\b(signpost-(?:stores|access))-[a-z0-9]{10}\b`).ReplaceAll(manifest, []byte("$1"))
	parsed, err := kube.Parse(string(manifest))
	require.NoError(t, err)
	return parsed
}

// byName are objects by kind and name. A list of things with names is a map
// from their names, and the policy file is what it says: neither the order of a
// list nor a comment is a difference.
func byName(t *testing.T, all []*unstructured.Unstructured) map[string]any {
	t.Helper()
	named := map[string]any{}
	for _, object := range all {
		name := object.GetKind() + "/" + object.GetName()
		require.NotContains(t, named, name)
		if policy, has, _ := unstructured.NestedString(object.Object, "data", "policy.yaml"); has {
			var said any
			require.NoError(t, yaml.Unmarshal([]byte(policy), &said))
			object.Object["data"].(map[string]any)["policy.yaml"] = said
		}
		named[name] = unordered(object.Object)
	}
	return named
}

func unordered(value any) any {
	switch value := value.(type) {
	case map[string]any:
		result := map[string]any{}
		for name, each := range value {
			result[name] = unordered(each)
		}
		return result
	case []any:
		result := map[string]any{}
		for i, each := range value {
			key := fmt.Sprint(i)
			if object, ok := each.(map[string]any); ok && object["name"] != nil {
				key = strings.ReplaceAll(fmt.Sprint(object["name"]), "/", "~1")
			}
			result[key] = unordered(each)
		}
		return result
	default:
		return value
	}
}
