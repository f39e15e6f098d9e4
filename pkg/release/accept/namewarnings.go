package accept

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// NameWarnings tells which host names of a stored DNS intent a plan would refuse
// now: those that no record serves, that are another project's, lie in a domain of
// another one's, or that its group cannot share with others. A name that no record
// serves yet is taken for a public one. Errors: NotFound when the intent, or what it
// belongs to, does not exist.
func (s *Planner) NameWarnings(ctx context.Context, path intent.Path) ([]intent.Warning, error) {
	in, err := s.Resolver.ReadNames(ctx, path)
	if err != nil {
		return nil, err
	}
	d := s.Resolver.DraftApps(in)
	if err := s.Resolver.DraftRecords(ctx, d); err != nil {
		return nil, err
	}
	d.Errors = nil // of what else a plan refuses
	if err := d.BindNames(ctx, in.Intents[0]); err != nil {
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
