package inputs

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// GatherName reads the inputs of a name until two readings agree. next is the document
// that is to be accepted; nil: the stored one.
func (s *Reader) GatherName(ctx context.Context, name intent.Path, next *intent.NameDocument) (*Inputs, error) {
	return gathered(ctx, name, func() (*Inputs, error) { return s.readName(ctx, name, next) })
}

func (s *Reader) readName(ctx context.Context, name intent.Path, next *intent.NameDocument) (*Inputs, error) {
	in := s.newInputs()
	in.CloudPath = intent.Join("projects", name.Segment("projects"))
	var err error
	if next != nil {
		in.Owner = next.At(name)
	} else if in.Owner, err = s.Documents.Get(ctx, name); err != nil {
		return nil, err
	}
	resource, err := intent.Of[intent.Name](in.Owner)
	if err != nil {
		return nil, err
	}
	in.Name = resource.Spec
	in.Accepting = inputOf(in.Owner)
	reads := []func(context.Context, *Inputs) error{s.readNamed, s.readNameClusters, s.readNameAssociations, s.readHomes}
	for _, read := range reads {
		if err := read(ctx, in); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// readNamed reads the project, the provider and the clusters that a name names, at once.
func (s *Reader) readNamed(ctx context.Context, in *Inputs) error {
	paths := []intent.Path{in.CloudPath, in.CloudPath.Child("dns-update-records", in.Name.Provider)}
	for _, ref := range in.Name.Clusters.Refs() {
		paths = append(paths, ref.Path())
	}
	docs, err := in.all(ctx, paths)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		in.Read[doc.Path] = inputOf(doc)
		if err := in.Keep(doc); err != nil {
			return err
		}
	}
	if len(docs) == 0 || docs[0].Path != in.CloudPath {
		_, err := s.Documents.Get(ctx, in.CloudPath)
		return cmp.Or(err, intent.ErrNotFound(in.CloudPath))
	}
	in.Project, err = intent.Of[intent.Project](docs[0])
	return err
}

// readNameClusters reads the clusters that a name chooses. Missing clusters are members
// all the same: the draft refuses them.
func (s *Reader) readNameClusters(ctx context.Context, in *Inputs) error {
	choice := in.Name.Clusters
	switch {
	case choice == nil:
		return nil
	case choice.Selector == nil:
		for _, ref := range choice.Refs() {
			in.Members = append(in.Members, ref.String())
		}
	default:
		members, err := s.selected(ctx, in, choice.Selector)
		if err != nil {
			return err
		}
		in.Members = members
	}
	slices.Sort(in.Members)
	in.Members = slices.Compact(in.Members)
	return s.ReadClusters(ctx, in, in.Members)
}

// readNameAssociations reads which clusters the provider is associated with, which counts
// in the scope of clusters alone.
func (s *Reader) readNameAssociations(ctx context.Context, in *Inputs) error {
	provider, known := in.Records[in.Name.Provider]
	if in.Name.Scope != intent.ClusterScope || !known {
		return nil
	}
	record, err := intent.Of[intent.Record](provider)
	if err != nil {
		return err
	}
	if err := s.ReadAssociations(ctx, in); err != nil {
		return err
	}
	in.associate(in.Name.Provider, record.Spec)
	return nil
}

// selected are the clusters that have all of some labels and admit the project.
func (s *Reader) selected(ctx context.Context, in *Inputs, labels map[string]string) ([]string, error) {
	groups, err := in.list(ctx, "cluster-providers")
	if err != nil {
		return nil, err
	}
	var members, have []string
	for _, group := range groups {
		docs, err := in.list(ctx, string(group.Path)+"/clusters")
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			cluster, err := intent.Of[intent.Cluster](doc)
			if err != nil {
				return nil, err
			}
			if !admits(cluster.Spec, in.Project.Metadata.Name) {
				continue
			}
			for key, value := range cluster.Spec.Labels {
				have = append(have, key+"="+value)
			}
			if intent.HasLabels(cluster.Spec.Labels, labels) {
				members = append(members, intent.ClusterOf(doc.Path).String())
			}
		}
	}
	slices.Sort(have)
	in.ClusterLabels = slices.Compact(have)
	return members, nil
}

// newInputs are inputs of which nothing was read.
func (s *Reader) newInputs() *Inputs {
	return &Inputs{
		Clusters: map[string]intent.Resource[intent.Cluster]{}, OwnRecords: map[string][]string{}, Pinned: map[string]state.RecordLifecycle{},
		Records: map[string]intent.Document{}, intents: map[string][]intent.Document{}, Reading: Reading{Store: s.Documents, Read: map[intent.Path]state.Input{}},
	}
}

// FollowsClusters tells whether the owner is a name whose clusters come and go by their
// labels.
func (in *Inputs) FollowsClusters() bool {
	return in.Name.Clusters != nil && in.Name.Clusters.Selector != nil
}

// Chosen are the clusters that a project's name would have now: those with the labels of
// its selector. The clusters are as they were a moment ago.
func (s *Reader) Chosen(ctx context.Context, project string, selector map[string]string) ([]string, error) {
	all, err := s.clusters.read(ctx, s.Documents, s.Now())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range all {
		if admits(c.spec, project) && intent.HasLabels(c.spec.Labels, selector) {
			out = append(out, c.name)
		}
	}
	return out, nil
}

func admits(cluster intent.Cluster, project string) bool {
	return len(cluster.Projects) == 0 || slices.Contains(cluster.Projects, project)
}

// ForgetClusters has the next selector read the clusters anew, because one has changed. It
// does not wait for a read that goes on, whose answer is not remembered.
func (s *Reader) ForgetClusters() {
	s.clusters.mu.Lock()
	defer s.clusters.mu.Unlock()
	s.clusters.at = time.Time{}
	s.clusters.forgotten++
}

// clusterList remembers the clusters for a moment, because each step of each name with a
// selector asks for them. It is safe for concurrent use.
type clusterList struct {
	mu        sync.Mutex // not held while the store is asked
	at        time.Time
	list      []listedCluster
	forgotten int // how often it was forgotten
}

type listedCluster struct {
	name string // "provider+cluster"
	spec intent.Cluster
}

func (l *clusterList) read(ctx context.Context, store intent.Store, now time.Time) ([]listedCluster, error) {
	list, forgotten := l.remembered(now)
	if list != nil {
		return list, nil
	}
	list, err := listClusters(snapshot.Now(ctx), store) // others get it, too, who have heard of a change since
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.forgotten == forgotten {
		l.list, l.at = list, now
	}
	return list, nil
}

// remembered answers the list, nil if it is old, and how often it was forgotten until now.
func (l *clusterList) remembered(now time.Time) ([]listedCluster, int) {
	const fresh = 2 * time.Second
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.IsZero() || now.Sub(l.at).Abs() >= fresh {
		return nil, l.forgotten
	}
	return l.list, l.forgotten
}

// listClusters reads all clusters, ordered by name.
func listClusters(ctx context.Context, store intent.Store) ([]listedCluster, error) {
	groups, err := store.List(ctx, intent.ListOptions{Collection: "cluster-providers"})
	if err != nil {
		return nil, err
	}
	list := []listedCluster{}
	for _, group := range groups.Items {
		page, err := store.List(ctx, intent.ListOptions{Collection: string(group.Path) + "/clusters"})
		if err != nil {
			return nil, err
		}
		for _, doc := range page.Items {
			cluster, err := intent.Of[intent.Cluster](doc)
			if err != nil {
				return nil, err
			}
			list = append(list, listedCluster{intent.ClusterOf(doc.Path).String(), cluster.Spec})
		}
	}
	slices.SortFunc(list, func(a, b listedCluster) int { return strings.Compare(a.name, b.name) })
	return list, nil
}
