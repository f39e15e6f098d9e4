package rfc2136

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/zone"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

// List implements [publisher.Lister] by zone transfers.
func (w *Writer) List(ctx context.Context, most int) ([]publisher.Set, error) {
	all := newContents()
	for _, name := range w.zones {
		if all.records == most || all.bytes == publisher.MostListedBytes {
			return nil, tooLarge(most)
		}
		z, err := w.transfer(ctx, name, most-all.records, publisher.MostListedBytes-all.bytes)
		if errors.Is(err, zone.ErrTooLarge) {
			return nil, tooLarge(most)
		}
		if err != nil {
			return nil, err
		}
		all.add(z)
	}
	w.marks.Assign(all.sets, all.marks)
	return all.sets, nil
}

func tooLarge(most int) *fault.Error {
	return fault.Errorf(publisher.Invalid, "the zones have more than %d records, or more than %d MiB, which is the most that is read; name fewer or smaller zones in rfc2136-zone",
		most, publisher.MostListedMiB)
}

// transfer gets a zone from the servers in turn, beginning with the one that answered last, until one sends it. The others
// are not asked for a zone that is too large.
func (w *Writer) transfer(ctx context.Context, name string, most, bytes int) (zone.Zone, error) {
	var failed error
	begin := int(w.current.Load())
	for n := range w.servers {
		address := w.servers[(begin+n)%len(w.servers)]
		from := zone.Server{Address: address, Most: most, Bytes: bytes, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			return w.secure(ctx, network, address, name)
		}}
		if w.key.name != "" {
			from.Key = &zone.Key{Name: w.key.name, Algorithm: strings.TrimSuffix(w.key.algorithm, "."), Secret: w.key.secrets[w.key.name]}
			if err := from.Key.Check(); err != nil {
				return zone.Zone{}, fault.Errorf(publisher.Invalid, "rfc2136-tsig-secret-alg: %v", err)
			}
		}
		z, err := from.Transfer(ctx, name)
		if err == nil {
			return z, nil
		}
		failed = untransferred(address, name, err)
		if ctx.Err() != nil || errors.Is(err, zone.ErrTooLarge) {
			break
		}
	}
	return zone.Zone{}, failed
}

// secure connects to a server, by TLS if the provider says so.
func (w *Writer) secure(ctx context.Context, network, address, zone string) (net.Conn, error) {
	raw, err := w.dial(ctx, network, address, zone)
	if err != nil || w.tls == nil {
		return raw, err
	}
	config := w.tls.Clone()
	config.ServerName, _, _ = net.SplitHostPort(address)
	encrypted := tls.Client(raw, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	return encrypted, nil
}

// untransferred says why a server did not send a zone.
func untransferred(server, name string, err error) *fault.Error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return &fault.Error{Fault: known.Fault, Message: known.Message, Err: err}
	}
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		return &fault.Error{Fault: fault.Unreachable, Message: fmt.Sprintf("server %s: %s", server, cause(operation)), Err: err}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &fault.Error{Fault: fault.Unreachable, Message: fmt.Sprintf("server %s does not send zone %s in time", server, name), Err: err}
	}
	if zone.Interrupted(err) {
		return &fault.Error{Fault: fault.Unreachable, Message: err.Error() + "; see the log of the server", Err: err}
	}
	return &fault.Error{Fault: fault.Refused, Message: err.Error(), Err: err}
}

// contents are the sets and marks of zones.
type contents struct {
	records int
	bytes   int // of the records
	sets    []publisher.Set
	at      map[[2]string]int // where in sets a name and type are
	marks   map[string]publisher.Mark
}

func newContents() *contents {
	return &contents{at: map[[2]string]int{}, marks: map[string]publisher.Mark{}}
}

// add takes up a zone.
func (c *contents) add(z zone.Zone) {
	cuts := z.Cuts()
	c.records += len(z.Records)
	for _, r := range z.Records {
		c.bytes += r.Size()
		if z.Stays(r.Name, r.Type) != "" || cuts[r.Name] || cuts.Above(r.Name) != "" || c.isMark(r) {
			continue
		}
		key := [2]string{r.Name, r.Type}
		at, known := c.at[key]
		if !known {
			at = len(c.sets)
			c.at[key] = at
			c.sets = append(c.sets, publisher.Set{Name: r.Name, Type: r.Type, TTL: r.TTL})
		}
		c.sets[at].TTL = min(c.sets[at].TTL, r.TTL)
		if !slices.Contains(c.sets[at].Targets, r.Value) {
			c.sets[at].Targets = append(c.sets[at].Targets, r.Value)
		}
	}
}

// isMark tells whether a record is a mark, and keeps it.
func (c *contents) isMark(r zone.Record) bool {
	if r.Type != "TXT" {
		return false
	}
	text, err := zone.Unquote(r.Value)
	if err != nil {
		return false
	}
	mark, is := marks.Parse(text)
	if is {
		c.marks[r.Name] = mark
	}
	return is
}
