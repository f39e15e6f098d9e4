package release

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// inputs are the documents that the release of a group, or of a logical cloud,
// follows from, as read.
type inputs struct {
	owner         intent.Document
	project       intent.Resource[intent.Project]
	group         intent.Resource[intent.DeploymentIntentGroup]
	cloud         intent.Resource[intent.LogicalCloud]
	cloudPath     intent.Path
	clusters      map[string]intent.Resource[intent.Cluster] // of the logical cloud, of apps that EMCO deploys and of the homes, by "provider+cluster"
	members       []string                                   // the logical cloud's clusters, and those of apps that EMCO deploys, ordered
	cloudRecords  []string                                   // values of the logical cloud's association
	ownRecords    map[string][]string                        // values of each cluster's association
	intents       []dnsIntent                                // ordered by path
	podIntents    []podDNSIntent                             // ordered by path
	dnsIntents    []dnsCRIntent                              // of a logical cloud, ordered by name
	records       map[string]intent.Document                 // the project's records that are associated, by name
	elsewhere     bool                                       // EMCO keeps the owner's document, and deploys its apps
	orchestration *orchestration                             // of the group's apps; nil: they are Signpost's own, as the group's document says
	reading
}

// dnsIntent is a DNS intent with the path that errors about it name.
type dnsIntent struct {
	path intent.Path
	spec intent.DNSIntent
}

// gather reads an owner's inputs until two readings agree, so that what is
// frozen was the state at one time.
func (s *Service) gather(ctx context.Context, owner intent.Path) (*inputs, error) {
	return s.gatherFor(ctx, owner, nil)
}

// gatherFor is gather for a group whose apps EMCO deploys, or Signpost where by
// is nil.
func (s *Service) gatherFor(ctx context.Context, owner intent.Path, by *orchestration) (*inputs, error) {
	const attempts = 10
	for range attempts {
		in, err := s.readInputs(ctx, owner, by)
		if err != nil {
			return nil, err
		}
		same, err := in.reading.repeated(ctx)
		if err != nil || same {
			return in, err
		}
	}
	return nil, &intent.Error{Code: intent.Conflict, Detail: "the inputs of " + string(owner) + " keep changing; try again"}
}

// readOwner reads an owner and the project that it is in.
func (s *Service) readOwner(ctx context.Context, owner intent.Path) (*inputs, error) {
	in := &inputs{
		clusters: map[string]intent.Resource[intent.Cluster]{}, ownRecords: map[string][]string{},
		records: map[string]intent.Document{}, reading: reading{store: s.Documents, read: map[intent.Path]Input{}},
	}
	var err error
	if in.owner, err = s.Documents.Get(ctx, owner); err != nil {
		return nil, err
	}
	if in.project, err = get[intent.Project](ctx, in, intent.Join("projects", owner.Segment("projects"))); err != nil {
		return nil, err
	}
	in.cloudPath, in.elsewhere = owner, s.Elsewhere != nil && s.Elsewhere(owner) != nil
	if !IsCloud(owner) {
		in.group, err = note[intent.DeploymentIntentGroup](in, in.owner)
		in.cloudPath = in.projectPath().Child("logical-clouds", in.group.Spec.LogicalCloud)
	}
	return in, err
}

func (s *Service) readInputs(ctx context.Context, owner intent.Path, by *orchestration) (*inputs, error) {
	in, err := s.readOwner(ctx, owner)
	if err != nil {
		return nil, err
	}
	reads := []func(context.Context, *inputs) error{s.readMembers, s.readDNSCRIntents}
	if !IsCloud(owner) {
		if err := in.orchestrate(by); err != nil {
			return nil, err
		}
		reads = []func(context.Context, *inputs) error{s.readMembers, s.readIntents, s.readOrchestrated, s.readAssociations, s.readRecords, s.readHomes}
	}
	if in.cloud, err = get[intent.LogicalCloud](ctx, in, in.cloudPath); err != nil {
		return nil, err
	}
	for _, read := range reads {
		if err := read(ctx, in); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func (s *Service) readMembers(ctx context.Context, in *inputs) error {
	docs, err := in.list(ctx, string(in.cloudPath)+"/cluster-references")
	if err != nil {
		return err
	}
	for _, doc := range docs {
		ref, err := note[intent.ClusterReference](in, doc)
		if err != nil {
			return err
		}
		if !slices.Contains(in.members, ref.Spec.String()) {
			in.members = append(in.members, ref.Spec.String())
		}
	}
	if err := s.readClusters(ctx, in, in.members); err != nil {
		return err
	}
	for _, member := range in.members {
		if _, known := in.clusters[member]; !known {
			return s.absent(ctx, member)
		}
	}
	slices.Sort(in.members)
	return nil
}

// absent is the error of a cluster that was not found, in the words of who
// keeps it.
func (s *Service) absent(ctx context.Context, name string) error {
	ref, _ := intent.ParseCluster(name)
	_, err := s.Documents.Get(ctx, ref.Path())
	if err == nil {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: string(ref.Path()) + " has just been created"}
	}
	return err
}

// readClusters reads those of the clusters that exist.
func (s *Service) readClusters(ctx context.Context, in *inputs, names []string) error {
	var paths []intent.Path
	for _, name := range names {
		if _, known := in.clusters[name]; !known {
			ref, _ := intent.ParseCluster(name)
			paths = append(paths, ref.Path())
		}
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
		in.clusters[intent.ClusterOf(doc.Path).String()] = cluster
	}
	return nil
}

// readAssociations reads the values of the dns-update-record-lists of the
// logical cloud and its members, in their order; none where there is no such
// document.
func (s *Service) readAssociations(ctx context.Context, in *inputs) error {
	owners := []intent.Path{in.cloudPath}
	for _, member := range in.members {
		ref, _ := intent.ParseCluster(member)
		owners = append(owners, ref.Path())
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
		if doc.Path == owners[0] {
			in.cloudRecords = values(pairs.Spec)
		} else {
			in.ownRecords[intent.ClusterOf(doc.Path).String()] = values(pairs.Spec)
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

func (s *Service) readIntents(ctx context.Context, in *inputs) error {
	groups, err := in.list(ctx, string(in.owner.Path)+"/traffic-group-intents")
	if err != nil {
		return err
	}
	for _, group := range groups {
		if !in.orchestration.counts(group.Path) {
			continue
		}
		docs, err := in.list(ctx, string(group.Path)+"/dns-intents")
		if err != nil {
			return err
		}
		for _, doc := range docs {
			resource, err := note[intent.DNSIntent](in, doc)
			if err != nil {
				return err
			}
			in.intents = append(in.intents, dnsIntent{doc.Path, resource.Spec})
		}
		if err := s.readPodDNSIntents(ctx, in, group.Path); err != nil {
			return err
		}
	}
	return nil
}

// readRecords reads the records that the associations name for this project.
// A bare name in a cluster's association may name no record here.
func (s *Service) readRecords(ctx context.Context, in *inputs) error {
	names := slices.Clone(in.cloudRecords)
	for _, member := range in.members {
		for _, value := range in.ownRecords[member] {
			if name, ours := in.recordName(value); ours {
				names = append(names, name)
			}
		}
	}
	var paths []intent.Path
	for _, name := range names {
		if path := in.recordPath(name); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	docs, err := in.all(ctx, paths)
	for _, doc := range docs {
		in.records[doc.Path.Name()] = doc
		in.read[doc.Path] = inputOf(doc)
	}
	return err
}

// recordName reads a value of a cluster's association: "project/record", or a
// bare name that means the planning project's record.
func (in *inputs) recordName(value string) (name string, ours bool) {
	project, record, qualified := strings.Cut(value, "/")
	if !qualified {
		return value, true
	}
	return record, project == in.project.Metadata.Name
}

func (in *inputs) projectPath() intent.Path {
	return intent.Join("projects", in.project.Metadata.Name)
}

func (in *inputs) recordPath(name string) intent.Path {
	return in.projectPath().Child("dns-update-records", name)
}

// readHomes reads the clusters that may become a home and are no members.
func (s *Service) readHomes(ctx context.Context, in *inputs) error {
	homes := []*intent.ClusterRef{in.cloud.Spec.ControllerCluster, s.ControllerCluster}
	for _, name := range slices.Sorted(maps.Keys(in.records)) {
		doc := in.records[name]
		record, err := intent.Of[intent.Record](doc)
		if err != nil {
			return err
		}
		pinned, err := s.recordLifecycle(ctx, doc.Path)
		if err != nil {
			return err
		}
		homes = append(homes, record.Spec.DeployOn, pinned.Record.Spec.DeployOn, pinned.Record.Home)
	}
	var names []string
	for _, home := range homes {
		if home != nil && !slices.Contains(names, home.String()) {
			names = append(names, home.String())
		}
	}
	return s.readClusters(ctx, in, names)
}
