package accept

import (
	"bytes"
	"encoding/json"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/podspec"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/poddns"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
)

// PodEdit is the text that a resource of an app context is to have.
type PodEdit struct{ App, Cluster, Key, Text string }

// PodEdits brings the pod DNS intents of a draft into the workloads of the app
// context, and says what is to be said about that.
func PodEdits(d *resolve.Draft) []PodEdit {
	var edits []PodEdit
	for _, app := range d.Group.Apps {
		if app.PodDNS == nil {
			continue
		}
		pods := podEditor{Draft: d, app: app, done: map[podText]editedPod{}}
		for _, on := range d.In.Orchestration.App(app.Name).Clusters {
			for _, resource := range on.Resources {
				if text, changed := pods.edit(resource, on.Name); changed {
					edits = append(edits, PodEdit{App: app.Name, Cluster: on.Name, Key: resource.Key, Text: text})
				}
			}
		}
		if !pods.some {
			d.Warn("app %q has no workload in app context %s: no pod gets the settings of %s", app.Name, d.In.Orchestration.ID, app.PodDNS.Intent)
		}
	}
	return edits
}

// podEditor brings the intent of an app into its workloads. These are alike on
// most clusters: each text is edited once.
type podEditor struct {
	*resolve.Draft
	app  plan.App
	done map[podText]editedPod
	some bool // workload was there
}

// podText is all that an edited text follows from, for one app.
type podText struct {
	raw      string
	autopath plan.PodAutopath
}

type editedPod struct {
	text    string
	changed bool
}

func (e *podEditor) edit(r inputs.OrchestratedResource, cluster string) (text string, changed bool) {
	if !resolve.MayHavePods(r) {
		return "", false
	}
	key := podText{raw: string(r.Raw())}
	for _, given := range e.app.PodDNS.Autopath {
		if given.Cluster == cluster {
			key.autopath = given
			key.autopath.Cluster = ""
		}
	}
	edited, known := e.done[key]
	if !known {
		edited = e.editOne(r, cluster)
		e.done[key] = edited
	}
	return edited.text, edited.changed
}

func (e *podEditor) editOne(r inputs.OrchestratedResource, cluster string) editedPod {
	object, err := r.Object(cluster, e.app.Name)
	switch {
	case err != nil && resolve.IsWorkload(r.Kind):
		e.Fail(e.app.PodDNS.Intent, "/spec/app", "%s", err)
		return editedPod{}
	case err != nil:
		e.Warn("resource %s of app %q cannot be read: it stays as it is, with the DNS of its pods, if it makes any", r.Key, e.app.Name)
		return editedPod{}
	}
	manifest, err := resolve.ManifestOf(object.JSON)
	if _, pods := podspec.Find(manifest); err != nil || !pods {
		if object.Kind == "List" {
			e.Warn("resource %s of app %q is a list, where the DNS of pods stays as it is; have the chart render its objects one by one", r.Key, e.app.Name)
		}
		return editedPod{}
	}
	e.some = true
	if object.Namespace != "" && e.IsForbiddenNamespace(object.Namespace) {
		e.Fail(e.app.PodDNS.Intent, "/spec/app", "%s %q of app %q is in namespace %s, %s", object.Kind, object.Name, e.app.Name, object.Namespace, resolve.ForbiddenNamespaceAdvice)
		return editedPod{}
	}
	if resolve.UsesAutopath(e.app) && object.Namespace != "" && object.Namespace != e.app.Namespace {
		e.Fail(e.app.PodDNS.Intent, "/spec/dnsPolicy", "%s %q of app %q is in namespace %q, but %s is offered only to pods of namespace %q; give another dnsPolicy",
			object.Kind, object.Name, e.app.Name, object.Namespace, intent.DNSAutopath, e.app.Namespace)
	}
	rendered, findings := poddns.Render(manifest, *e.app.PodDNS, cluster)
	for _, f := range findings {
		if f.Refused {
			e.Fail(f.Intent, f.Pointer, "%s", f.Detail)
		} else {
			e.Warn("%s", f.Detail)
		}
	}
	return e.write(r, object.JSON, rendered)
}

// write puts what was rendered into the resource's text, unless it is there.
func (e *podEditor) write(r inputs.OrchestratedResource, before []byte, rendered poddns.Manifest) editedPod {
	after, err := json.Marshal(rendered)
	if err == nil && bytes.Equal(resolve.PodDNS(before), resolve.PodDNS(after)) {
		return editedPod{}
	}
	var text string
	if err == nil {
		text, err = r.Text()
	}
	if err == nil {
		text, err = poddns.Rewrite(text, rendered)
	}
	if err != nil {
		e.Fail(e.app.PodDNS.Intent, "/spec/app", "resource %s of app %q cannot get the settings: %s", r.Key, e.app.Name, err)
	}
	return editedPod{text: text, changed: true}
}
