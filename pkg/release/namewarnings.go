package release

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// NameWarnings tells which host names of a stored DNS intent a plan would refuse
// now: those that no record serves, that are another project's, lie in a domain of
// another one's, or that its group cannot share with others. A name that no record
// serves yet is taken for a public one. Errors: NotFound when the intent, or what it
// belongs to, does not exist.
func (s *Service) NameWarnings(ctx context.Context, path intent.Path) ([]intent.Warning, error) {
	in, err := s.readNames(ctx, path)
	if err != nil {
		return nil, err
	}
	d := s.draftApps(in)
	if err := s.draftRecords(ctx, d); err != nil {
		return nil, err
	}
	d.errors = nil // of what else a plan refuses
	if err := d.bindNames(ctx, in.intents[0]); err != nil {
		return nil, err
	}
	hostnames := string(path) + "#/spec/hostnames/"
	d.errors = slices.DeleteFunc(d.errors, func(f intent.Field) bool { return !strings.HasPrefix(f.Pointer, hostnames) })
	if err := s.checkNames(ctx, &proposal{request: request{action: intent.Update}, draft: d}); err != nil {
		return nil, err
	}
	var warnings []intent.Warning
	for _, f := range d.errors {
		at := strings.TrimPrefix(f.Pointer, string(path)+"#/spec/")
		warnings = append(warnings, intent.Warning{Parameter: at, Message: f.Detail + "; until then instantiate and update refuse it"})
	}
	return warnings, nil
}

// readNames reads a DNS intent, and which apps and records its names are for.
func (s *Service) readNames(ctx context.Context, path intent.Path) (*inputs, error) {
	in, err := s.readOwner(ctx, path.Parent().Parent())
	if err != nil {
		return nil, err
	}
	asks, err := get[intent.DNSIntent](ctx, in, path)
	if err != nil {
		return nil, err
	}
	in.intents = []dnsIntent{{path, asks.Spec}}
	if in.cloud, err = get[intent.LogicalCloud](ctx, in, in.cloudPath); err != nil {
		return nil, err
	}
	for _, read := range []func(context.Context, *inputs) error{s.readMembers, s.readAssociations, s.readRecords} {
		if err := read(ctx, in); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// bindNames ties an intent to the records that serve its names, and those of its
// names that none serves, unless they are clusters' own, to none.
func (d *draft) bindNames(ctx context.Context, i dnsIntent) error {
	if err := d.bind(ctx, i); err != nil {
		return err
	}
	if err := d.finishBindings(ctx); err != nil {
		return err
	}
	at := slices.IndexFunc(d.group.Apps, func(a plan.App) bool { return a.Name == i.spec.App })
	if at < 0 || i.spec.Scope == intent.ClusterScope {
		return nil
	}
	app := d.group.Apps[at]
	to := plan.Binding{Scope: intent.Public, App: app.Name, Service: i.spec.ServiceName, Sources: app.Clusters}
	hosts, err := d.hostnames(ctx, i, app)
	for _, made := range hosts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, served := d.places[placeKey{app: app.Name, service: i.spec.ServiceName, host: made.name}]; !served {
			d.addHost(d.binding(to), i, made.pointer, plan.Host{Name: made.name, Types: i.spec.RecordTypes})
		}
	}
	return err
}
