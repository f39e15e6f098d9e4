package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// recall drafts a rollback: what an earlier revision was made of, once more.
// The group, its apps and its names are as they were frozen then. Records are
// not the group's: they are as they are deployed now, on the home that they
// have now. What the revision needs and no longer finds becomes an error of
// the plan.
func (s *Service) recall(ctx context.Context, p *proposal, live *inputs) error {
	d := &draft{in: live, records: map[string]recordDraft{}}
	p.draft = d
	past, kept := p.lifecycle.past(p.to)
	if !kept {
		d.fail(live.owner.Path, "", "%s", p.lifecycle.notKept(p.to))
		return nil
	}
	p.message = fmt.Sprintf("to revision %d", past.Seq)
	release, err := s.loadRelease(ctx, past.ContextID)
	if intent.CodeOf(err) == intent.NotFound {
		return &intent.Error{Code: intent.PreconditionFailed, Detail: "the revision has just become too old to be kept", Err: err}
	}
	if err != nil {
		return err
	}
	if o := release.Group.Orchestrated; o != nil {
		d.fail(live.owner.Path, "", "revision %d is of EMCO's app context %s: EMCO's orchestrator rolls back to it", past.Seq, o.AppContext)
		return nil
	}
	return s.redraft(ctx, d, fmt.Sprintf("revision %d", past.Seq), release)
}

// redraft drafts what a release was made of, once more. what names the release
// in errors.
func (s *Service) redraft(ctx context.Context, d *draft, what string, release Release) error {
	d.in, d.inputs = recalled(d.in, release.Group), release.Inputs
	if err := s.findAgain(ctx, d, what, release); err != nil || len(d.errors) > 0 {
		return err
	}
	d.group = release.Group
	d.group.Clusters = nil
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

// past finds a revision that is kept: the current one, or an earlier one; 0
// stands for the one before the current.
func (l *Lifecycle) past(to int64) (Past, bool) {
	kept := l.kept()
	if to == 0 && len(kept) > 1 {
		return kept[len(kept)-2], true
	}
	at := slices.IndexFunc(kept, func(p Past) bool { return p.Seq == to })
	if at < 0 {
		return Past{}, false
	}
	return kept[at], true
}

// kept are the releases that can still be read, the current one last.
func (l *Lifecycle) kept() []Past {
	if l.Seq == 0 {
		return nil
	}
	return append(slices.Clone(l.History), Past{Seq: l.Seq, ContextID: l.ContextID})
}

func (l *Lifecycle) notKept(to int64) string {
	var kept []string
	for _, p := range l.kept() {
		kept = append(kept, fmt.Sprint(p.Seq))
	}
	list := "kept are " + strings.Join(kept, ", ")
	switch {
	case len(kept) == 0:
		return "it was never instantiated, so there is no revision to go back to"
	case to == 0:
		return "there is no revision before the current one; " + list
	}
	return fmt.Sprintf("there is no revision %d; %s", to, list)
}

// recalled are the documents that a rollback reads: those of the group, but
// for what the earlier revision froze.
func recalled(live *inputs, past plan.Group) *inputs {
	in := &inputs{
		owner: live.owner, project: live.project, group: live.group,
		cloudPath: intent.Join("projects", past.Project.Name, "logical-clouds", past.LogicalCloud),
		clusters:  map[string]intent.Resource[intent.Cluster]{}, records: map[string]intent.Document{}, reading: reading{store: live.store, read: map[intent.Path]Input{}},
	}
	for _, doc := range []intent.Path{live.owner.Path, live.projectPath()} {
		in.read[doc] = live.read[doc]
	}
	return in
}

// findAgain reads the documents that an earlier release is still tied to, and
// says which of them are gone.
func (s *Service) findAgain(ctx context.Context, d *draft, what string, past Release) error {
	project := d.in.project.Spec.Namespace
	if was := past.Group.Project.Namespace; was != project {
		d.fail(d.in.projectPath(), "/spec/namespace", "%s was made for the project's namespace %q, which is %q now; update instead", what, was, project)
	}
	paths := []intent.Path{d.in.cloudPath}
	for _, b := range past.Group.Bindings {
		paths = append(paths, d.in.recordPath(b.Record))
	}
	for _, name := range placed(past.Group) {
		ref, _ := intent.ParseCluster(name)
		paths = append(paths, ref.Path())
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
			d.fail(path, "", "%s uses it, but it was deleted since", what)
			continue
		}
		doc := docs[at]
		if !slices.ContainsFunc(past.Inputs, func(i Input) bool { return i.Path == path && i.UID == doc.UID }) {
			d.fail(path, "", "%s uses another of this name, which was deleted since", what)
			continue
		}
		d.in.read[path] = Input{Path: path, UID: doc.UID, Revision: doc.Revision}
		if err := d.in.keep(doc); err != nil {
			return err
		}
	}
	return nil
}

// keep files a record or a cluster among the inputs.
func (in *inputs) keep(doc intent.Document) error {
	switch {
	case IsRecord(doc.Path):
		in.records[doc.Path.Name()] = doc
	case doc.Path.Segment("clusters") != "":
		cluster, err := intent.Of[intent.Cluster](doc)
		in.clusters[intent.ClusterRef{ClusterProvider: doc.Path.Segment("cluster-providers"), Cluster: doc.Path.Name()}.String()] = cluster
		return err
	}
	return nil
}

// recallRecords ties the bindings of an earlier revision to their records as
// these are deployed now, or would be pinned.
func (s *Service) recallRecords(ctx context.Context, d *draft) error {
	d.group.Bindings = slices.Clone(d.group.Bindings)
	for n := range d.group.Bindings {
		b := &d.group.Bindings[n]
		r, err := s.recallRecord(ctx, d, *b)
		if err != nil {
			return err
		}
		if b.Scope == intent.Public {
			b.Cluster = r.frozen.Home.String()
			if err := s.readClusters(ctx, d.in, []string{r.frozen.Home.String()}); err != nil {
				return err
			}
		}
		d.records[b.Record] = r
		publishing := publishingOf(r.frozen)
		for _, host := range b.Hosts {
			if !publishing.coverage.Covers(host.Name) {
				d.fail(r.frozen.Path, "/spec/external-dns-parameters/domain-filter", "the record, as it is now, no longer covers %q", host.Name)
			}
			for _, l := range publishing.lacks(host) {
				d.fail(r.frozen.Path, l.record, "%s", l.why)
			}
		}
	}
	return nil
}

// recallRecord is a binding's record as it is deployed. One that is not gets
// the home that it says, else the one that it had then.
func (s *Service) recallRecord(ctx context.Context, d *draft, b plan.Binding) (recordDraft, error) {
	if r, known := d.records[b.Record]; known && (r.frozen.Home != nil || b.Scope != intent.Public) {
		return r, nil
	}
	doc := d.in.records[b.Record]
	lifecycle, err := s.recordLifecycle(ctx, doc.Path)
	if err != nil {
		return recordDraft{}, err
	}
	r := recordDraft{lifecycle: lifecycle, frozen: lifecycle.Record}
	if !lifecycle.Deployed || lifecycle.Record.UID != doc.UID {
		if r.frozen, err = s.freeze(doc, d.group.Project, nil, lifecycle); err != nil {
			return r, err
		}
	}
	if r.frozen.Home == nil && b.Scope == intent.Public {
		then, _ := intent.ParseCluster(b.Cluster)
		if r.frozen.Home = r.frozen.Spec.DeployOn; r.frozen.Home == nil {
			r.frozen.Home = &then
		}
	}
	return r, nil
}
