package coredns

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/signpost-dns/signpost/pkg/dns/zone"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

// List implements [publisher.Lister] by all keys below the prefix, as they are at one time.
func (w *Writer) List(ctx context.Context, most int) ([]publisher.Set, error) {
	names := map[string][]entry{}
	found := map[string]publisher.Mark{}
	texts := map[string]publisher.Set{}
	err := w.each(ctx, most, func(e entry) {
		name := e.name(w.prefix)
		if name == "" {
			return
		}
		names[name] = append(names[name], e)
		if e.service.Text == "" {
			return
		}
		if mark, is := marks.Parse(e.service.Text); is {
			found[name] = mark
			return
		}
		texts[name] = withText(texts[name], name, e.service)
	})
	if err != nil {
		return nil, err
	}
	all := slices.Collect(maps.Values(texts))
	for name, entries := range names {
		all = append(all, absolute(sets(name, entries))...)
	}
	w.marks.Assign(all, found)
	return all, nil
}

// each visits all keys below the prefix, of which there may be so many.
func (w *Writer) each(ctx context.Context, most int, visit func(entry)) error {
	const keys = 1000 // of one request, if they are small
	from, revision := w.prefix, int64(0)
	many, read, size := int64(keys), 0, 0
	for {
		page, err := w.client.Get(ctx, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(w.prefix)), clientv3.WithLimit(many), clientv3.WithRev(revision))
		if many > 1 && status.Code(err) == codes.ResourceExhausted { // the page is larger than longestAnswer
			many /= 10
			continue
		}
		if err != nil {
			return w.failed("read", err)
		}
		revision = cmp.Or(revision, page.Header.Revision)
		for _, pair := range page.Kvs {
			read, size = read+1, size+len(pair.Key)+len(pair.Value)
			if read > most || size > publisher.MostListedBytes {
				return fault.Errorf(publisher.Invalid, "more than %d keys, or more than %d MiB, stand below %s, which is the most that is read; give a longer coredns-prefix",
					most, publisher.MostListedMiB, w.prefix)
			}
			e := entry{key: string(pair.Key), revision: pair.ModRevision}
			if json.Unmarshal(pair.Value, &e.service) == nil { // CoreDNS does not answer from others either
				visit(e)
			}
			from = e.key + "\x00"
		}
		if !page.More || len(page.Kvs) == 0 {
			return nil
		}
	}
}

// name is the name that an entry is of; empty if its key has fewer labels than it strips.
func (e entry) name(prefix string) string {
	labels := strings.Split(strings.Trim(strings.TrimPrefix(e.key, prefix), "/"), "/")
	if e.service.TargetStrip < 0 || e.service.TargetStrip >= len(labels) {
		return ""
	}
	labels = labels[:len(labels)-e.service.TargetStrip]
	slices.Reverse(labels)
	return strings.ToLower(strings.Join(labels, "."))
}

// withText adds a text to the TXT set of a name.
func withText(set publisher.Set, name string, s service) publisher.Set {
	if len(set.Targets) == 0 {
		set = publisher.Set{Name: name, Type: "TXT", TTL: answered(int64(s.TTL))}
	}
	if text := zone.Quote(strings.Trim(s.Text, `"`)); !slices.Contains(set.Targets, text) {
		set.Targets = append(set.Targets, text)
	}
	return set
}

// defaultTTL is the TTL in the answers of CoreDNS' plugin etcd for values that name none.
const defaultTTL = 300

func answered(ttl int64) int64 { return cmp.Or(ttl, defaultTTL) }

// absolute gives sets the TTL of answers, and targets that are names their final dot.
func absolute(sets []publisher.Set) []publisher.Set {
	for at, set := range sets {
		sets[at].TTL = answered(set.TTL)
		for n, target := range set.Targets {
			if set.Type == "CNAME" {
				set.Targets[n] = strings.TrimSuffix(target, ".") + "."
			}
		}
	}
	return sets
}
