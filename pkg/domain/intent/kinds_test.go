package intent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[Path]string{
		"projects/shop":                                     "Project",
		"projects/shop/names/www.lab.example":               "Name",
		"projects/shop/composite-apps/store/v1":             "CompositeApp",
		"cluster-providers/edge/clusters/hub/kv-pairs/list": "ClusterKVPairs",
		"projects/shop/logical-clouds/eu/kv-pairs/list":     "LogicalCloudKVPairs",
		"projects":                                             "",
		"projects/shop/clusters/hub":                           "",
		"projects/shop/composite-apps/store":                   "",
		"projects/shop/composite-apps/store/v1/kv-pairs/list":  "",
		LifecycleCollection + "/projects/shop":                 "",
		"projects/shop/dns-update-records/lab/dns-intents/www": "",
	} {
		assert.Equal(t, want, KindOf(path).One, string(path))
	}
}

// TestKindsComeAfterWhatTheyBelongTo, and the kind of each one's documents is itself.
func TestKindsComeAfterWhatTheyBelongTo(t *testing.T) {
	t.Parallel()
	ranks := map[string]int{}
	for _, kind := range Kinds() {
		if at := strings.LastIndexByte(kind.Shape, '/'); at >= 0 {
			rank, known := ranks[kind.Shape[:at]]
			assert.True(t, known && rank < kind.Rank, kind.Shape)
		}
		ranks[kind.Shape] = kind.Rank
		document := strings.ReplaceAll(kind.Shape, "/", "/x/")
		document = strings.ReplaceAll(document, "composite-apps/x", "composite-apps/x/v1") + "/x"
		if strings.HasSuffix(kind.Shape, "composite-apps") {
			document += "/v1"
		}
		assert.Equal(t, kind, KindOf(Path(document)), document)
	}
}
