package resolve

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Recall drafts a rollback: what an earlier revision was made of, once more. The group,
// its apps and its names are as they were frozen then. Records are not the group's: they
// are as they are deployed now, on the home that they have now. A document that the
// revision needs and that is gone becomes an error of the plan.
func (s *Resolver) Recall(ctx context.Context, p *Proposal, live *inputs.Inputs) error {
	d := &Draft{In: live, Records: map[string]RecordDraft{}}
	p.Draft = d
	past, kept := p.Lifecycle.Past(p.To)
	if !kept {
		d.Fail(live.Owner.Path, "", "%s", p.Lifecycle.NotKept(p.To))
		return nil
	}
	p.Message = fmt.Sprintf("to revision %d", past.Seq)
	release, err := s.LoadRelease(ctx, past.ContextID)
	if intent.CodeOf(err) == intent.NotFound {
		return &intent.Error{Code: intent.PreconditionFailed, Detail: "the revision has just become too old to be kept", Err: err}
	}
	if err != nil {
		return err
	}
	if o := release.Group.Orchestrated; o != nil {
		d.Fail(live.Owner.Path, "", "revision %d is of %s's app context %s: %s rolls back to it", past.Seq, intent.OrchestratorName, o.AppContext, intent.Orchestrator)
		return nil
	}
	return s.Redraft(ctx, d, fmt.Sprintf("revision %d", past.Seq), release)
}

// Redraft drafts what a release was made of, once more. what names the release
// in errors.
func (s *Resolver) Redraft(ctx context.Context, d *Draft, what string, release state.Release) error {
	d.In, d.Inputs = recalled(d.In, release.Group), release.Inputs
	if err := s.findAgain(ctx, d, what, release); err != nil || len(d.Errors) > 0 {
		return err
	}
	d.Group = release.Group
	d.Group.Clusters = nil
	if err := s.recallRecords(ctx, d); err != nil {
		return err
	}
	if err := d.finishBindings(ctx); err != nil {
		return err
	}
	if err := s.bindAutopath(ctx, d); err != nil {
		return err
	}
	s.collectClusters(d)
	return nil
}

// recalled are the documents that a rollback reads: those of the group, but
// for what the earlier revision froze.
func recalled(live *inputs.Inputs, past plan.Group) *inputs.Inputs {
	in := &inputs.Inputs{
		Owner: live.Owner, Project: live.Project, Group: live.Group,
		CloudPath: intent.Join("projects", past.Project.Name, "logical-clouds", past.LogicalCloud),
		Clusters:  map[string]intent.Resource[intent.Cluster]{}, Records: map[string]intent.Document{}, Reading: inputs.Reading{Store: live.Store, Read: map[intent.Path]state.Input{}},
	}
	for _, doc := range []intent.Path{live.Owner.Path, live.ProjectPath()} {
		in.Read[doc] = live.Read[doc]
	}
	return in
}

// findAgain reads the documents that an earlier release is still tied to, and
// says which of them are gone.
func (s *Resolver) findAgain(ctx context.Context, d *Draft, what string, past state.Release) error {
	project := d.In.Project.Spec.Namespace
	if was := past.Group.Project.Namespace; was != project {
		d.Fail(d.In.ProjectPath(), "/spec/namespace", "%s was made for the project's namespace %q, which is %q now; update instead", what, was, project)
	}
	paths := []intent.Path{d.In.CloudPath}
	for _, b := range past.Group.Bindings {
		paths = append(paths, d.In.RecordPath(b.Record))
	}
	for _, name := range state.Placed(past.Group) {
		paths = append(paths, intent.ClusterPath(name))
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	docs, err := s.Documents.GetAll(ctx, paths)
	if err != nil {
		return err
	}
	for _, path := range paths {
		at := slices.IndexFunc(docs, func(doc intent.Document) bool { return doc.Path == path })
		if at < 0 {
			d.Fail(path, "", "%s uses it, but it was deleted since", what)
			continue
		}
		doc := docs[at]
		if !slices.ContainsFunc(past.Inputs, func(i state.Input) bool { return i.Path == path && i.UID == doc.UID }) {
			d.Fail(path, "", "%s uses an earlier document of this name, which was deleted since", what)
			continue
		}
		d.In.Read[path] = state.Input{Path: path, UID: doc.UID, Revision: doc.Revision}
		if err := d.In.Keep(doc); err != nil {
			return err
		}
	}
	return nil
}

// recallRecords ties the bindings of an earlier revision to their records as
// these are deployed now, or would be pinned.
func (s *Resolver) recallRecords(ctx context.Context, d *Draft) error {
	d.Group.Bindings = slices.Clone(d.Group.Bindings)
	for n := range d.Group.Bindings {
		b := &d.Group.Bindings[n]
		r, err := s.recallRecord(ctx, d, *b)
		if err != nil {
			return err
		}
		if b.Scope == intent.Public {
			b.Cluster = r.Frozen.Home.String()
			if err := s.Inputs.ReadClusters(ctx, d.In, []string{r.Frozen.Home.String()}); err != nil {
				return err
			}
		}
		d.Records[b.Record] = r
		publishing := PublishingOf(r.Frozen)
		for _, host := range b.Hosts {
			if !publishing.Coverage.Covers(host.Name) {
				d.Fail(r.Frozen.Path, "/spec/external-dns-parameters/domain-filter", "the provider, as it is now, no longer covers %q", host.Name)
			}
			for _, l := range publishing.lacks(host) {
				d.Fail(r.Frozen.Path, l.record, "%s", l.why)
			}
		}
	}
	return nil
}

// recallRecord is a binding's record as it is deployed. A record that is not gone gets
// the home that it says, else the one that it had then.
func (s *Resolver) recallRecord(ctx context.Context, d *Draft, b plan.Binding) (RecordDraft, error) {
	if r, known := d.Records[b.Record]; known && (r.Frozen.Home != nil || b.Scope != intent.Public) {
		return r, nil
	}
	doc := d.In.Records[b.Record]
	lifecycle, err := s.RecordLifecycle(ctx, doc.Path)
	if err != nil {
		return RecordDraft{}, err
	}
	r, err := s.draftRecord(d, doc, lifecycle)
	if err != nil {
		return r, err
	}
	if r.Frozen.Home == nil && b.Scope == intent.Public {
		then, _ := intent.ParseCluster(b.Cluster)
		r.Frozen.Home = cmp.Or(r.Frozen.Spec.DeployOn.Ref(r.Frozen.Path), &then)
	}
	return r, nil
}
