package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// bid is a name that a release gives in a view of DNS, or a namespace of a cluster
// that it reads or writes.
type bid struct {
	key     nameclaim.Key
	host    string      // as the group gives the name; of a namespace, empty
	prefix  string      // of the keys of etcd, where the name is one; else empty
	trees   []string    // the prefixes below which the name is that of a whole key, ordered
	through intent.Path // the record; of a namespace, the logical cloud
	types   []string    // of all who give the name in the release; none: all but SRV
	purpose purpose     // of a namespace: what for
	by      string      // of a namespace: the app, Service or DNS CR intent that it is for, if any
}

func (b bid) String() string {
	if cluster, is := namespaceOn(b.key); is {
		return fmt.Sprintf("namespace %q of cluster %s", b.key.Name, cluster)
	}
	return b.key.Name
}

// seen is the name of a bid with the host name that it is asked for by.
func (b bid) seen() string { return seenAs(b.key.Name, b.prefix, b.host) }

// seenAs is a name with the host name below a key prefix that resolvers see as it.
func seenAs(name, prefix, host string) string {
	if host == "" || host == name {
		return strconv.Quote(name)
	}
	return fmt.Sprintf("%q, as resolvers may see %q below coredns-prefix %s,", name, host, prefix)
}

// allBids are the names and namespaces that a release takes.
func allBids(g plan.Group) []bid { return append(bidsOf(g), namespaceBids(g)...) }

// bidsOf are the names that a release gives, ordered by their keys, none twice.
func bidsOf(g plan.Group) []bid {
	var bids []bid
	for _, b := range g.Bindings {
		for _, host := range b.Hosts {
			for _, key := range keysIn(b, host.Name) {
				next := bid{key: key, host: host.Name, prefix: b.Prefix, through: recordPath(g, b), types: host.Types}
				if b.Prefix != "" && externaldns.SeenAs(b.Prefix, host.Name).Whole == key.Name {
					next.trees = []string{b.Prefix}
				}
				bids = append(bids, next)
			}
		}
	}
	slices.SortStableFunc(bids, compareBids)
	out := bids[:0]
	for _, next := range bids {
		if last := len(out) - 1; last >= 0 && out[last].key == next.key {
			out[last] = out[last].and(next)
			continue
		}
		out = append(out, next)
	}
	return out
}

// and is a bid for what two are for. It is through a record of which the names are
// keys, if one is such: by that others see what lies above or below.
func (b bid) and(other bid) bid {
	types, trees := bothTypes(b.types, other.types), slices.Compact(slices.Sorted(slices.Values(slices.Concat(b.trees, other.trees))))
	if len(b.trees) == 0 && len(other.trees) > 0 {
		b = other
	}
	b.types, b.trees = types, trees
	return b
}

func compareBids(a, b bid) int { return compareKeys(a.key, b.key) }

func compareKeys(a, b nameclaim.Key) int {
	return cmp.Or(cmp.Compare(a.View, b.View), cmp.Compare(a.Name, b.Name))
}

// bothTypes are the types that one of two allows; none: all but SRV.
func bothTypes(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// viewMoves refuses to take the names of a record that is in use into another
// view of DNS, where they are not claimed.
func (p *recordProposal) viewMoves() []intent.Field {
	was, is := p.before.Record.Spec, p.frozen.Spec
	switch {
	case !p.before.Deployed:
		return nil
	case externaldns.SeenAs(keyPrefix(is), "x").Whole != externaldns.SeenAs(keyPrefix(was), "x").Whole:
		return []intent.Field{{
			Pointer: string(p.frozen.Path) + "#/spec/external-dns-parameters/coredns-prefix",
			Detail:  "resolvers would see the names of the record as other names, which may be others'; make a record for these, and associate that",
		}}
	case privateViews(was) == privateViews(is):
		return nil
	}
	return []intent.Field{{
		Pointer: string(p.frozen.Path) + "#/spec/external-dns-parameters",
		Detail:  "the names of the record would come into other zones, where they may be others'; make a record for these, and associate that",
	}}
}

// claimants are those who have entries in claims, and how they stand. Each is
// read once, when it is first asked for.
type claimants struct {
	*Service

	groups    map[intent.Path]nameclaim.Standing
	documents map[intent.Path]string // uid, empty for none
	prefixes  map[intent.Path]string // of the keys of etcd of records, empty for none
}

func (s *Service) claimants() *claimants {
	return &claimants{Service: s, groups: map[intent.Path]nameclaim.Standing{}, documents: map[intent.Path]string{}, prefixes: map[intent.Path]string{}}
}

// of judges the entries of a claim.
func (s *claimants) of(ctx context.Context, key nameclaim.Key) func(nameclaim.Entry) (bool, error) {
	return func(e nameclaim.Entry) (bool, error) {
		if e.Stays {
			uid, err := s.document(ctx, e.Through)
			return uid == e.UID, err
		}
		standing, err := s.group(ctx, e.Group)
		return err == nil && e.Held(key, standing, s.Now()), err
	}
}

func (s *claimants) document(ctx context.Context, path intent.Path) (uid string, err error) {
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

func (s *claimants) group(ctx context.Context, path intent.Path) (nameclaim.Standing, error) {
	if known, ok := s.groups[path]; ok {
		return known, nil
	}
	l, err := s.storedLifecycle(ctx, path)
	if err != nil {
		return nameclaim.Standing{}, err
	}
	left := len(l.Shed) > 0 || IsCloud(path) && len(l.Vacating) > 0 // a logical cloud has its DNS in what it vacates
	is := nameclaim.Standing{UID: l.OwnerUID, Revision: l.revision, Resting: l.Seq == 0 || l.Settled && !left}
	if l.deployed() {
		gives, err := s.givenBy(ctx, l)
		if err != nil {
			return is, err
		}
		is.Context, is.Gives = l.ContextID, func(key nameclaim.Key) bool { return gives[key] }
	}
	s.groups[path] = is
	return is, nil
}

// givenBy are the names that the release of a group gives, but for those that it
// has yielded, and the namespaces that it is in.
func (s *Service) givenBy(ctx context.Context, l Lifecycle) (map[nameclaim.Key]bool, error) {
	release, err := s.loadRelease(ctx, l.ContextID)
	if intent.CodeOf(err) == intent.NotFound {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: "another release has just taken the place of " + l.ContextID, Err: err}
	}
	if err != nil {
		return nil, err
	}
	names := map[nameclaim.Key]bool{}
	for _, b := range allBids(l.placed(release.Group)) {
		names[b.key] = true
	}
	return names, nil
}

func keysOf(bids []bid) []nameclaim.Key {
	keys := make([]nameclaim.Key, len(bids))
	for n, b := range bids {
		keys[n] = b.key
	}
	return keys
}
