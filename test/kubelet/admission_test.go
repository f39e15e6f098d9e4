package kubelet

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/admission/poddns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestWhatAnIntentMaySayKubernetesTakes: more nameservers, searches or
// characters than Kubernetes takes, a nameserver that is no IP and None without a
// nameserver are refused, and what is not refused is a pod that an API server
// validates.
func TestWhatAnIntentMaySayKubernetesTakes(t *testing.T) {
	policies := []intent.DNSPolicy{intent.DNSDefault, intent.DNSClusterFirst, intent.DNSClusterFirstWithHostNet, intent.DNSNone, "Custom"}
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		in := intent.PodDNSIntent{DNSPolicy: rapid.SampledFrom(policies).Draw(t, "policy"), DNSConfig: rapid.Ptr(written(), true).Draw(t, "config")}
		if admitted(t, in) {
			taken++
			require.Empty(t, kubernetes(in), "%+v", in.DNSConfig)
		}
	})
	require.Greater(t, taken, 100)
}

// TestSearchDomainsAreThoseOfKubernetes, but for labels that no name can have.
func TestSearchDomainsAreThoseOfKubernetes(t *testing.T) {
	search := rapid.OneOf(rapid.StringMatching(`(_{0,2}[a1-]{0,3}\.{0,2}){1,3}A?`), rapid.StringMatching(`([a-z]{1,70}\.){1,6}[a-z]{1,70}\.?`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		text := search.Draw(t, "search")
		for label := range strings.SplitSeq(text, ".") {
			if len(label) > 63 {
				return
			}
		}
		in := intent.PodDNSIntent{DNSPolicy: intent.DNSDefault, DNSConfig: &intent.PodDNSConfig{Searches: []string{text}}}
		require.Equal(t, len(kubernetes(in)) == 0, admitted(t, in), "%q", text)
	})
}

// written are settings as people write them, right ones and wrong ones.
func written() *rapid.Generator[intent.PodDNSConfig] {
	nameserver := rapid.OneOf(rapid.SampledFrom([]string{"192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "fd00::a"}), rapid.StringMatching(`[0-9]{1,3}(\.[0-9]{1,3}){3}`), rapid.StringMatching(`[0-9a-f:.%]{2,12}`))
	options := []intent.PodDNSOption{{Name: "ndots", Value: new("2")}, {Name: "edns0"}, {Name: ""}, {Name: "rotate", Value: new("")}}
	return rapid.Custom(func(t *rapid.T) intent.PodDNSConfig {
		return intent.PodDNSConfig{
			Nameservers: rapid.SliceOfN(nameserver, 0, 4).Draw(t, "nameservers"),
			Searches:    domains().Draw(t, "searches"),
			Options:     rapid.SliceOfN(rapid.SampledFrom(options), 0, 3).Draw(t, "options"),
		}
	})
}

// admitted tells whether an intent is taken, of whatever app.
func admitted(t *rapid.T, in intent.PodDNSIntent) bool {
	asked, err := json.Marshal(map[string]any{"spec": in, "clusterDNS": "10.0.0.10"})
	require.NoError(t, err)
	preview, err := poddns.ReadPodDNSPreview(asked)
	require.NoError(t, err)
	_, err = preview.Answer()
	return err == nil
}

// kubernetes is what an API server has to say about the pods of an intent.
func kubernetes(in intent.PodDNSIntent) field.ErrorList {
	pod := core.PodSpec{
		DNSPolicy: core.DNSPolicy(in.DNSPolicy.Canonical()), RestartPolicy: core.RestartPolicyAlways,
		TerminationGracePeriodSeconds: new(int64(30)), SecurityContext: &core.PodSecurityContext{},
		Containers: []core.Container{{
			Name: "web", Image: "web", ImagePullPolicy: core.PullAlways, TerminationMessagePolicy: core.TerminationMessageReadFile,
		}},
	}
	if in.DNSConfig != nil {
		pod.DNSConfig = &core.PodDNSConfig{Nameservers: in.DNSConfig.Nameservers, Searches: in.DNSConfig.Searches}
		for _, option := range in.DNSConfig.Options {
			pod.DNSConfig.Options = append(pod.DNSConfig.Options, core.PodDNSConfigOption(option))
		}
	}
	return validation.ValidatePodSpec(&pod, &metav1.ObjectMeta{Name: "web"}, field.NewPath("spec"), validation.PodValidationOptions{AllowRelaxedDNSSearchValidation: true})
}
