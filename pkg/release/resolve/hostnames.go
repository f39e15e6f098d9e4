package resolve

import (
	"context"
	"strconv"

	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
)

// hostnameOf is a name of an intent: as given, or as a template makes it.
type hostnameOf struct {
	name    string // canonical
	cluster string // "provider+cluster" whose name it is; empty: all clusters'
	pointer string // to the name or the template
}

// hostnames are the names of an intent, those of templates made for the clusters that its
// app runs on. A name that cannot be made is refused. It ends with ctx.
func (d *Draft) hostnames(ctx context.Context, i inputs.DNSIntent, app plan.App) ([]hostnameOf, error) {
	var out []hostnameOf
	made := map[string]int{} // where in out a name is
	values := hostname.Values{App: app.Name, Service: i.Spec.ServiceName, Namespace: i.Spec.Namespace, Project: d.Group.Project.Name}
	for n, text := range i.Spec.Hostnames {
		pointer := "/spec/hostnames/" + strconv.Itoa(n)
		template, err := hostname.Parse(text)
		if err != nil {
			d.Fail(i.Path, pointer, "%q %s", text, err)
			continue
		}
		clusters := []string{""}
		if template.PerCluster() {
			clusters = app.Clusters
		}
		for _, cluster := range clusters {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			whose := ofCluster(cluster)
			name, err := template.Name(values.Of(cluster, d.In.Clusters[cluster].Spec.Labels))
			if err != nil {
				d.Fail(i.Path, pointer, "%q%s %s", text, whose, err)
				continue
			}
			if same, known := made[name]; known {
				d.Fail(i.Path, pointer, "%q%s is the same name as %s%s; give each cluster a name of its own, with .Cluster and .ClusterProvider", name, whose, out[same].pointer, ofCluster(out[same].cluster))
				continue
			}
			made[name] = len(out)
			out = append(out, hostnameOf{name, cluster, pointer})
		}
	}
	return out, nil
}

func ofCluster(name string) string {
	if name == "" {
		return ""
	}
	return " of " + name
}
