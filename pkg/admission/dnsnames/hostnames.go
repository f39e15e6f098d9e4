package dnsnames

import (
	"cmp"
	"context"

	"github.com/signpost-dns/signpost/pkg/admission/poddns"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// host is a right name of an intent: as given, or as a template makes it.
type host struct {
	name string // canonical
	at   review.Pointer
	of   string // for which cluster, as in " of edge+berlin"; empty: for all
}

// mostHosts is how many names an intent has at most: they are one DNSEndpoint, which
// an API server and etcd have to take.
const mostHosts = 10_000

// checkHostnames brings names into canonical form, and expands templates for the present
// clusters of the app. If the intent names no app of the group, app is nil.
func checkHostnames(ctx context.Context, a *review.Checker, r *review.Review, in *intent.DNSIntent, app *intent.App) ([]host, error) {
	at := review.Spec + "/hostnames"
	if len(in.Hostnames) == 0 {
		r.Refusef(at, "is empty; give at least one host name")
	}
	var hosts []host
	given := map[string]int{} // where in hosts a name is
	for i, text := range in.Hostnames {
		here := at.Index(i)
		template, err := hostname.Parse(text)
		if err != nil {
			r.Refusef(here, "%s %s", review.Quote(text), err)
			continue
		}
		made, err := namesMade(ctx, a, r, in, app, template)
		if err != nil {
			return nil, err
		}
		for _, values := range made {
			name, err := template.Name(values)
			if err != nil {
				r.Refusef(here, "%s%s %s", review.Quote(text), of(values), err)
				break
			}
			if !template.Made() {
				in.Hostnames[i] = name
			}
			if len(hosts) == mostHosts {
				r.Refusef(here, "%s%s is one of more than %d names; divide them among several intents", review.Quote(text), of(values), mostHosts)
				return hosts, nil
			}
			if first, known := given[name]; known {
				r.Refusef(here, "%s%s is the same name as %s%s; %s", review.Quote(name), of(values), hosts[first].at, hosts[first].of, sameAdvice(hosts[first].at == here))
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
		return "use .Cluster and .ClusterProvider in the template, so that each cluster gets its own name"
	}
	return "leave one out"
}

// namesMade are the values that a name is made of: one for each cluster, where it
// speaks of these.
func namesMade(ctx context.Context, a *review.Checker, r *review.Review, in *intent.DNSIntent, app *intent.App, t hostname.Template) ([]hostname.Values, error) {
	if !t.Made() {
		return []hostname.Values{{}}, nil
	}
	if app == nil {
		return nil, nil
	}
	group, err := review.Find[intent.DeploymentIntentGroup](ctx, a.Store, r.Path.Parent().Parent())
	if err != nil || group == nil {
		return nil, err
	}
	cloudPath := intent.Join("projects", r.Project(), "logical-clouds", group.LogicalCloud)
	cloud, err := review.Find[intent.LogicalCloud](ctx, a.Store, cloudPath)
	if err != nil || cloud == nil {
		return nil, err
	}
	values := hostname.Values{
		App: in.App, Service: in.ServiceName, Project: r.Project(), Namespace: cmp.Or(in.Namespace, app.Namespace, cloud.Namespace),
	}
	if !t.PerCluster() {
		return []hostname.Values{values}, nil
	}
	clusters, err := poddns.ClustersOf(ctx, a, cloudPath, *app)
	var out []hostname.Values
	for _, cluster := range clusters {
		out = append(out, values.Of(cluster.Name, cluster.Labels))
	}
	return out, err
}
