package provider

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// render gives the objects of a provider that can work, by kind.
func render(t *testing.T, p plan.Provider) map[string]bundle.Object {
	t.Helper()
	objects, fields, err := Render(p)
	require.NoError(t, err)
	require.Empty(t, fields)
	byKind := map[string]bundle.Object{}
	for _, o := range objects {
		byKind[o.Kind] = o
	}
	return byKind
}

func deployment(t *testing.T, p plan.Provider) *appsv1.Deployment {
	t.Helper()
	d := &appsv1.Deployment{}
	require.NoError(t, json.Unmarshal(render(t, p)["Deployment"].JSON, d))
	return d
}

// TestObjectsAreOfTheirKind decodes every object of every story strictly.
func TestObjectsAreOfTheirKind(t *testing.T) {
	kinds := map[string]func() any{
		"Namespace":                func() any { return &corev1.Namespace{} },
		"Secret":                   func() any { return &corev1.Secret{} },
		"ServiceAccount":           func() any { return &corev1.ServiceAccount{} },
		"Role":                     func() any { return &rbacv1.Role{} },
		"RoleBinding":              func() any { return &rbacv1.RoleBinding{} },
		"Deployment":               func() any { return &appsv1.Deployment{} },
		"CustomResourceDefinition": func() any { return &apiextensionsv1.CustomResourceDefinition{} },
	}
	for _, s := range stories(t) {
		objects, _, err := Render(s.Input)
		require.NoError(t, err)
		for _, o := range objects {
			require.Contains(t, kinds, o.Kind)
			decoder := json.NewDecoder(bytes.NewReader(o.JSON))
			decoder.DisallowUnknownFields()
			require.NoError(t, decoder.Decode(kinds[o.Kind]()), o.ID)
			assert.Equal(t, s.Input.Cluster, o.Cluster)
		}
	}
}

// TestPlanningTwiceGivesTheSameBytes is I8 for providers: neither the order of
// maps, nor that of credentials, users or pull secrets, shows.
func TestPlanningTwiceGivesTheSameBytes(t *testing.T) {
	p := load(t, "coredns-full")
	p.Record.Spec.Credentials = append(p.Record.Spec.Credentials,
		intent.Credential{File: "/etc/b/tls.crt", SecretRef: &intent.SecretRef{Name: "tls", Key: "crt"}},
		intent.Credential{File: "/etc/a/tls.key", SecretRef: &intent.SecretRef{Name: "tls", Key: "key"}})
	want, _, err := Render(p)
	require.NoError(t, err)
	for range 200 {
		spec := &p.Record.Spec
		shuffle(spec.Credentials)
		shuffle(spec.ImagePullSecrets)
		shuffle(p.Users)
		spec.Environment = reinserted(spec.Environment)
		spec.Parameters = reinserted(spec.Parameters)
		got, _, err := Render(p)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func shuffle[T any](list []T) {
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func reinserted[V any](in map[string]V) map[string]V {
	keys := slices.Collect(maps.Keys(in))
	shuffle(keys)
	out := map[string]V{}
	for _, key := range keys {
		out[key] = in[key]
	}
	return out
}

// TestNoSecretValueIsInAnyObject is I9 for providers: what should never have
// come this far is not passed on.
func TestNoSecretValueIsInAnyObject(t *testing.T) {
	p := load(t, "rfc2136-tsig")
	const secret = "c2VjcmV0LXZhbHVl"
	p.Record.Spec.Credentials[0].Value = secret
	p.Record.Spec.Parameters["rfc2136-tsig-secret"] = secret
	objects, fields, err := Render(p)
	require.NoError(t, err)
	for _, o := range objects {
		assert.NotContains(t, string(o.JSON), secret, o.ID)
	}
	for _, f := range fields {
		assert.NotContains(t, f.Detail, secret)
	}
}

func TestSecretSaysWhichSealedValuesItGets(t *testing.T) {
	p := load(t, "files")
	var secret corev1.Secret
	require.NoError(t, json.Unmarshal(render(t, p)["Secret"].JSON, &secret))
	assert.Empty(t, secret.Data)
	assert.Empty(t, secret.StringData)
	var values map[string]string
	require.NoError(t, json.Unmarshal([]byte(secret.Annotations[bundle.AnnotationValuesFrom]), &values))
	assert.Equal(t, []string{"sealed-3"}, slices.Collect(maps.Values(values)))

	_, some := render(t, load(t, "coredns-minimal"))["Secret"]
	assert.False(t, some, "no inline credential, no Secret")
}

func TestPodsRollForCredentialsAndNotForUsers(t *testing.T) {
	p := load(t, "coredns-full")
	before := deployment(t, p)

	p.Users = p.Users[:1]
	fewer := deployment(t, p)
	assert.Equal(t, before.Spec, fewer.Spec, "users come and go without a restart")
	assert.NotEqual(t, before.Annotations, fewer.Annotations)

	p.Record.Spec.Credentials[0].ValueRef = "sealed-2"
	rotated := deployment(t, p)
	assert.NotEqual(t, before.Spec.Template, rotated.Spec.Template, "external-dns does not read a secret again")
	assert.Equal(t, before.Spec.Selector, rotated.Spec.Selector, "a selector can never change")

	p.Record.Spec.Credentials[1].SecretRef = &intent.SecretRef{Name: "etcd", Key: "other"}
	assert.NotEqual(t, rotated.Spec.Template.Annotations, deployment(t, p).Spec.Template.Annotations)
}

func TestExternalDNSIsHardened(t *testing.T) {
	for _, s := range stories(t) {
		p := s.Input
		if _, fields, _ := Render(p); len(fields) > 0 {
			continue
		}
		pod := deployment(t, p).Spec.Template.Spec
		assert.True(t, *pod.SecurityContext.RunAsNonRoot)
		assert.NotZero(t, *pod.SecurityContext.RunAsUser)
		assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
		for _, container := range pod.Containers {
			assert.True(t, *container.SecurityContext.ReadOnlyRootFilesystem)
			assert.False(t, *container.SecurityContext.AllowPrivilegeEscalation)
			assert.Equal(t, []corev1.Capability{"ALL"}, container.SecurityContext.Capabilities.Drop)
			assert.NotEmpty(t, container.Resources.Requests)
			assert.NotEmpty(t, container.Resources.Limits)
		}
		assert.Equal(t, "/healthz", pod.Containers[0].LivenessProbe.HTTPGet.Path)
		assert.Equal(t, "/healthz", pod.Containers[0].ReadinessProbe.HTTPGet.Path)
		assert.NotNil(t, pod.AutomountServiceAccountToken)
		assert.Equal(t, appsv1.RecreateDeploymentStrategyType, deployment(t, p).Spec.Strategy.Type)
	}
}

// TestASidecarAloneHasTheAccount: external-dns keeps what sets its own flags.
func TestASidecarAloneHasTheAccount(t *testing.T) {
	containers := deployment(t, load(t, "webhook-sidecar")).Spec.Template.Spec.Containers
	require.Len(t, containers, 2)
	names := func(c corev1.Container) []string {
		var names []string
		for _, variable := range c.Env {
			names = append(names, variable.Name)
		}
		return names
	}
	assert.Equal(t, App, containers[0].Name, "the first container has all arguments of external-dns")
	assert.Equal(t, []string{"EXTERNAL_DNS_TXT_ENCRYPT_AES_KEY", "HTTPS_PROXY"}, names(containers[0]))
	assert.Empty(t, containers[0].VolumeMounts)
	assert.Equal(t, []string{"API_TOKEN", "DOMAIN_FILTER"}, names(containers[1]))
	assert.Len(t, containers[1].VolumeMounts, 1)
}

func TestSelectorMatchesPodsWhateverTheUsersLabels(t *testing.T) {
	p := load(t, "coredns-minimal")
	p.Record.Spec.PodLabels = map[string]string{
		bundle.LabelRecord: "x", bundle.LabelScope: "x", bundle.LabelProject: "x", labelName: "x", bundle.LabelInstallation: "x", "team": "dns",
	}
	d := deployment(t, p)
	selector := labels.SelectorFromSet(d.Spec.Selector.MatchLabels)
	assert.True(t, selector.Matches(labels.Set(d.Spec.Template.Labels)))
	assert.Equal(t, "dns", d.Spec.Template.Labels["team"])
	assert.NotContains(t, d.Spec.Template.Labels, bundle.LabelInstallation)

	p.Scope = intent.ClusterScope
	assert.False(t, selector.Matches(labels.Set(deployment(t, p).Spec.Template.Labels)), "scopes do not share pods")
}

func TestRoleGrantsNoMoreThanTheSourceNeeds(t *testing.T) {
	for _, c := range []struct {
		reason string
		change func(*intent.Record)
		want   []string
	}{
		{"DNSEndpoints", func(*intent.Record) {}, []string{"dnsendpoints", "dnsendpoints/status"}},
		{"events that are asked for", func(r *intent.Record) { r.ExtraArgs = []string{"--events-emit=RecordError"} },
			[]string{"dnsendpoints", "dnsendpoints/status", "events"}},
		{"the crd registry", func(r *intent.Record) { r.Parameters = map[string]any{"registry": "crd"} },
			[]string{"dnsendpoints", "dnsendpoints/status", "dnsrecords", "dnsrecords/status"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			p := load(t, "coredns-minimal")
			c.change(&p.Record.Spec)
			var role rbacv1.Role
			require.NoError(t, json.Unmarshal(render(t, p)["Role"].JSON, &role))
			var got []string
			for _, rule := range role.Rules {
				got = append(got, rule.Resources...)
				assert.NotContains(t, rule.Verbs, "*")
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestLabelFilterSelectsTheRecordsDNSEndpointsAlone(t *testing.T) {
	p := load(t, "coredns-minimal")
	var filter string
	for _, arg := range deployment(t, p).Spec.Template.Spec.Containers[0].Args {
		if rest, ok := strings.CutPrefix(arg, "--label-filter="); ok {
			filter = rest
		}
	}
	selector, err := labels.Parse(filter)
	require.NoError(t, err)
	assert.True(t, selector.Matches(labels.Set(p.Record.Labels(intent.Public))))
	assert.False(t, selector.Matches(labels.Set(p.Record.Labels(intent.ClusterScope))))
	for _, change := range []func(*plan.Record){
		func(r *plan.Record) { r.Installation = "staging" },
		func(r *plan.Record) { r.Project.Name = "other" },
		func(r *plan.Record) { r.Name = "other" },
	} {
		other := p.Record
		change(&other)
		assert.False(t, selector.Matches(labels.Set(other.Labels(intent.Public))))
	}
}

func TestDollarSignsArriveAsTheyAre(t *testing.T) {
	for _, text := range []string{"", "$", "$$", "$$$", "a$b", "^x$", "$(HOME)", "$$(HOME)", "$$$(HOME)", "$(", "$($", "a$$b$(C)d$"} {
		assert.Equal(t, text, expand(literal(text)), "%q is written %q", text, literal(text))
	}
}

func FuzzDollarSignsArriveAsTheyAre(f *testing.F) {
	f.Add("$$(A)$")
	f.Fuzz(func(t *testing.T, text string) { assert.Equal(t, text, expand(literal(text))) })
}

// expand does what a kubelet does to arguments and to the environment, where
// every variable is "!".
func expand(text string) string {
	var out strings.Builder
	for n := 0; n < len(text); n++ {
		rest := text[n:]
		end := strings.IndexByte(rest, ')')
		switch {
		case strings.HasPrefix(rest, "$$"):
			out.WriteByte('$')
			n++
		case strings.HasPrefix(rest, "$(") && end > 0:
			out.WriteByte('!')
			n += end
		default:
			out.WriteByte(text[n])
		}
	}
	return out.String()
}

func TestWhatCannotWorkIsAField(t *testing.T) {
	for _, c := range []struct {
		reason  string
		change  func(*plan.Record)
		pointer string
	}{
		{"a version that is none", func(r *plan.Record) { r.Version = "latest" }, "/spec/version"},
		{"a version that is too old", func(r *plan.Record) { r.Version = "v0.13.0" }, "/spec/version"},
		{"a provider that the version lacks", func(r *plan.Record) { r.Spec.Provider = "digitalocean" }, "/spec/provider"},
		{"a parameter that the version lacks", func(r *plan.Record) {
			r.Version, r.Spec.Parameters = "v0.20.0", map[string]any{"kube-api-qps": 5}
		}, "/spec/external-dns-parameters/kube-api-qps"},
		{"an extra argument that Signpost sets", func(r *plan.Record) { r.Spec.ExtraArgs = []string{"--x=y", "--namespace=default"} }, "/spec/extraArgs/1"},
		{"a second value", func(r *plan.Record) {
			r.Spec.Credentials = []intent.Credential{{File: "/a", ValueRef: "1"}, {File: "/a", ValueRef: "2"}}
		}, "/spec/credentials/1"},
		{"a secret without credential", func(r *plan.Record) {
			r.Spec.Parameters = map[string]any{"txt-encrypt-enabled": true, "txt-encrypt-aes-key": "0123456789abcdef0123456789abcdef"}
		}, "/spec/external-dns-parameters/txt-encrypt-aes-key"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			p := load(t, "coredns-minimal")
			c.change(&p.Record)
			objects, fields, err := Render(p)
			require.NoError(t, err)
			assert.Empty(t, objects)
			require.Len(t, fields, 1)
			assert.Equal(t, c.pointer, fields[0].Pointer)
			assert.NotEmpty(t, fields[0].Detail)
		})
	}
}
