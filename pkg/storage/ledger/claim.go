package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Claim says which cluster a name stands for. A name claims one identity at a time.
type Claim struct {
	Cluster string `json:"cluster"` // the name, "provider+cluster"
	UID     string `json:"-"`       // what the cluster identifies itself by
	Source  string `json:"source"`  // where it is found, in words
}

// Refusal is the error of a Claim that may not be.
type Refusal struct {
	Asked   Claim
	Against Claim // another name's on the same cluster, or the same name's on another cluster
}

// Double tells whether another name has the cluster; else the name stood for
// another cluster.
func (r *Refusal) Double() bool { return r.Asked.Cluster != r.Against.Cluster }

// Error names both ends, and what to do.
func (r *Refusal) Error() string {
	if r.Double() {
		return fmt.Sprintf("%s answers as cluster %s, which is registered as %s already, at %s; a cluster has one name: use that one, or delete it first",
			r.Asked.Source, r.Asked.UID, r.Against.Cluster, r.Against.Source)
	}
	source := r.Against.Source
	source = cmp.Or(source, "an unknown address")
	return fmt.Sprintf("%s answers as cluster %s, but %s is cluster %s at %s, which still has Signpost's objects; restore the address, or register the other cluster under a name of its own",
		r.Asked.Source, r.Asked.UID, r.Asked.Cluster, r.Against.UID, source)
}

// claimTries is how often a claim begins again when others come in between.
const claimTries = 10

// Claim has a name stand for the cluster that answers at a source, and gives
// up what it stood for if nothing is left there. The same cluster at another
// source is fine, and so is another cluster at the same source: it was built
// anew. Errors: *Refusal; Unavailable when others keep coming in between; the
// store's.
func (l *Ledger) Claim(ctx context.Context, asked Claim) error {
	value, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	for range claimTries {
		when, then, err := l.weigh(ctx, asked)
		if err != nil {
			return err
		}
		done, _, err := l.kv.Txn(ctx, when, append(then, kv.Put(claimPrefix+asked.UID, value))...)
		if done || err != nil {
			return err
		}
	}
	return changing(asked.Cluster)
}

func changing(cluster string) error {
	return &intent.Error{Code: intent.Unavailable, Detail: "the identity of " + cluster + " is being changed by others"}
}

// Judge tells whether Claim would refuse, and changes nothing. Errors: *Refusal;
// the store's.
func (l *Ledger) Judge(ctx context.Context, asked Claim) error {
	_, _, err := l.weigh(ctx, asked)
	return err
}

// weigh checks a claim against all others. It answers the condition under which the
// result holds, and what the name gives up. The former identity is kept while entries
// refer to it.
func (l *Ledger) weigh(ctx context.Context, asked Claim) (when []kv.Compare, then []kv.Op, err error) {
	record, known, err := l.identity(ctx, asked.Cluster)
	if err != nil {
		return nil, nil, err
	}
	lived := false
	if known != "" && known != asked.UID { // else nothing follows from it, and there may be very many entries
		if lived, err = l.lived(ctx, asked.Cluster); err != nil {
			return nil, nil, err
		}
	}
	claims, err := l.claims(ctx)
	if err != nil {
		return nil, nil, err
	}
	when = []kv.Compare{kv.Unchanged(identityPrefix+asked.Cluster, record)}
	was := Claim{Cluster: asked.Cluster, UID: known}
	var held *kv.Item
	for _, claim := range claims {
		switch {
		case claim.UID == asked.UID && claim.Cluster != asked.Cluster:
			return nil, nil, &Refusal{Asked: asked, Against: claim.Claim}
		case claim.UID == asked.UID:
			held = &claim.item
		case claim.Cluster != asked.Cluster:
		case claim.UID == known && lived:
			was = claim.Claim
		default:
			when, then = append(when, kv.Unchanged(claim.item.Key, &claim.item)), append(then, kv.Delete(claim.item.Key))
		}
	}
	if lived && was.Source != asked.Source {
		return nil, nil, &Refusal{Asked: asked, Against: was}
	}
	return append(when, kv.Unchanged(claimPrefix+asked.UID, held)), then, nil
}

// lived tells whether objects that we have made may be left in the cluster.
func (l *Ledger) lived(ctx context.Context, cluster string) (bool, error) {
	entries, err := l.Cluster(ctx, cluster)
	return slices.ContainsFunc(entries, Entry.Held), err
}

// Claimants answers the names that stand for clusters, in order.
func (l *Ledger) Claimants(ctx context.Context) ([]string, error) {
	claims, err := l.claims(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, claim := range claims {
		names = append(names, claim.Cluster)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Release gives up what a name stands for, unless it has entries, and answers
// whether it did.
func (l *Ledger) Release(ctx context.Context, cluster string) (bool, error) {
	when, then, err := l.givingUp(ctx, cluster)
	if err != nil {
		return false, err
	}
	done, _, err := l.kv.Txn(ctx, append(when, kv.Compare{Key: clusterPrefix(cluster), Prefix: true}), then...)
	return done, err
}

// givingUp is what gives up what a name stands for, and under which condition.
func (l *Ledger) givingUp(ctx context.Context, cluster string) (when []kv.Compare, then []kv.Op, err error) {
	record, _, err := l.identity(ctx, cluster)
	if err != nil {
		return nil, nil, err
	}
	claims, err := l.claims(ctx)
	if err != nil {
		return nil, nil, err
	}
	when, then = []kv.Compare{kv.Unchanged(identityPrefix+cluster, record)}, []kv.Op{kv.Delete(identityPrefix + cluster)}
	for _, claim := range claims {
		if claim.Cluster == cluster {
			when, then = append(when, kv.Unchanged(claim.item.Key, &claim.item)), append(then, kv.Delete(claim.item.Key))
		}
	}
	return when, then, nil
}

// storedClaim is a Claim with the item that it was read from.
type storedClaim struct {
	Claim
	item kv.Item
}

// claims reads all claims, ordered by what clusters identify themselves by.
func (l *Ledger) claims(ctx context.Context) ([]storedClaim, error) {
	items, _, err := l.kv.Range(ctx, kv.Range{Prefix: claimPrefix})
	if err != nil {
		return nil, err
	}
	claims := make([]storedClaim, len(items))
	for i, item := range items {
		claims[i].item = item
		if err := json.Unmarshal(item.Value, &claims[i].Claim); err != nil {
			return nil, fmt.Errorf("%s: %w", item.Key, err)
		}
		claims[i].UID = strings.TrimPrefix(item.Key, claimPrefix)
	}
	return claims, nil
}
