package webhook

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"sigs.k8s.io/external-dns/endpoint"

	"github.com/signpost-dns/signpost/pkg/dns/zone"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

var _ publisher.Lister = (*Writer)(nil)

// List implements [publisher.Lister] by the records that the program says it manages.
func (w *Writer) List(ctx context.Context, most int) ([]publisher.Set, error) {
	read := listing{at: map[[2]string]int{}, marks: map[string]publisher.Mark{}}
	err := w.request(ctx, http.MethodGet, "records", nil, http.StatusOK, func(e *endpoint.Endpoint) error {
		if slices.Contains([]string{"SOA", "NS", "DS"}, e.RecordType) {
			return nil // the zone's own
		}
		for _, target := range e.Targets {
			read.add(e, target)
		}
		if read.records > most || read.bytes > publisher.MostListedBytes {
			return fault.Errorf(publisher.Invalid, "the webhook has more than %d records, or more than %d MiB, which is the most that is read; have it manage fewer zones", most, publisher.MostListedMiB)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	w.marks.Assign(read.sets, read.marks)
	return read.sets, nil
}

// listing is what a program has, so far as it was read.
type listing struct {
	records, bytes int
	sets           []publisher.Set
	at             map[[2]string]int // where in sets a name and type are
	marks          map[string]publisher.Mark
}

// add takes up one record: a mark, or a target of a set.
func (l *listing) add(e *endpoint.Endpoint, target string) {
	name := nameOf(e)
	l.records, l.bytes = l.records+1, l.bytes+len(name)+len(target)
	if e.RecordType == "TXT" {
		if mark, is := marks.Parse(target); is {
			l.marks[name] = mark
			return
		}
	}
	key := [2]string{name, e.RecordType}
	at, known := l.at[key]
	if !known {
		at = len(l.sets)
		l.at[key] = at
		l.sets = append(l.sets, publisher.Set{Name: name, Type: e.RecordType, TTL: int64(e.RecordTTL)})
	}
	l.sets[at].TTL = min(l.sets[at].TTL, int64(e.RecordTTL))
	if target = presented(e.RecordType, target); !slices.Contains(l.sets[at].Targets, target) {
		l.sets[at].Targets = append(l.sets[at].Targets, target)
	}
}

// presented is a target of external-dns as zone files have it.
func presented(kind, target string) string {
	switch kind {
	case "CNAME", "MX", "PTR", "SRV":
		return strings.TrimSuffix(target, ".") + "."
	case "TXT":
		if text, err := zone.Unquote(target); err == nil && strings.HasPrefix(target, `"`) {
			return zone.Quote(text)
		}
		return zone.Quote(target)
	}
	return target
}
