package accept

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// NameWarnings lists the host names of a stored DNS intent that a plan would refuse now.
// No provider serves these, they belong to another project or its domain, or the group
// cannot share them. A name that no provider serves yet counts as public. Errors:
// NotFound when the intent, or its parent, does not exist.
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
	if err := s.Ownership.CheckNames(ctx, &resolve.Proposal{Request: state.Request{Action: intent.Update}, Draft: d}); err != nil {
		return nil, err
	}
	var warnings []intent.Warning
	for _, f := range d.Errors {
		at := strings.TrimPrefix(f.Pointer, string(path)+"#/spec/")
		warnings = append(warnings, intent.Warning{Parameter: at, Message: f.Detail + "; until then instantiate and update refuse it"})
	}
	return warnings, nil
}
