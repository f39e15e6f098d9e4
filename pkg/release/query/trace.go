package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Trace tells which way a query takes through the CoreDNS of a DNS CR intent, as the
// document is now. Parameter cluster is one of the logical cloud's, "provider+cluster",
// whose domain counts. If it is empty, the domain is cluster.local. Errors are
// *intent.Error values. They are NotFound, Invalid with a pointer for an unregistered
// cluster, and Conflict for a cluster outside the intent, or one where it cannot work.
func (s *Reader) Trace(ctx context.Context, path intent.Path, cluster string, q corefile.Query) (corefile.Way, error) {
	doc, err := s.Documents.Get(ctx, path)
	if err != nil {
		return corefile.Way{}, err
	}
	resource, err := intent.Of[intent.DNSCRIntent](doc)
	if err != nil {
		return corefile.Way{}, err
	}
	domain, err := s.domainIn(ctx, path, resource.Spec, cluster)
	if err != nil {
		return corefile.Way{}, err
	}
	doc, err = s.Documents.Get(ctx, path.Parent())
	if err != nil {
		return corefile.Way{}, err
	}
	cloud, err := intent.Of[intent.LogicalCloud](doc)
	if err != nil {
		return corefile.Way{}, err
	}
	config, err := clusterdns.Configure(plan.ClusterDNS{
		Intent: path.Name(), Cluster: cmp.Or(cluster, "a cluster of domain "+domain), Domain: domain,
		Spec: resolve.Completed(resource.Spec, cloud.Spec.Namespace),
	})
	if err != nil {
		return corefile.Way{}, asConflict(err)
	}
	if resource.Spec.Mode != intent.Import {
		return corefile.Follow(config, q), nil
	}
	way, ok := corefile.FollowServers(config, q)
	if !ok {
		way.Why = []string{fmt.Sprintf("no server has a zone for %s, so the query follows the rest of the CoreDNS that imports the servers, which is unknown here", q.Name)}
	}
	return way, nil
}

// domainIn is the domain of one of the clusters that an intent is for; of an
// empty name the default.
func (s *Reader) domainIn(ctx context.Context, path intent.Path, spec intent.DNSCRIntent, name string) (string, error) {
	if name == "" {
		return intent.DefaultClusterDomain, nil
	}
	cloud := path.Parent()
	in := &inputs.Inputs{CloudPath: cloud, Clusters: map[string]intent.Resource[intent.Cluster]{}, Reading: inputs.Reading{Store: s.Documents, Read: map[intent.Path]state.Input{}}}
	if err := s.Inputs.ReadMembers(ctx, in); err != nil {
		return "", err
	}
	if member, ok := in.Clusters[name]; ok {
		if !slices.Contains(in.Selected(spec.Clusters, spec.ClusterLabels, func(intent.ClusterRef) {}), name) {
			return "", &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("DNS CR intent %q does not configure cluster %s: its clusters or clusterLabels exclude it", path.Name(), name)}
		}
		return member.Spec.Domain(), nil
	}
	_, err := s.Documents.Get(ctx, intent.ClusterPath(name))
	switch {
	case intent.CodeOf(err) == intent.NotFound:
		return "", &intent.Error{Code: intent.Invalid, Detail: "the body has an error", Fields: []intent.Field{{Pointer: "/cluster", Detail: name + " is not registered"}}}
	case err != nil:
		return "", err
	}
	return "", &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("cluster %s is not a cluster reference of %s", name, cloud)}
}

// asConflict is an error about documents for somebody who has not sent them.
func asConflict(err error) error {
	var invalid *intent.Error
	if !errors.As(err, &invalid) {
		return err
	}
	return &intent.Error{Code: intent.Conflict, Detail: invalid.Detail, Fields: invalid.Fields}
}
