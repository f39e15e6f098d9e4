package inputs

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Inputs are the documents that the release of a group, or of a logical cloud,
// follows from, as read.
type Inputs struct {
	Owner             intent.Document
	Project           intent.Resource[intent.Project]
	Group             intent.Resource[intent.DeploymentIntentGroup]
	Cloud             intent.Resource[intent.LogicalCloud]
	CloudPath         intent.Path
	Clusters          map[string]intent.Resource[intent.Cluster] // of the logical cloud, of apps that an orchestrator deploys and of the homes, by "provider+cluster"
	Members           []string                                   // the logical cloud's clusters, and those of apps that an orchestrator deploys, ordered
	CloudRecords      []string                                   // providers of the logical cloud: values of its association, and those that list it
	OwnRecords        map[string][]string                        // providers of each cluster, likewise
	DNSCRIntents      []DNSCRIntent                              // of a logical cloud, ordered by name
	Pinned            map[string]state.RecordLifecycle           // what is deployed of Records, by name, as read for the homes
	Records           map[string]intent.Document                 // the project's records that are associated, by name
	Name              intent.Name                                // the spec of the owner, if that is a name
	ClusterLabels     []string                                   // "key=value", sorted: those of clusters that the name may use; read for a selector alone
	ExternallyManaged bool                                       // an orchestrator keeps the owner's document, and deploys its apps
	Orchestration     *Orchestration                             // of the group's apps; nil: they are Signpost's own, as the group's document says
	Reading

	intents map[string][]intent.Document // for apps of the group, by kind, ordered by path
}

// Gather reads an owner's inputs until two readings agree, so that what is
// frozen was the state at one time.
func (s *Reader) Gather(ctx context.Context, owner intent.Path) (*Inputs, error) {
	return s.GatherFor(ctx, owner, nil)
}

// GatherFor is gather for a group whose apps an orchestrator deploys, or
// Signpost where by is nil.
func (s *Reader) GatherFor(ctx context.Context, owner intent.Path, by *Orchestration) (*Inputs, error) {
	return gathered(ctx, owner, func() (*Inputs, error) { return s.readInputs(ctx, owner, by) })
}

// gathered reads inputs until two readings agree.
func gathered(ctx context.Context, owner intent.Path, read func() (*Inputs, error)) (*Inputs, error) {
	const attempts = 10
	for range attempts {
		in, err := read()
		if err != nil {
			return nil, err
		}
		same, err := in.Reading.repeated(ctx)
		if err != nil || same {
			return in, err
		}
	}
	return nil, &intent.Error{Code: intent.Conflict, Detail: "the inputs of " + string(owner) + " keep changing; try again"}
}

// ReadOwner reads an owner and the project that it is in.
func (s *Reader) ReadOwner(ctx context.Context, owner intent.Path) (*Inputs, error) {
	in := s.newInputs()
	var err error
	if in.Owner, err = s.Documents.Get(ctx, owner); err != nil {
		return nil, err
	}
	if in.Project, err = Get[intent.Project](ctx, in, intent.Join("projects", owner.Segment("projects"))); err != nil {
		return nil, err
	}
	in.CloudPath, in.ExternallyManaged = owner, s.ExternallyManaged != nil && s.ExternallyManaged(owner) != nil
	if !state.IsCloud(owner) {
		in.Group, err = note[intent.DeploymentIntentGroup](in, in.Owner)
		in.CloudPath = in.ProjectPath().Child("logical-clouds", in.Group.Spec.LogicalCloud)
	}
	return in, err
}

func (s *Reader) readInputs(ctx context.Context, owner intent.Path, by *Orchestration) (*Inputs, error) {
	in, err := s.ReadOwner(ctx, owner)
	if err != nil {
		return nil, err
	}
	reads := []func(context.Context, *Inputs) error{s.ReadMembers, s.readDNSCRIntents}
	if !state.IsCloud(owner) {
		if err := in.orchestrate(by); err != nil {
			return nil, err
		}
		reads = []func(context.Context, *Inputs) error{s.ReadMembers, s.readIntents, s.readOrchestrated, s.ReadAssociations, s.ReadRecords, s.readHomes}
	}
	for _, read := range reads {
		if err := read(ctx, in); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// ReadMembers reads the logical cloud and its clusters.
func (s *Reader) ReadMembers(ctx context.Context, in *Inputs) error {
	var err error
	if in.Cloud, err = Get[intent.LogicalCloud](ctx, in, in.CloudPath); err != nil {
		return err
	}
	for _, ref := range intent.ClusterRefs(in.Cloud.Spec.Clusters) {
		in.Members = append(in.Members, ref.String())
	}
	docs, err := in.list(ctx, string(in.CloudPath)+"/cluster-references")
	if err != nil {
		return err
	}
	for _, doc := range docs {
		ref, err := note[intent.ClusterReference](in, doc)
		if err != nil {
			return err
		}
		if !slices.Contains(in.Members, ref.Spec.String()) {
			in.Members = append(in.Members, ref.Spec.String())
		}
	}
	if err := s.ReadClusters(ctx, in, in.Members); err != nil {
		return err
	}
	for _, member := range in.Members {
		if _, known := in.Clusters[member]; !known {
			return s.absent(ctx, member)
		}
	}
	slices.Sort(in.Members)
	return nil
}

// absent is the error of a cluster that was not found, in the words of who
// keeps it.
func (s *Reader) absent(ctx context.Context, name string) error {
	path := intent.ClusterPath(name)
	_, err := s.Documents.Get(ctx, path)
	if err == nil {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: string(path) + " has just been created"}
	}
	return err
}

// ReadClusters reads those of the clusters that exist.
func (s *Reader) ReadClusters(ctx context.Context, in *Inputs, names []string) error {
	var paths []intent.Path
	for _, name := range names {
		if _, known := in.Clusters[name]; !known && !intent.IsPublisher(name) {
			paths = append(paths, intent.ClusterPath(name))
		}
	}
	if len(paths) == 0 {
		return nil
	}
	docs, err := in.all(ctx, paths)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		cluster, err := note[intent.Cluster](in, doc)
		if err != nil {
			return err
		}
		in.Clusters[intent.ClusterOf(doc.Path).String()] = cluster
	}
	return nil
}

// ReadAssociations reads the values of the dns-update-record-lists of the
// logical cloud and its members, in their order; none where there is no such
// document.
func (s *Reader) ReadAssociations(ctx context.Context, in *Inputs) error {
	var owners []intent.Path
	if in.CloudPath.Segment("logical-clouds") != "" { // names have none
		owners = append(owners, in.CloudPath)
	}
	for _, member := range in.Members {
		owners = append(owners, intent.ClusterPath(member))
	}
	for n, owner := range owners {
		owners[n] = owner.Child("kv-pairs", intent.AssociationName)
	}
	docs, err := in.all(ctx, owners)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		pairs, err := note[intent.KVPairs](in, doc)
		if err != nil {
			return err
		}
		if doc.Path.Segment("logical-clouds") != "" {
			in.CloudRecords = values(pairs.Spec)
		} else {
			in.OwnRecords[intent.ClusterOf(doc.Path).String()] = values(pairs.Spec)
		}
	}
	return nil
}

// values are the texts of pairs, each once.
func values(pairs intent.KVPairs) []string {
	var out []string
	for _, pair := range pairs.KV {
		for _, raw := range pair {
			var value string
			if json.Unmarshal(raw, &value) == nil && value != "" && !slices.Contains(out, value) {
				out = append(out, value)
			}
		}
	}
	return out
}

// ReadRecords reads the records that the associations name for this project, and those
// that list the logical cloud or its members themselves. A bare name in a cluster's
// association may name no record here.
func (s *Reader) ReadRecords(ctx context.Context, in *Inputs) error {
	docs, err := in.list(ctx, string(in.ProjectPath())+"/dns-update-records")
	if err != nil {
		return err
	}
	for _, doc := range docs {
		record, err := intent.Of[intent.Record](doc)
		if err != nil {
			return err
		}
		in.associate(doc.Path.Name(), record.Spec)
	}
	for _, doc := range docs {
		if in.isAssociated(doc.Path.Name()) {
			in.Records[doc.Path.Name()] = doc
			in.Read[doc.Path] = inputOf(doc)
		}
	}
	return nil
}

// associate notes a record with the logical cloud and the members that it lists, unless
// their associations name it.
func (in *Inputs) associate(name string, record intent.Record) {
	if slices.Contains(record.LogicalClouds, in.CloudPath.Name()) && !slices.Contains(in.CloudRecords, name) {
		in.CloudRecords = append(in.CloudRecords, name)
	}
	for _, ref := range intent.ClusterRefs(record.Clusters) {
		if member := ref.String(); slices.Contains(in.Members, member) && !in.Serves(name, member) {
			in.OwnRecords[member] = append(in.OwnRecords[member], name)
		}
	}
}

// isAssociated reports whether a record serves the logical cloud or one of its members.
func (in *Inputs) isAssociated(name string) bool {
	return slices.Contains(in.CloudRecords, name) || slices.ContainsFunc(in.Members, func(member string) bool { return in.Serves(name, member) })
}

// Serves reports whether a provider is associated with a cluster of the owner itself.
func (in *Inputs) Serves(name, member string) bool {
	return slices.ContainsFunc(in.OwnRecords[member], func(value string) bool {
		record, ours := in.RecordName(value)
		return ours && record == name
	})
}

// RecordName reads a value of a cluster's association: "project/record", or a
// bare name that means the planning project's record.
func (in *Inputs) RecordName(value string) (name string, ours bool) {
	project, record, qualified := strings.Cut(value, "/")
	if !qualified {
		return value, true
	}
	return record, project == in.Project.Metadata.Name
}

// ProjectPath is the document of the owner's project.
func (in *Inputs) ProjectPath() intent.Path {
	return intent.Join("projects", in.Project.Metadata.Name)
}

// RecordPath is the document of a provider of the owner's project.
func (in *Inputs) RecordPath(name string) intent.Path {
	return in.ProjectPath().Child("dns-update-records", name)
}

// readHomes reads the clusters that may become a home and are no members.
func (s *Reader) readHomes(ctx context.Context, in *Inputs) error {
	homes := []*intent.ClusterRef{in.Cloud.Spec.ControllerCluster, s.ControllerCluster}
	for _, name := range slices.Sorted(maps.Keys(in.Records)) {
		doc := in.Records[name]
		record, err := intent.Of[intent.Record](doc)
		if err != nil {
			return err
		}
		pinned, err := s.RecordLifecycle(ctx, doc.Path)
		if err != nil {
			return err
		}
		in.Pinned[name] = pinned
		homes = append(homes, record.Spec.DeployOn.Ref(doc.Path), pinned.Record.Spec.DeployOn.Ref(doc.Path), pinned.Record.Home)
	}
	var names []string
	for _, home := range homes {
		if home != nil && !slices.Contains(names, home.String()) {
			names = append(names, home.String())
		}
	}
	return s.ReadClusters(ctx, in, names)
}

// Selected are, in order, the named clusters of the logical cloud, else all of them,
// narrowed by labels. Named clusters that are not in the logical cloud go to others.
func (in *Inputs) Selected(named []intent.ClusterRef, labels map[string]string, others func(intent.ClusterRef)) []string {
	names := in.Members
	if len(named) > 0 {
		names = nil
		for _, ref := range named {
			if !slices.Contains(in.Members, ref.String()) {
				others(ref)
				continue
			}
			names = append(names, ref.String())
		}
	}
	var out []string
	for _, name := range names {
		if intent.HasLabels(in.Clusters[name].Spec.Labels, labels) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
