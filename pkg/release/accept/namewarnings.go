package accept

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// NameWarnings lists the host names of a stored DNS intent that a plan would refuse now.
// No provider serves these, they belong to another project or its domain, or the group
// cannot share them. A name that no provider serves yet counts as public. It also warns of
// an app without clusters, and of a Service that none of them has. Errors: NotFound when
// the intent, or its parent, does not exist.
func (s *Planner) NameWarnings(ctx context.Context, path intent.Path) ([]intent.Warning, error) {
	in, asks, err := s.Resolver.ReadNames(ctx, path)
	if err != nil {
		return nil, err
	}
	d := s.Resolver.DraftApps(in)
	if err := s.Resolver.DraftRecords(ctx, d); err != nil {
		return nil, err
	}
	d.Errors = nil // of what else a plan refuses
	if err := d.BindNames(ctx, asks); err != nil {
		return nil, err
	}
	hostnames := string(path) + "#/spec/hostnames/"
	d.Errors = slices.DeleteFunc(d.Errors, func(f intent.Field) bool { return !strings.HasPrefix(f.Pointer, hostnames) })
	p := &resolve.Proposal{Request: state.Request{Action: intent.Update}, Draft: d}
	if err := s.Ownership.CheckNames(ctx, p); err != nil {
		return nil, err
	}
	refused := d.Errors
	warnings, err := targetWarnings(ctx, s, p, asks.Spec)
	if err != nil {
		return nil, err
	}
	for _, f := range refused {
		at := strings.TrimPrefix(f.Pointer, string(path)+"#/spec/")
		warnings = append(warnings, intent.Warning{Parameter: at, Message: f.Detail + "; until then instantiate and update refuse it"})
	}
	return warnings, nil
}

// targetWarnings warns of a DNS intent that leads nowhere now. Of the Services in another
// project's namespace it tells nothing.
func targetWarnings(ctx context.Context, s *Planner, p *resolve.Proposal, spec intent.DNSIntent) ([]intent.Warning, error) {
	d := p.Draft
	at := slices.IndexFunc(d.Group.Apps, func(a plan.App) bool { return a.Name == spec.App })
	if at < 0 || d.In.ExternallyManaged {
		return nil, nil
	}
	app := d.Group.Apps[at]
	if len(app.Clusters) == 0 {
		return []intent.Warning{{Parameter: "app", Message: d.NoClusters(app.Name)}}, nil
	}
	b := plan.Binding{App: app.Name, Service: spec.ServiceName, Namespace: cmp.Or(spec.Namespace, app.Namespace), Sources: app.Clusters}
	refused := len(d.Errors)
	d.Group.Bindings = []plan.Binding{b}
	if err := s.Ownership.CheckNamespaceClaims(ctx, p); err != nil || len(d.Errors) > refused {
		return nil, err
	}
	detail, err := serviceWarning(ctx, s, d, app, b.Namespace, b.Service)
	if err != nil || detail == "" {
		return nil, err
	}
	return []intent.Warning{{Parameter: "serviceName", Message: detail}}, nil
}
