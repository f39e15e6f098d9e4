package admit

import (
	"cmp"
	"context"

	"github.com/signpost-dns/signpost/pkg/hostname"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// host is a right name of an intent: as given, or as a template makes it.
type host struct {
	name string // canonical
	at   pointer
	of   string // for which cluster, as in " of edge+berlin"; empty: for all
}

// mostHosts is how many names an intent has at most: they are one DNSEndpoint, which
// an API server and etcd have to take.
const mostHosts = 10_000

// hostnames brings names into canonical form, and has templates make theirs for
// the clusters that the app is on now. app is nil where the intent names none of
// the group's.
func (a *Admitter) hostnames(ctx context.Context, r *review, in *intent.DNSIntent, app *intent.App) ([]host, error) {
	at := spec + "/hostnames"
	if len(in.Hostnames) == 0 {
		r.refusef(at, "is empty; give at least one host name")
	}
	var hosts []host
	given := map[string]int{} // where in hosts a name is
	for i, text := range in.Hostnames {
		here := at.index(i)
		template, err := hostname.Parse(text)
		if err != nil {
			r.refusef(here, "%s %s", quote(text), err)
			continue
		}
		made, err := a.made(ctx, r, in, app, template)
		if err != nil {
			return nil, err
		}
		for _, values := range made {
			name, err := template.Name(values)
			if err != nil {
				r.refusef(here, "%s%s %s", quote(text), of(values), err)
				break
			}
			if !template.Made() {
				in.Hostnames[i] = name
			}
			if len(hosts) == mostHosts {
				r.refusef(here, "%s%s is one of more than %d names; spread them over several intents", quote(text), of(values), mostHosts)
				return hosts, nil
			}
			if first, known := given[name]; known {
				r.refusef(here, "%s%s is the same name as %s%s; %s", quote(name), of(values), hosts[first].at, hosts[first].of, sameAdvice(hosts[first].at == here))
				break
			}
			given[name] = len(hosts)
			hosts = append(hosts, host{name, here, of(values)})
		}
	}
	return hosts, nil
}

// of says for which cluster a name was made.
func of(v hostname.Values) string {
	if v.Cluster == "" {
		return ""
	}
	return " of " + v.ClusterProvider + "+" + v.Cluster
}

func sameAdvice(twoClusters bool) string {
	if twoClusters {
		return "have the template speak of .Cluster and .ClusterProvider, so that each cluster gets its own"
	}
	return "leave one out"
}

// made are the values that a name is made of: one for each cluster, where it
// speaks of these.
func (a *Admitter) made(ctx context.Context, r *review, in *intent.DNSIntent, app *intent.App, t hostname.Template) ([]hostname.Values, error) {
	if !t.Made() {
		return []hostname.Values{{}}, nil
	}
	if app == nil {
		return nil, nil
	}
	group, err := find[intent.DeploymentIntentGroup](ctx, a.store, r.path.Parent().Parent())
	if err != nil || group == nil {
		return nil, err
	}
	cloudPath := intent.Join("projects", r.project(), "logical-clouds", group.LogicalCloud)
	cloud, err := find[intent.LogicalCloud](ctx, a.store, cloudPath)
	if err != nil || cloud == nil {
		return nil, err
	}
	values := hostname.Values{
		App: in.App, Service: in.ServiceName, Project: r.project(), Namespace: cmp.Or(in.Namespace, app.Namespace, cloud.Namespace),
	}
	if !t.PerCluster() {
		return []hostname.Values{values}, nil
	}
	clusters, err := a.clustersOf(ctx, cloudPath, *app)
	var out []hostname.Values
	for _, cluster := range clusters {
		out = append(out, values.Of(cluster.name, cluster.Labels))
	}
	return out, err
}
