package ownership

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// allRequests are the names and namespaces that a release takes.
func allRequests(g plan.Group) []resolve.ClaimRequest {
	return append(RequestsOf(g), namespaceRequests(g)...)
}

// RequestsOf are the names that a release gives, ordered by their keys, none twice.
func RequestsOf(g plan.Group) []resolve.ClaimRequest {
	var requests []resolve.ClaimRequest
	for _, b := range g.Bindings {
		for _, host := range b.Hosts {
			for _, key := range state.KeysIn(b, host.Name) {
				requests = append(requests, resolve.ClaimRequest{
					Key: key, Host: host.Name, Prefix: b.Prefix, Trees: treesOf(b, host.Name, key), Through: state.RecordPath(g, b), Types: host.Types,
				})
			}
		}
	}
	slices.SortStableFunc(requests, resolve.CompareRequests)
	out := requests[:0]
	for _, next := range requests {
		if last := len(out) - 1; last >= 0 && out[last].Key == next.Key {
			out[last] = out[last].And(next)
			continue
		}
		out = append(out, next)
	}
	return out
}

// treesOf are the prefixes below which a key of a host name is a whole one of etcd.
func treesOf(b plan.Binding, host string, key nameclaim.Key) []string {
	if b.Prefix == "" || externaldns.SeenAs(b.Prefix, host).Whole != key.Name {
		return nil
	}
	return []string{b.Prefix}
}

// claimHolders are those who have entries in claims, and how they stand. Each is
// read once, when it is first asked for.
type claimHolders struct {
	*Registry

	groups    map[intent.Path]nameclaim.GroupState
	documents map[intent.Path]string // uid, empty for none
}

func (s *Registry) claimHolders() *claimHolders {
	return &claimHolders{Registry: s, groups: map[intent.Path]nameclaim.GroupState{}, documents: map[intent.Path]string{}}
}

// of judges the entries of a claim.
func (s *claimHolders) of(ctx context.Context, key nameclaim.Key) func(nameclaim.Entry) (bool, error) {
	return func(e nameclaim.Entry) (bool, error) {
		if e.Stays {
			uid, err := s.document(ctx, e.Through)
			if err != nil || uid == e.UID {
				return err == nil, err
			}
			return s.isLeft(ctx, key)
		}
		is, err := s.group(ctx, e.Group)
		return err == nil && e.Held(key, is, s.Now()), err
	}
}

// isLeft tells whether a namespace that Signpost made still exists without its logical
// cloud. Others keep something in it, which may be a Secret of the project.
func (s *claimHolders) isLeft(ctx context.Context, key nameclaim.Key) (bool, error) {
	cluster, is := resolve.NamespaceOn(key)
	if !is {
		return false, nil
	}
	entry, found, err := s.Ledger.Get(ctx, bundle.ID{Cluster: cluster, Kind: "Namespace", Name: key.Name})
	return found && entry.CreatedByUs, err
}

func (s *claimHolders) document(ctx context.Context, path intent.Path) (uid string, err error) {
	uid, known := s.documents[path]
	if !known {
		doc, err := s.Documents.Get(ctx, path)
		if err != nil && intent.CodeOf(err) != intent.NotFound {
			return "", err
		}
		uid = doc.UID
		s.documents[path] = uid
	}
	return uid, nil
}

func (s *claimHolders) group(ctx context.Context, path intent.Path) (nameclaim.GroupState, error) {
	if known, ok := s.groups[path]; ok {
		return known, nil
	}
	l, err := s.StoredLifecycle(ctx, path)
	if err != nil {
		return nameclaim.GroupState{}, err
	}
	left := len(l.PendingRelease) > 0 || state.IsCloud(path) && len(l.RemovedClusters) > 0 // a logical cloud has its DNS in what it vacates
	is := nameclaim.GroupState{UID: l.OwnerUID, Revision: l.Revision, Resting: l.Seq == 0 || l.Settled && !left}
	if l.Deployed() {
		gives, err := s.publishedBy(ctx, l)
		if err != nil {
			return is, err
		}
		is.Context, is.Gives = l.ContextID, func(key nameclaim.Key) bool { return gives[key] }
	}
	s.groups[path] = is
	return is, nil
}

// publishedBy are the names that the release of a group gives, except those that it has
// handed over, and the namespaces that it is in.
func (s *Registry) publishedBy(ctx context.Context, l state.Lifecycle) (map[nameclaim.Key]bool, error) {
	release, err := s.LoadRelease(ctx, l.ContextID)
	if intent.CodeOf(err) == intent.NotFound {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: "another release has just taken the place of " + l.ContextID, Err: err}
	}
	if err != nil {
		return nil, err
	}
	names := map[nameclaim.Key]bool{}
	for _, b := range allRequests(l.Placed(release.Group)) {
		names[b.Key] = true
	}
	return names, nil
}

func keysOf(requests []resolve.ClaimRequest) []nameclaim.Key {
	keys := make([]nameclaim.Key, len(requests))
	for n, b := range requests {
		keys[n] = b.Key
	}
	return keys
}
