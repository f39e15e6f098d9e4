package query

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/release/ahead"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// atOnce has a snapshot of an owner read the store as it is at one time. It reads in one request
// the first that each snapshot needs, and more.
func (s *Reader) atOnce(ctx context.Context, owner intent.Path, more ahead.Reads, read func(context.Context) (Snapshot, error)) (Snapshot, error) {
	first := ahead.Reads{Documents: []intent.Path{state.LifecyclePath(owner), state.DrainedPath}, Keys: appcontext.Keys(state.GroupOwner(owner))}
	first.Add(more)
	if !intent.IsName(owner) { // that of a name is in its lifecycle
		first.Documents = append(first.Documents, owner)
	}
	return state.RetryOnConflict(ctx, owner, func(ctx context.Context) (Snapshot, error) {
		ctx, end, err := s.begin(ctx, owner, first)
		defer end()
		if err != nil {
			return Snapshot{}, err
		}
		snap, err := read(ctx)
		return snap, snapshot.Again(err)
	})
}

// begin reads the first that a snapshot needs. Names are very many, and those of a project have much in common, which is read in the same request.
func (s *Reader) begin(ctx context.Context, owner intent.Path, first ahead.Reads) (_ context.Context, end func(), err error) {
	if !intent.IsName(owner) {
		return ahead.Begin(ctx, s.Store, first)
	}
	return ahead.BeginAs(ctx, s.Store, "status of "+owner.Segment("projects"), owner, first)
}

// readAhead reads in one request what the lifecycle and the pointer of an owner lead to, besides
// the release, which is remembered as a rule.
func (s *Reader) readAhead(ctx context.Context, l *state.Lifecycle, pointer appcontext.Pointer) error {
	reads := ahead.Reads{Prefixes: pointer.Resources()}
	for _, use := range slices.Concat(l.Uses, l.Draining) {
		reads.Documents = append(reads.Documents, state.LifecyclePath(use.Record))
		reads.Keys = append(reads.Keys, appcontext.Keys(use.Owner())...)
	}
	return ahead.Read(ctx, s.Store, reads)
}

// readRest reads in one request what the release and the objects of a snapshot lead to. Other
// things are read when they are needed.
func (s *Reader) readRest(ctx context.Context, snap *Snapshot, more func(*Snapshot) ahead.Reads) error {
	if s.DocumentKey == nil {
		return nil // nothing is read ahead
	}
	reads := snap.needed()
	for _, use := range slices.Concat(snap.Lifecycle.Uses, snap.Lifecycle.Draining) {
		of, err := s.neededOf(ctx, use, snap.Group.Project.Namespace)
		if err != nil {
			return err
		}
		reads.Add(of)
	}
	if more != nil {
		reads.Add(more(snap))
	}
	return ahead.Read(ctx, s.Store, reads)
}

// needed is what a snapshot follows from, besides its external-dns.
func (snap *Snapshot) needed() ahead.Reads {
	var reads ahead.Reads
	objects := snap.objectsByCluster()
	for _, cluster := range slices.Sorted(maps.Keys(objects)) {
		reads.Keys = append(reads.Keys, clusterKeys(cluster)...)
		for _, id := range objects[cluster] {
			reads.Keys = append(reads.Keys, ledger.Key(id))
			if id.IsEndpoint() {
				reads.Keys = append(reads.Keys, observed.EndpointKeys(cluster, id.Namespace, id.Name)...)
			}
		}
	}
	for _, c := range snap.Group.Clusters {
		reads.Keys = append(reads.Keys, clusterKeys(c.Name)...)
	}
	for _, b := range snap.Group.Bindings {
		for _, cluster := range b.Sources {
			if b.Service != "" {
				reads.Keys = append(reads.Keys, observed.ServiceKey(address.Service{Cluster: cluster, Namespace: b.Namespace, Name: b.Service}))
			}
		}
	}
	if intent.IsName(snap.Group.Path) { // others have many names, and need not know who has those around them
		claims, below := ownership.KeysOf(snap.Group)
		reads.Keys, reads.Prefixes = append(reads.Keys, claims...), below
	}
	for _, request := range ownership.RequestsOf(snap.Group) {
		reads.Keys = append(reads.Keys, nameclaim.Path(request.Key))
	}
	return reads
}

func clusterKeys(cluster string) []string {
	return []string{observed.ReachabilityKey(cluster), ledger.AbandonedPrefix + cluster}
}

// neededOf is what the report of an external-dns follows from, as far as its pointer tells.
func (s *Reader) neededOf(ctx context.Context, use state.Use, namespace string) (ahead.Reads, error) {
	pointer, err := s.Contexts.Current(ctx, use.Owner())
	deployment := observed.DeploymentKey(use.Cluster, namespace, provider.DeploymentName(use.Record.Name(), use.Scope))
	return ahead.Reads{Keys: append(clusterKeys(use.Cluster), deployment), Prefixes: pointer.Resources()}, err
}

// documentsOf is what differences of an owner's documents follow from, as far as its path tells.
// Names are released as they are written.
func (s *Reader) documentsOf(owner intent.Path) ahead.Reads {
	if intent.IsName(owner) {
		return ahead.Reads{}
	}
	return inputs.NeededBy(s.Store, owner)
}

// inputsOf is what differences of documents follow from, as far as a release tells.
func (s *Reader) inputsOf(snap *Snapshot) ahead.Reads {
	return inputs.NeededSince(s.Store, snap.Inputs)
}
