package cleanup

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

// storedLeftovers are the names that were still answered when a cleanup ended.
type storedLeftovers struct {
	Since time.Time         `json:"since"`
	Names []intent.Leftover `json:"names"`
}

// leftoversKept is how long it is remembered which names a DNSEndpoint has left behind. Its owner may wait so long for a cluster that is away.
const leftoversKept = 30 * 24 * time.Hour

// readLeftovers reads the names that were still answered when the cleanups of DNSEndpoints ended.
func (c Cleanups) readLeftovers(ctx context.Context, endpoints []string) (names []intent.Leftover, err error) {
	items, _, err := c.kv.Range(ctx, kv.Range{Keys: c.keys(leftoversPrefix, endpoints)})
	for _, item := range items {
		var of storedLeftovers
		if err := json.Unmarshal(item.Value, &of); err != nil {
			return nil, fmt.Errorf("%s: %w", item.Key, err)
		}
		names = append(names, of.Names...)
	}
	return names, err
}

// Sweep forgets names that were left behind long ago.
func (k *Keeper) Sweep(ctx context.Context) error {
	items, _, err := k.KV.Range(ctx, kv.Range{Prefix: leftoversPrefix})
	var old []kv.Item
	for _, item := range items {
		var of storedLeftovers
		if unreadable := json.Unmarshal(item.Value, &of); unreadable != nil {
			k.Logger.ErrorContext(ctx, "names that were left behind are forgotten: they cannot be read", "key", item.Key, "error", unreadable)
		} else if k.Now().Sub(of.Since) < leftoversKept {
			continue
		}
		old = append(old, item)
	}
	for some := range slices.Chunk(old, kv.MaxOps) {
		var when []kv.Compare
		var ops []kv.Op
		for _, item := range some {
			when, ops = append(when, kv.Unchanged(item.Key, &item)), append(ops, kv.Delete(item.Key))
		}
		if _, _, err := k.KV.Txn(ctx, when, ops...); err != nil {
			return err
		}
	}
	return err
}

// leftoversOf are the names of an owner's objects that their external-dns does not delete.
func (k *Keeper) leftoversOf(ctx context.Context, owner intent.Path, objects bundle.Bundle) ([]intent.Leftover, error) {
	by := map[state.Use]bundle.Bundle{}
	for _, o := range objects {
		if o.Published != nil {
			use := state.UseOf(owner, o.Cluster, o.Published)
			by[use] = append(by[use], o)
		}
	}
	var out []intent.Leftover
	for _, use := range slices.SortedFunc(maps.Keys(by), state.CompareUses) {
		names, err := k.leftoversAt(ctx, use, by[use])
		if err != nil {
			return nil, err
		}
		out = append(out, names...)
	}
	return mergeReasons(out), nil
}

// leftoversAt are those of one external-dns.
func (k *Keeper) leftoversAt(ctx context.Context, use state.Use, objects bundle.Bundle) (names []intent.Leftover, err error) {
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
		return Of(k.Store, use).readLeftovers(ctx, endpoints)
	}
	heard, err := k.Observed.Answers(ctx, use.Cluster, objects[0].Namespace, endpoints...)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		names = append(names, slices.DeleteFunc(namesOf(o, reason), func(l intent.Leftover) bool { return foreignOrGone(heard[o.Name].Names, l) })...)
	}
	return names, nil
}

// foreignOrGone tells whether authoritative servers answered that a name is somebody
// else's, or that they do not have it any more.
func foreignOrGone(heard []observed.NameAnswer, l intent.Leftover) bool {
	return slices.ContainsFunc(heard, func(n observed.NameAnswer) bool {
		verdict := verify.Verdict(n.Verdict)
		return n.Name == l.Name && n.Type == l.Type && (verdict == verify.Foreign || verdict == verify.Gone)
	})
}

// mergeReasons lists a name that several DNSEndpoints gave once, with each reason.
func mergeReasons(left []intent.Leftover) []intent.Leftover {
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
	return k.leftoversOf(ctx, group, going)
}

func namesOf(o bundle.Object, reason string) []intent.Leftover {
	names := map[state.NameKey][]string{}
	state.CollectNames(o.Published, names)
	var out []intent.Leftover
	for _, key := range slices.SortedFunc(maps.Keys(names), state.CompareNames) {
		out = append(out, intent.Leftover{Name: key.Name, Type: key.Kind, Record: key.Record, Reason: reason})
	}
	return out
}
