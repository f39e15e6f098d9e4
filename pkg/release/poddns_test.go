package release_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// podIntents are the pod DNS intents of a group.
func podIntents(group intent.Path) intent.Path {
	return group.Child("traffic-group-intents", "front") + "/pod-dns-intents"
}

// webPods is the pod DNS intent of prod's app web.
var webPods = podIntents(prod) + "/web"

// deploymentOf is a Deployment as a manifest, whose pods have more fields.
func deploymentOf(name, pod string) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q},"spec":{"selector":{"matchLabels":{"app":%q}},
		"template":{"metadata":{"labels":{"app":%q}},"spec":{"containers":[{"name":"web","image":"web"}]%s}}}}`, name, name, name, pod)
}

// deploys has prod deploy its app web by these manifests.
func (w *world) deploys(manifests ...string) {
	w.Helper()
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[`+strings.Join(manifests, ",")+`]}]}`, eu)
}

// newPods is a shop whose group prod deploys its app, with a pod DNS intent for it.
func newPods(t testing.TB, spec string) *world {
	w := newShop(t)
	w.deploys(deploymentOf("web", ``))
	w.put(webPods, spec)
	return w
}

const ndots1 = `{"app":"web","dnsPolicy":"ClusterFirst","dnsConfig":{"options":[{"name":"ndots","value":1}]}}`

// podsDNS are the policy and settings of the pods of prod's Deployment in a
// cluster, empty where it is not.
func (w *world) podsDNS(cluster string) string {
	w.Helper()
	for _, o := range w.bundle(appcontext.Owner(prod)) {
		if o.Cluster != cluster || o.Kind != "Deployment" {
			continue
		}
		var content struct {
			Spec struct {
				Template struct {
					Spec struct {
						DNSPolicy string
						DNSConfig json.RawMessage
					}
				}
			}
		}
		require.NoError(w, json.Unmarshal(o.JSON, &content))
		pod := content.Spec.Template.Spec
		return strings.TrimSpace(pod.DNSPolicy + " " + string(pod.DNSConfig))
	}
	return ""
}

// TestAPodDNSIntentIsReleasedWithItsGroup: it changes nothing before update, and
// its deletion and an update put the manifest's own settings back.
func TestAPodDNSIntentIsReleasedWithItsGroup(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.deploys(deploymentOf("web", `,"dnsPolicy":"Default"`))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, "Default", w.podsDNS(berlin))

	w.put(webPods, ndots1)
	w.settle(prod)
	require.Equal(t, "Default", w.podsDNS(berlin), "nothing has been released")
	plan := w.plan(prod, "")
	assert.Empty(t, plan.Errors)
	assert.Contains(t, fmt.Sprint(plan.Objects), "dnsPolicy: ClusterFirst")

	w.do(intent.Update, prod)
	w.settle(prod)
	for _, cluster := range []string{berlin, paris} {
		require.Equal(t, `ClusterFirst {"options":[{"name":"ndots","value":"1"}]}`, w.podsDNS(cluster))
	}

	require.NoError(t, w.delete(webPods))
	w.settle(prod)
	require.NotEqual(t, "Default", w.podsDNS(berlin))
	w.do(intent.Update, prod)
	w.settle(prod)
	require.Equal(t, "Default", w.podsDNS(berlin))

	_, err := w.service.Rollback(context.Background(), prod, 2, "", "ann")
	require.NoError(t, err)
	w.settle(prod)
	require.Equal(t, `ClusterFirst {"options":[{"name":"ndots","value":"1"}]}`, w.podsDNS(berlin), "rollback makes an earlier release current")
}

// TestPlanningPodDNSTwiceGivesTheSame is I8 up to what users confirm.
func TestPlanningPodDNSTwiceGivesTheSame(t *testing.T) {
	t.Parallel()
	w := newPods(t, ndots1)
	want := w.plan(prod, "")
	for range 20 {
		require.Equal(t, want, w.plan(prod, ""))
	}
}

func TestErrorsOfPodDNSIntents(t *testing.T) {
	t.Parallel()
	other := podIntents(prod) + "/zweb"
	for _, c := range []struct {
		reason, spec string
		change       func(w *world)
		at           intent.Path
		pointer      string
		detail       string
	}{
		{
			"an app that the group does not have", `{"app":"api","dnsPolicy":"Default"}`, nil,
			webPods, "/spec/app", `the deployment intent group has no app "api"`,
		},
		{
			"two intents for one app", ndots1, func(w *world) { w.put(other, `{"app":"web","dnsPolicy":"Default"}`) },
			other, "/spec/app", string(webPods) + ` is also for the pods of app "web"; delete one of the two`,
		},
		{
			"two intents for one app in two traffic groups", ndots1, func(w *world) {
				w.put(prod.Child("traffic-group-intents", "zone"), `{}`)
				w.put(prod.Child("traffic-group-intents", "zone")+"/pod-dns-intents/web", `{"app":"web","dnsPolicy":"Default"}`)
			},
			prod.Child("traffic-group-intents", "zone") + "/pod-dns-intents/web", "/spec/app", string(webPods),
		},
		{
			"an app without manifests", ndots1, func(w *world) { w.deploys() },
			webPods, "/spec/app", `app "web" has no manifests, so Signpost cannot set the DNS of its pods`,
		},
		{
			"more nameservers than Kubernetes takes, with the template's", `{"app":"web","dnsPolicy":"None","dnsConfig":{"nameservers":["192.0.2.1","192.0.2.2"]}}`,
			func(w *world) {
				w.deploys(deploymentOf("web", `,"dnsConfig":{"nameservers":["192.0.2.3","192.0.2.4"]}`))
			},
			webPods, "/spec/dnsConfig/nameservers", `Deployment "web" would have 4 nameservers`,
		},
		{
			"autopath on the node's network", `{"app":"web","dnsPolicy":"ClusterFirstWithAutopath"}`,
			func(w *world) { w.walks(`{}`, ``); w.deploys(deploymentOf("web", `,"hostNetwork":true`)) },
			webPods, "/spec/dnsPolicy", `Deployment "web" has hostNetwork: true`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newPods(t, c.spec)
			if c.change != nil {
				c.change(w)
			}
			w.refuses(intent.Instantiate, prod, c.detail)
			errors := w.plan(prod, "").Errors
			require.Len(t, errors, 1)
			require.Equal(t, string(c.at)+"#"+c.pointer, errors[0].Pointer)
		})
	}
}

// TestPodsOfAppsThatEMCODeploysAreNotRefused: EMCO keeps the group, and has not
// instantiated it yet.
func TestPodsOfAppsThatEMCODeploysAreNotRefused(t *testing.T) {
	t.Parallel()
	w := newPods(t, ndots1)
	w.deploys()
	w.options.ExternallyManaged = func(path intent.Path) error {
		if path == prod {
			return &intent.Error{Code: intent.Conflict, Detail: "write it there"}
		}
		return nil
	}
	w.service = release.New(w.options)
	plan := w.plan(prod, "")
	require.Empty(t, plan.Errors)
	require.Contains(t, fmt.Sprint(plan.Warnings), `is for the pods of app "web", which EMCO's orchestrator deploys: they get the settings when it instantiates or updates the group`)
}

func TestWarningsOfPodDNSIntents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, manifest, spec, warning string
	}{
		{"ClusterFirst on the node's network", deploymentOf("web", `,"hostNetwork":true`), ndots1, `Deployment "web" has hostNetwork: true, where kubelet treats ClusterFirst as Default`},
		{"no workload", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"}}`, ndots1, `app "web" has no workload among its manifests`},
		{
			"a kind that is left alone", `{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[]}}}}`, ndots1,
			`Rollout "web" has pods whose DNS stays as it is`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newPods(t, c.spec)
			w.grantKind("argoproj.io/Rollout")
			w.deploys(c.manifest)
			plan := w.plan(prod, "")
			assert.Empty(t, plan.Errors)
			told := 0
			for _, warning := range plan.Warnings {
				if strings.Contains(warning, c.warning) {
					told++
				}
			}
			assert.Equal(t, 1, told, "%v", plan.Warnings)
			w.do(intent.Instantiate, prod)
		})
	}
}

// TestPodsThatExistAreTold: Kubernetes changes the DNS of none that does.
func TestPodsThatExistAreTold(t *testing.T) {
	t.Parallel()
	const pod = `"spec":{"restartPolicy":"Never","containers":[{"name":"web","image":"web"}]}`
	for manifest, warning := range map[string]string{
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one"},` + pod + `}`:                                                                              "Pod shop/one on " + berlin + " exists, and Kubernetes does not change the DNS of running pods; delete it to have it created again",
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"one"},"spec":{"template":{` + pod + `}}}`:                                                  "Job shop/one on " + berlin + " exists, and Kubernetes does not change the DNS of running pods",
		`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"one"},"spec":{"template":{` + pod + `}}}`:                                            "ReplicaSet shop/one on " + berlin + " leaves its pods as they are; delete them",
		`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"one"},"spec":{"schedule":"@daily","jobTemplate":{"spec":{"template":{` + pod + `}}}}}`: "",
		deploymentOf("one", ``): "",
	} {
		w := newPods(t, ndots1)
		w.deploys(manifest)
		quiet := func() {
			t.Helper()
			require.NotContains(t, fmt.Sprint(w.plan(prod, "").Warnings), "shop/one")
		}
		quiet()
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		quiet()

		w.put(webPods, `{"app":"web","dnsPolicy":"Default"}`)
		if warning == "" {
			quiet()
		} else {
			require.Contains(t, fmt.Sprint(w.plan(prod, "").Warnings), warning)
		}
		w.do(intent.Update, prod)
		w.settle(prod)

		w.deploys(strings.Replace(manifest, `"name":"one"`, `"name":"one","labels":{"a":"b"}`, 1))
		quiet() // the DNS stays
		require.NoError(t, w.delete(webPods))
		if warning != "" {
			require.Contains(t, fmt.Sprint(w.plan(prod, "").Warnings), warning)
		}
	}
}
