package resolve

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// ReadNames reads a DNS intent, and which apps and records its names are for.
func (s *Resolver) ReadNames(ctx context.Context, path intent.Path) (in *inputs.Inputs, i inputs.DNSIntent, err error) {
	if in, err = s.Inputs.ReadOwner(ctx, path.Parent().Parent()); err != nil {
		return nil, i, err
	}
	asks, err := inputs.Get[intent.DNSIntent](ctx, in, path)
	if err != nil {
		return nil, i, err
	}
	for _, read := range []func(context.Context, *inputs.Inputs) error{s.Inputs.ReadMembers, s.Inputs.ReadAssociations, s.Inputs.ReadRecords} {
		if err := read(ctx, in); err != nil {
			return nil, i, err
		}
	}
	return in, inputs.DNSIntent{Path: path, Spec: asks.Spec}, nil
}

// BindNames ties an intent to the records that serve its names. Names that no record
// serves are tied to none, unless they are clusters' own.
func (d *Draft) BindNames(ctx context.Context, i inputs.DNSIntent) error {
	if err := d.bind(ctx, i); err != nil {
		return err
	}
	if err := d.finishBindings(ctx); err != nil {
		return err
	}
	at := slices.IndexFunc(d.Group.Apps, func(a plan.App) bool { return a.Name == i.Spec.App })
	if at < 0 || i.Spec.Scope == intent.ClusterScope {
		return nil
	}
	app := d.Group.Apps[at]
	to := plan.Binding{Scope: intent.Public, App: app.Name, Service: i.Spec.ServiceName, Sources: app.Clusters}
	hosts, err := d.hostnames(ctx, i, app)
	for _, made := range hosts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, served := d.Places[PlaceKey{App: app.Name, Service: i.Spec.ServiceName, Host: made.name}]; !served {
			d.addHost(d.binding(to), i, made.pointer, plan.Host{Name: made.name, Types: i.Spec.RecordTypes})
		}
	}
	return err
}

// HomelessWarnings warn of a record whose public external-dns has no home yet. Neither
// the record nor the server says one, nor does each of the associated logical clouds.
func (s *Resolver) HomelessWarnings(ctx context.Context, doc intent.Document, l state.RecordLifecycle) ([]intent.Warning, error) {
	record, err := intent.Of[intent.Record](doc)
	if err != nil || record.Spec.DeployOn != nil || s.Inputs.ControllerCluster != nil || l.Deployed && l.Record.UID == doc.UID {
		return nil, err
	}
	users, err := s.Documents.Referrers(ctx, doc.Path)
	if err != nil {
		return nil, err
	}
	where := "no logical cloud that uses the provider has a controllerCluster"
	clouds := make([]intent.Path, 0, len(record.Spec.LogicalClouds))
	for _, name := range record.Spec.LogicalClouds {
		clouds = append(clouds, doc.Path.Parent().Child("logical-clouds", name))
	}
	if len(record.Spec.Clusters) > 0 {
		where = "" // of a cluster, that is the home
	}
	for _, user := range users {
		switch cloud := user.Parent(); {
		case user.Name() != intent.AssociationName:
		case state.IsCloud(cloud):
			clouds = append(clouds, cloud)
		default:
			where = ""
		}
	}
	for _, cloud := range clouds {
		homed, err := s.cloudHas(ctx, cloud)
		if err != nil {
			return nil, err
		}
		where = ""
		if !homed {
			where = "logical cloud " + cloud.Name() + " of the provider has no controllerCluster"
			break
		}
	}
	if where == "" {
		return nil, nil
	}
	return []intent.Warning{{Parameter: "deployOn", Message: "is missing, and " + where + ": set one of the two, or start the server with --controller-cluster; until then plans refuse names of the provider"}}, nil
}

// cloudHas tells whether a logical cloud says where the external-dns of its records
// is to live, or has one cluster alone.
func (s *Resolver) cloudHas(ctx context.Context, cloud intent.Path) (bool, error) {
	doc, err := s.Documents.Get(ctx, cloud)
	if intent.CodeOf(err) == intent.NotFound {
		return true, nil // with it the association goes
	}
	if err != nil {
		return false, err
	}
	stored, err := intent.Of[intent.LogicalCloud](doc)
	if err != nil || stored.Spec.ControllerCluster != nil {
		return true, err
	}
	members := map[intent.ClusterRef]bool{}
	for _, ref := range intent.ClusterRefs(stored.Spec.Clusters) {
		members[ref] = true
	}
	err = intent.Each(ctx, s.Documents, intent.ListOptions{Collection: string(cloud) + "/cluster-references"}, func(doc intent.Document) error {
		ref, err := intent.Of[intent.ClusterReference](doc)
		members[ref.Spec] = true
		return err
	})
	return len(members) == 1, err
}
