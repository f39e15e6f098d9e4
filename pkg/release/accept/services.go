package accept

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
	"github.com/signpost-dns/signpost/pkg/domain/source"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
)

// serviceWarning warns that none of an app's clusters has a Service, and names the nearest
// one. It is empty if a cluster has the Service, or if that is not known of a cluster.
func serviceWarning(ctx context.Context, s *Planner, d *resolve.Draft, app plan.App, namespace, service string) (string, error) {
	if len(app.Clusters) == 0 || slices.Contains(source.ServicesOf(app.Manifests, namespace), service) {
		return "", nil
	}
	for _, cluster := range app.Clusters {
		if d.In.Clusters[cluster].Spec.Directory != "" {
			continue // it shows the Services of manifests only
		}
		seen, err := s.Resolver.LookLive(ctx, address.Service{Cluster: cluster, Namespace: namespace, Name: service})
		if err != nil || seen == nil || seen.Found {
			return "", err
		}
	}
	detail := fmt.Sprintf("there is no Service %s/%s on %s", namespace, service, strings.Join(app.Clusters, ", "))
	if near := nearestService(ctx, s, app.Manifests, namespace, service, app.Clusters); near != "" {
		detail += fmt.Sprintf("; did you mean %s?", near)
	}
	return detail, nil
}

// noteMissing notes each Service of a plan that none of its clusters has, and names the
// nearest one.
func noteMissing(ctx context.Context, s *Planner, d *resolve.Draft, c render.Contents) {
	for n, b := range d.Group.Bindings {
		if len(b.Sources) == 0 || len(c.Choices[n]) == 0 || len(c.Choices[n][0].Absent) != len(b.Sources) {
			continue
		}
		if missing := b.Namespace + "/" + b.Service; !slices.Contains(d.Missing, missing) {
			d.Missing = append(d.Missing, missing)
		}
		var manifests []json.RawMessage
		if at := slices.IndexFunc(d.Group.Apps, func(a plan.App) bool { return a.Name == b.App }); at >= 0 {
			manifests = d.Group.Apps[at].Manifests
		}
		if near := nearestService(ctx, s, manifests, b.Namespace, b.Service, b.Sources); near != "" {
			d.Warn("none of its clusters has Service %s/%s; did you mean %s?", b.Namespace, b.Service, near)
		}
	}
}

// nearestService is the name that is most like that of a missing Service, empty for none. It
// knows the Services of the manifests, and those of the first clusters.
func nearestService(ctx context.Context, s *Planner, manifests []json.RawMessage, namespace, service string, clusters []string) string {
	const most = 3 // clusters to look at
	names := source.ServicesOf(manifests, namespace)
	if s.Live == nil {
		clusters = nil
	}
	for _, cluster := range clusters[:min(len(clusters), most)] {
		there, err := s.Live.ReadServiceNames(ctx, cluster, namespace)
		if err != nil {
			s.Logger.DebugContext(ctx, "a cluster did not answer a plan", "cluster", cluster, "error", err)
			break
		}
		names = append(names, there...)
	}
	return nearest.Name(service, names)
}
