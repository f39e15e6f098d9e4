package drains

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// left is what is left of a drain that is over.
type left struct {
	Since time.Time         `json:"since"`
	Names []intent.Leftover `json:"names"`
}

// leftKept is how long it is remembered which names a DNSEndpoint has left behind. Its owner may wait so long for a cluster that is away.
const leftKept = 30 * 24 * time.Hour

// leftOf are the names that were still answered when their DNSEndpoints were waited for no longer.
func (d Drains) leftOf(ctx context.Context, endpoints []string) (names []intent.Leftover, err error) {
	items, _, err := d.kv.Range(ctx, kv.Range{Keys: d.keys(allLeft, endpoints)})
	for _, item := range items {
		var of left
		if err := json.Unmarshal(item.Value, &of); err != nil {
			return nil, fmt.Errorf("%s: %w", item.Key, err)
		}
		names = append(names, of.Names...)
	}
	return names, err
}

// Sweep forgets names that were left behind long ago.
func (k *Keeper) Sweep(ctx context.Context) error {
	items, _, err := k.KV.Range(ctx, kv.Range{Prefix: allLeft})
	for _, item := range items {
		var of left
		if json.Unmarshal(item.Value, &of) == nil && k.Now().Sub(of.Since) < leftKept {
			continue
		}
		if _, _, err := k.KV.Txn(ctx, []kv.Compare{kv.Unchanged(item.Key, &item)}, kv.Delete(item.Key)); err != nil {
			return err
		}
	}
	return err
}

// leftovers are the names of an owner's objects that their external-dns does not delete.
func (k *Keeper) leftovers(ctx context.Context, owner intent.Path, objects bundle.Bundle) ([]intent.Leftover, error) {
	of := map[state.Use]bundle.Bundle{}
	for _, o := range objects {
		if o.Published != nil {
			use := state.UseOf(owner, o.Cluster, o.Published)
			of[use] = append(of[use], o)
		}
	}
	var out []intent.Leftover
	for _, use := range slices.SortedFunc(maps.Keys(of), state.CompareUses) {
		left, err := k.staying(ctx, use, of[use])
		if err != nil {
			return nil, err
		}
		out = append(out, left...)
	}
	return once(out), nil
}

// staying are the names that one external-dns does not delete.
func (k *Keeper) staying(ctx context.Context, use state.Use, objects bundle.Bundle) (left []intent.Leftover, err error) {
	record, err := k.RecordLifecycle(ctx, use.Record)
	if err != nil {
		return nil, err
	}
	abandoned, err := k.IsAbandoned(ctx, use.Cluster)
	if err != nil {
		return nil, err
	}
	reason := resolve.WhyNamesStay(record.Record.Spec)
	if abandoned {
		reason = fmt.Sprintf("the home of its external-dns, %s, is abandoned", use.Cluster)
	}
	var endpoints []string
	for _, o := range objects {
		endpoints = append(endpoints, o.Name)
	}
	if reason == "" {
		return For(k.Store, use).leftOf(ctx, endpoints)
	}
	heard, err := k.Observed.Answers(ctx, use.Cluster, objects[0].Namespace, endpoints...)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		left = append(left, slices.DeleteFunc(namesLeft(o, reason), func(l intent.Leftover) bool { return notOurs(heard[o.Name].Names, l) })...)
	}
	return left, nil
}

// notOurs tells whether authoritative servers answered that a name is somebody
// else's, or that they do not have it any more.
func notOurs(heard []observed.NameAnswer, l intent.Leftover) bool {
	return slices.ContainsFunc(heard, func(n observed.NameAnswer) bool {
		verdict := verify.Verdict(n.Verdict)
		return n.Name == l.Name && n.Type == l.Type && (verdict == verify.Foreign || verdict == verify.Gone)
	})
}

// once lists a name that several DNSEndpoints gave once, with each reason.
func once(left []intent.Leftover) []intent.Leftover {
	var out []intent.Leftover
	at := map[state.NameKey]int{}
	for _, l := range left {
		key := state.NameKey{Record: l.Record, Name: l.Name, Kind: l.Type}
		n, listed := at[key]
		switch {
		case !listed:
			at[key] = len(out)
			out = append(out, l)
		case !strings.Contains(out[n].Reason, l.Reason):
			out[n].Reason += "; " + l.Reason
		}
	}
	return out
}

// Leftovers are the names that terminate leaves behind, of the objects that were
// withdrawn by a group's pointer. Their external-dns never deletes them, by its
// policy, because it is suspended, or because its cluster is abandoned.
func (k *Keeper) Leftovers(ctx context.Context, group intent.Path, pointer appcontext.Pointer) ([]intent.Leftover, error) {
	var going bundle.Bundle
	for _, cluster := range slices.Sorted(maps.Keys(pointer.Withdrawn)) {
		part, err := k.Contexts.WithdrawnFrom(ctx, pointer, cluster)
		if err != nil {
			return nil, err
		}
		going = append(going, part...)
	}
	return k.leftovers(ctx, group, going)
}

func namesLeft(o bundle.Object, reason string) []intent.Leftover {
	names := map[state.NameKey][]string{}
	state.CollectNames(o.Published, names)
	var out []intent.Leftover
	for _, key := range slices.SortedFunc(maps.Keys(names), state.CompareNames) {
		out = append(out, intent.Leftover{Name: key.Name, Type: key.Kind, Record: key.Record, Reason: reason})
	}
	return out
}
