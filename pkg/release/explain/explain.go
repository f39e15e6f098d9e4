// Package explain tells all that is known of a host name, over all owners.
package explain

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/nameindex"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/query"
)

// Explainer explains host names.
type Explainer struct {
	Reader    *query.Reader
	Ownership *ownership.Registry
	Index     *nameindex.Index
	Idle      func() bool // whether no worker is running, as far as is known
}

// mostOwners is how many owners of a host name are explained.
const mostOwners = 20

// ExplainName returns all that a caller may know of a host name. The index and the claim
// tell where to look; the owners' own state decides.
func (e *Explainer) ExplainName(ctx context.Context, host string, sees func(project string) bool) (intent.NameExplanation, error) {
	candidates, err := e.Index.Owners(host)
	if err != nil {
		return intent.NameExplanation{}, err
	}
	project, holders, err := e.Ownership.ClaimHolders(ctx, host)
	if err != nil {
		return intent.NameExplanation{}, err
	}
	candidates = append(candidates, holders...)
	slices.Sort(candidates)
	owners, others := []intent.NameOwner{}, len(holders) == 0 && project != "" && !sees(project)
	for _, path := range slices.Compact(candidates) {
		visible := sees(path.Segment("projects"))
		if others && !visible || len(owners) == mostOwners {
			continue
		}
		owner, gives, err := e.read(ctx, path, host)
		switch {
		case err != nil && !visible:
			others = true
		case err != nil:
			return intent.NameExplanation{}, err
		case gives && visible:
			owners = append(owners, owner)
		case gives:
			others = true
		}
	}
	if len(owners) == 0 && !others {
		return intent.NameExplanation{}, &intent.Error{Code: intent.NotFound, Detail: "no project publishes " + host}
	}
	return summarize(host, owners, others), nil
}

// read is what an owner says of a host name; false if it does not give the name.
func (e *Explainer) read(ctx context.Context, owner intent.Path, host string) (intent.NameOwner, bool, error) {
	snapshot, err := e.Reader.Snapshot(ctx, owner)
	if intent.CodeOf(err) == intent.NotFound {
		return intent.NameOwner{}, false, nil
	}
	if err != nil {
		return intent.NameOwner{}, false, err
	}
	snapshot.Idle = e.Idle()
	documents, err := e.behind(ctx, snapshot, host)
	if err != nil {
		return intent.NameOwner{}, false, err
	}
	explained, gives := ownerOf(snapshot, host, documents)
	if gives {
		explained.Unreachable, err = e.outages(ctx, snapshot, host)
	}
	return explained, gives, err
}

// Fleet returns how clusters and external-dns do, as far as the index tells, and which
// clusters are drained.
func (e *Explainer) Fleet(ctx context.Context, q intent.FleetQuery) (intent.Fleet, error) {
	drained, err := e.Reader.DrainedClusters(ctx)
	if err != nil {
		return intent.Fleet{}, err
	}
	q.Drained = map[string]bool{}
	for name := range drained.Clusters {
		q.Drained[name] = true
	}
	return e.Index.Census(q)
}
