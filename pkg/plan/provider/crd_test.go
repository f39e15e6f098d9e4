package provider

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// TestCRDMeansWhatExternalDNSMeans compares our definition with the file in
// external-dns' module. Descriptions are for people, and may differ.
func TestCRDMeansWhatExternalDNSMeans(t *testing.T) {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/external-dns").Output()
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(module)), "config/crd/standard/dnsendpoints.externaldns.k8s.io.yaml"))
	require.NoError(t, err)
	var theirs apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.UnmarshalStrict(raw, &theirs))

	ours := dnsEndpointCRD("k7wq2m9x")
	assert.Equal(t, theirs.Name, ours.Name)
	assert.Equal(t, theirs.TypeMeta, ours.TypeMeta)
	const approval = "api-approved.kubernetes.io"
	assert.Equal(t, theirs.Annotations[approval], ours.Annotations[approval])
	assert.Equal(t, undescribed(t, theirs.Spec), undescribed(t, ours.Spec))
}

// TestCRDIsOneForAllRecords: two records of an installation define it alike.
func TestCRDIsOneForAllRecords(t *testing.T) {
	assert.Equal(t, dnsEndpointCRD("a"), dnsEndpointCRD("a"))
}

// TestTheDefinitionIsWrittenAsTheObjectIs: byte for byte, for each installation.
func TestTheDefinitionIsWrittenAsTheObjectIs(t *testing.T) {
	for _, installation := range []string{"k7wq2m9x", "other"} {
		whole, err := bundle.New("edge+hub", App, dnsEndpointCRD(installation))
		require.NoError(t, err)
		written, err := definition("edge+hub", installation)
		require.NoError(t, err)
		require.Equal(t, string(whole.JSON), string(written.JSON))
		require.Equal(t, whole, written)
	}
}

// undescribed is a definition as plain JSON without its descriptions.
func undescribed(t *testing.T, spec any) any {
	t.Helper()
	raw, err := json.Marshal(spec)
	require.NoError(t, err)
	var plain any
	require.NoError(t, json.Unmarshal(raw, &plain))
	dropDescriptions(plain)
	return plain
}

func dropDescriptions(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["description"].(string); ok {
			delete(v, "description")
		}
		for _, inner := range v {
			dropDescriptions(inner)
		}
	case []any:
		for _, inner := range v {
			dropDescriptions(inner)
		}
	}
}
