package lint_test

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/lint"
	"github.com/signpost-dns/signpost/internal/draw"
	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestWhatTheAPIAcceptsCoreDNSAccepts: its own parser and the setup of its
// plugins find nothing wrong with the Corefile of any intent that was admitted.
func TestWhatTheAPIAcceptsCoreDNSAccepts(t *testing.T) {
	const cloud intent.Path = "projects/shop/logical-clouds/eu"
	documents := etcd.New(kvtest.NewFake())
	for _, path := range []intent.Path{cloud.Parent(), cloud} {
		_, err := documents.Put(t.Context(), intent.Write{Path: path, Body: []byte(`{"metadata":{"name":"` + path.Name() + `"},"spec":{}}`)})
		require.NoError(t, err)
	}
	admitter, admitted := admission.New(documents, review.Rules{}), 0
	rapid.Check(t, func(rt *rapid.T) {
		path := cloud.Child("dns-cr-intents", "drawn")
		body, err := json.Marshal(intent.Resource[intent.DNSCRIntent]{Metadata: intent.Metadata{Name: "drawn"}, Spec: draw.DNSCRIntent(rt)})
		require.NoError(rt, err)
		write, err := admitter.Admit(t.Context(), path, body, nil)
		if err != nil {
			require.Equal(rt, intent.Invalid, intent.CodeOf(err), "%v", err)
			return
		}
		admitted++
		body, err = write.Body()
		require.NoError(rt, err)
		stored, err := intent.Of[intent.DNSCRIntent](intent.Document{Path: path, Body: body})
		require.NoError(rt, err)
		stored.Spec.Mode, stored.Spec.Namespace = cmp.Or(stored.Spec.Mode, intent.Dedicated), intent.DefaultDNSNamespace
		for _, text := range corefiles(rt, plan.ClusterDNS{Intent: "drawn", Cluster: "edge+berlin", Domain: "cluster.local", Spec: stored.Spec}) {
			require.Empty(rt, lint.Check(text), text)
		}
	})
	require.Positive(t, admitted, "nothing was accepted")
	t.Logf("%d were accepted", admitted)
}

// corefiles are all that an intent is rendered into: of the DNS pods or of
// somebody else's CoreDNS, and of the nodes' caches. What only a container has
// gives way to what is here: the address of the cluster's DNS, which a cache finds
// in its environment, and the files beside the Corefile.
func corefiles(t require.TestingT, d plan.ClusterDNS) []string {
	objects, err := clusterdns.Render(plan.Group{Path: "projects/shop/logical-clouds/eu", LogicalCloud: "eu"}, d, clusterdns.Placement(d))
	require.NoError(t, err)
	var all []string
	files := regexp.MustCompile(`/etc/coredns/\S+`)
	for _, o := range objects {
		var configMap struct{ Data map[string]string }
		require.NoError(t, json.Unmarshal(o.JSON, &configMap))
		for name, text := range configMap.Data {
			if !strings.HasSuffix(name, ".conf") {
				text = strings.ReplaceAll(text, "{$DNS_DEFAULT_SERVICE_HOST}", "10.96.0.53")
				all = append(all, files.ReplaceAllString(text, "/etc/resolv.conf"))
			}
		}
	}
	return all
}
