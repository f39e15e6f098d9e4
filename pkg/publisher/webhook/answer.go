package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"sigs.k8s.io/external-dns/endpoint"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
)

// The program is not trusted, and a few characters of its answer may become a large struct. So endpoints are decoded one
// after the other, and only those that are asked for are kept.
const (
	mostMiB       = 64      // of an answer
	mostEndpoints = 500_000 // of an answer
	mostKiB       = 256     // of one endpoint, whose records are more than a DNS message holds
	mostKeptMiB   = 8       // of memory for what is kept
)

// endpoints makes a request, and answers the endpoints with some names by these names.
func (w *Writer) endpoints(ctx context.Context, method, path string, body any, wanted map[string]bool) (map[string][]*endpoint.Endpoint, error) {
	byName, kept := map[string][]*endpoint.Endpoint{}, int64(0)
	err := w.request(ctx, method, path, body, http.StatusOK, func(e *endpoint.Endpoint) error {
		name := nameOf(e)
		if !wanted[name] {
			return nil
		}
		if kept += bounded.Size(*e); kept > mostKeptMiB<<20 {
			return fault.Errorf(fault.Refused, "the webhook's answer to %s has records of %d names that take more than %d MiB of memory; have it answer fewer records for each", path, len(byName), mostKeptMiB)
		}
		byName[name] = append(byName[name], e)
		return nil
	})
	return byName, err
}

// nameOf is the name of an endpoint as Signpost has it.
func nameOf(e *endpoint.Endpoint) string { return strings.TrimSuffix(strings.ToLower(e.DNSName), ".") }

// each takes the endpoints of an answer, a list or null, one after the other.
func each(answer io.Reader, path string, take func(*endpoint.Endpoint) error) error {
	text := &limited{Reader: answer, path: path, all: mostMiB << 20, one: mostKiB << 10}
	decoder := json.NewDecoder(text)
	begin, err := decoder.Token()
	if err == nil && begin == nil {
		return nil
	}
	if err == nil && begin != json.Delim('[') {
		return fault.Errorf(fault.Refused, "the webhook's answer to %s is no list of endpoints", path)
	}
	for count := 0; err == nil && decoder.More(); count++ {
		if count == mostEndpoints {
			return fault.Errorf(fault.Refused, "the webhook's answer to %s has more than %d endpoints; have it manage fewer zones", path, mostEndpoints)
		}
		text.one = mostKiB << 10
		var e *endpoint.Endpoint
		if err = decoder.Decode(&e); err == nil && e != nil {
			err = take(e)
		}
	}
	if err == nil {
		_, err = decoder.Token() // the end of the list
	}
	if known := (*fault.Error)(nil); err == nil || errors.As(err, &known) {
		return err
	}
	return fault.Errorf(fault.Refused, "the webhook's answer to %s cannot be read: %v", path, err)
}

// limited reads so many bytes at most: of all, and of one endpoint beside what was read with the one before.
type limited struct {
	io.Reader
	path     string
	all, one int
}

// Read implements io.Reader.
func (l *limited) Read(into []byte) (int, error) {
	switch {
	case l.all == 0:
		return 0, fault.Errorf(fault.Refused, "the webhook's answer to %s has more than %d MiB; have it manage fewer zones", l.path, mostMiB)
	case l.one == 0:
		return 0, fault.Errorf(fault.Refused, "the webhook's answer to %s has an endpoint of more than %d KiB; have it answer fewer targets for each", l.path, mostKiB)
	}
	n, err := l.Reader.Read(into[:min(len(into), l.all, l.one)])
	l.all, l.one = l.all-n, l.one-n
	return n, err
}
