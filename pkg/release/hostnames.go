package release

import (
	"slices"
	"strconv"

	"github.com/signpost-dns/signpost/pkg/hostname"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// hostnameOf is a name of an intent: as given, or as a template makes it.
type hostnameOf struct {
	name    string // canonical
	cluster string // "provider+cluster" whose name it is; empty: all clusters'
	pointer string // to the name or the template
}

// hostnames are the names of an intent, those of templates made for the clusters
// that its app runs on. What cannot be made is refused.
func (d *draft) hostnames(i dnsIntent, app plan.App) []hostnameOf {
	var out []hostnameOf
	values := hostname.Values{App: app.Name, Service: i.spec.ServiceName, Namespace: i.spec.Namespace, Project: d.group.Project.Name}
	for n, text := range i.spec.Hostnames {
		pointer := "/spec/hostnames/" + strconv.Itoa(n)
		template, err := hostname.Parse(text)
		if err != nil {
			d.fail(i.path, pointer, "%q %s", text, err)
			continue
		}
		clusters := []string{""}
		if template.PerCluster() {
			clusters = app.Clusters
		}
		for _, cluster := range clusters {
			whose := ofCluster(cluster)
			name, err := template.Name(values.Of(cluster, d.in.clusters[cluster].Spec.Labels))
			if err != nil {
				d.fail(i.path, pointer, "%q%s %s", text, whose, err)
				continue
			}
			if same := slices.IndexFunc(out, func(h hostnameOf) bool { return h.name == name }); same >= 0 {
				d.fail(i.path, pointer, "%q%s is the same name as %s%s; give each cluster a name of its own, with .Cluster and .ClusterProvider", name, whose, out[same].pointer, ofCluster(out[same].cluster))
				continue
			}
			out = append(out, hostnameOf{name, cluster, pointer})
		}
	}
	return out
}

func ofCluster(name string) string {
	if name == "" {
		return ""
	}
	return " of " + name
}
