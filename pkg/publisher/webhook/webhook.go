// Package webhook writes names by external-dns' webhook protocol, to a program that an
// administrator runs for a DNS provider.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/external-dns/endpoint"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

const (
	mediaType = "application/external.dns.webhook+json;version=1"
	told      = 300 // bytes of an error's body that are repeated
)

// Writer writes names through one program.
type Writer struct {
	client *http.Client
	url    *url.URL
	marks  marks.Marks
}

// changes is the body of a request to apply changes.
type changes struct {
	Create    []*endpoint.Endpoint `json:"create,omitempty"`
	UpdateOld []*endpoint.Endpoint `json:"updateOld,omitempty"`
	UpdateNew []*endpoint.Endpoint `json:"updateNew,omitempty"`
	Delete    []*endpoint.Endpoint `json:"delete,omitempty"`
}

// version is what a State was read from.
type version struct{ marks map[string]*endpoint.Endpoint }

// Open makes a Writer of a provider's settings. It connects when it is first used.
func Open(s publisher.Settings) (*Writer, error) {
	m, err := marks.For(s)
	if err != nil {
		return nil, err
	}
	given := externaldns.Values(s.Parameters, "webhook-provider-url")
	if len(given) == 0 {
		return nil, fault.Errorf(publisher.Invalid, "webhook-provider-url is missing; the built-in publisher takes no default, because that is this machine")
	}
	at, err := url.Parse(given[0])
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, fault.Errorf(publisher.Invalid, "webhook-provider-url is no URL of http or https")
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return s.Dial(ctx, network, address, "")
		},
		IdleConnTimeout: time.Minute, ResponseHeaderTimeout: publisher.WriteDeadline, MaxResponseHeaderBytes: bounded.HeaderBytes,
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(to *http.Request, _ []*http.Request) error {
		return fault.Errorf(fault.Refused, "the webhook redirects to %s, which is not followed; give that address", to.URL.Host)
	}}
	return &Writer{client: client, url: at, marks: m}, nil
}

// Servers is the one that the settings name.
func Servers(s publisher.Settings) []publisher.Server {
	for _, given := range externaldns.Values(s.Parameters, "webhook-provider-url") {
		at, err := url.Parse(given)
		if err != nil || at.Hostname() == "" {
			continue // Open tells what is wrong
		}
		port := at.Port()
		if port == "" && at.Scheme == "https" {
			port = "443"
		} else if port == "" {
			port = "80"
		}
		return []publisher.Server{{Address: net.JoinHostPort(at.Hostname(), port), Field: "external-dns-parameters/webhook-provider-url"}}
	}
	return nil
}

// Close closes the connections.
func (w *Writer) Close() { w.client.CloseIdleConnections() }

// Read answers the state of each of the names. The protocol knows no request for one name, so the program sends all
// records that it manages.
func (w *Writer) Read(ctx context.Context, names []string, _ ...string) (map[string]publisher.State, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
		for _, kind := range publisher.Managed() {
			wanted[w.marks.Name(name, kind)] = true
		}
	}
	byName, err := w.endpoints(ctx, http.MethodGet, "records", nil, wanted)
	if err != nil {
		return nil, err
	}
	states := make(map[string]publisher.State, len(names))
	for _, name := range names {
		states[name] = w.state(name, byName)
	}
	return states, nil
}

func (w *Writer) state(name string, byName map[string][]*endpoint.Endpoint) publisher.State {
	v := version{marks: map[string]*endpoint.Endpoint{}}
	state := publisher.State{Name: name, Orphans: map[string]publisher.Mark{}}
	for _, kind := range publisher.Managed() {
		mark, marked := publisher.Mark{}, false
		for _, e := range byName[w.marks.Name(name, kind)] {
			if e.RecordType == "TXT" && len(e.Targets) > 0 {
				if read, ok := marks.Parse(e.Targets[0]); ok {
					mark, marked = read, true
					v.marks[kind] = e
				}
			}
		}
		set := publisher.Set{Name: name, Type: kind, Mark: mark}
		for _, e := range byName[name] {
			if e.RecordType == kind {
				set.Targets, set.TTL = append(set.Targets, e.Targets...), int64(e.RecordTTL)
			}
		}
		switch {
		case len(set.Targets) > 0:
			slices.Sort(set.Targets)
			state.Sets = append(state.Sets, set)
		case marked:
			state.Orphans[kind] = mark
		}
	}
	state.Version = v
	return state
}

// Write changes one name by one request, between two readings. The protocol has no conditions, and a program may do a
// part of a request or nothing. Write succeeds only if the last reading shows what was asked for.
func (w *Writer) Write(ctx context.Context, change publisher.Change) error {
	adjusted, err := w.adjusted(ctx, change.After)
	if err != nil {
		return err
	}
	change.After = adjusted
	steps, err := change.Steps(w.marks.Owner())
	if err != nil || len(steps) == 0 {
		return err
	}
	now, err := w.Read(ctx, []string{change.Before.Name})
	if err != nil {
		return err
	}
	if !same(now[change.Before.Name], change.Before) {
		return fault.Errorf(fault.Stale, "%s has changed since it was read", change.Before.Name)
	}
	v, _ := now[change.Before.Name].Version.(version)
	var body changes
	for _, step := range steps {
		body.add(entry(step.Before), entry(step.After))
		body.add(v.marks[step.Type], w.mark(step.After))
	}
	if err := w.request(ctx, http.MethodPost, "records", body, http.StatusNoContent, nil); err != nil {
		return err
	}
	return w.confirm(ctx, change)
}

// confirm reads the name of a change that the program says it has made.
func (w *Writer) confirm(ctx context.Context, change publisher.Change) error {
	now, err := w.Read(ctx, []string{change.Before.Name})
	if err != nil {
		return err
	}
	change.Before = now[change.Before.Name]
	if left, err := change.Steps(w.marks.Owner()); err != nil || len(left) > 0 {
		return fault.Errorf(fault.Unreachable, "the webhook answers that it has changed %s, and its records do not show the change; see its log", change.Before.Name)
	}
	return nil
}

// add takes one record set over: nil stands for none.
func (c *changes) add(before, after *endpoint.Endpoint) {
	switch {
	case before == nil && after == nil:
	case before == nil:
		c.Create = append(c.Create, after)
	case after == nil:
		c.Delete = append(c.Delete, before)
	case before.RecordTTL != after.RecordTTL || !before.Targets.Same(after.Targets):
		c.UpdateOld, c.UpdateNew = append(c.UpdateOld, before), append(c.UpdateNew, after)
	}
}

func entry(set publisher.Set) *endpoint.Endpoint {
	if len(set.Targets) == 0 {
		return nil
	}
	return &endpoint.Endpoint{
		DNSName: set.Name, RecordType: set.Type, Targets: slices.Clone(set.Targets), RecordTTL: endpoint.TTL(set.TTL),
		Labels: endpoint.Labels{endpoint.OwnerLabelKey: set.Mark.Owner, endpoint.ResourceLabelKey: set.Mark.Resource},
	}
}

func (w *Writer) mark(set publisher.Set) *endpoint.Endpoint {
	if len(set.Targets) == 0 {
		return nil
	}
	return &endpoint.Endpoint{
		DNSName: w.marks.Name(set.Name, set.Type), RecordType: "TXT", Targets: endpoint.Targets{marks.Text(set.Mark)},
		Labels: endpoint.Labels{endpoint.OwnedRecordLabelKey: set.Name},
	}
}

// adjusted are the sets as the program would have them: it may know another form of a target, or a least TTL.
func (w *Writer) adjusted(ctx context.Context, sets []publisher.Set) ([]publisher.Set, error) {
	if len(sets) == 0 {
		return nil, nil
	}
	var asked []*endpoint.Endpoint
	wanted := map[string]bool{}
	for _, set := range sets {
		asked, wanted[set.Name] = append(asked, entry(set)), true
	}
	byName, err := w.endpoints(ctx, http.MethodPost, "adjustendpoints", asked, wanted)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(sets)
	for n, set := range out {
		answered := byName[set.Name]
		at := slices.IndexFunc(answered, func(e *endpoint.Endpoint) bool { return e.RecordType == set.Type && len(e.Targets) > 0 })
		if at < 0 {
			return nil, fault.Errorf(fault.Refused, "the webhook does not take %s %s; it leaves the set out of its answer to adjustendpoints", set.Name, set.Type)
		}
		if !sameTargets(answered[at].Targets, set.Targets) {
			return nil, fault.Errorf(fault.Refused, "the webhook answers adjustendpoints for %s %s with the targets %s in place of %s; it may change their form only",
				set.Name, set.Type, strings.Join(answered[at].Targets, ", "), strings.Join(set.Targets, ", "))
		}
		out[n].Targets, out[n].TTL = answered[at].Targets, int64(answered[at].RecordTTL)
	}
	return out, nil
}

// sameTargets tells whether two lists are the same addresses or names, in any form.
func sameTargets(a, b []string) bool {
	return slices.Equal(canonical(a), canonical(b))
}

func canonical(targets []string) []string {
	var all []string
	for _, target := range targets {
		if address, err := netip.ParseAddr(target); err == nil {
			target = address.String()
		}
		all = append(all, strings.TrimSuffix(strings.ToLower(target), "."))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// same tells whether two states have the same records and marks.
func same(a, b publisher.State) bool {
	return slices.EqualFunc(a.Sets, b.Sets, func(a, b publisher.Set) bool { return publisher.SameRecords(a, b) && a.Mark == b.Mark })
}

// request makes a request, and takes the endpoints of its answer; nil: none are read.
func (w *Writer) request(ctx context.Context, method, path string, body any, want int, take func(*endpoint.Endpoint) error) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fault.Errorf(publisher.Invalid, "a request to the webhook: %v", err)
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, w.url.JoinPath(path).String(), content)
	if err != nil {
		return fault.Errorf(publisher.Invalid, "a request to the webhook: %v", err)
	}
	request.Header.Set("Accept", mediaType)
	if body != nil {
		request.Header.Set("Content-Type", mediaType)
	}
	answer, err := w.client.Do(request)
	if err != nil {
		return unanswered(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != want {
		return refusal(answer)
	}
	if take == nil {
		return nil
	}
	if got := strings.ReplaceAll(answer.Header.Get("Content-Type"), " ", ""); got != mediaType {
		return fault.Errorf(fault.Refused, "the webhook answers %s as %q, and not as %s; give the URL of a program that speaks external-dns' webhook protocol", path, got, mediaType)
	}
	return each(answer.Body, path, take)
}

// unanswered is the error of a request without an answer.
func unanswered(err error) error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return &fault.Error{Fault: known.Fault, Message: known.Message, Err: err}
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return &fault.Error{Fault: fault.Unreachable, Message: fmt.Sprintf("the webhook does not answer: %v", err), Err: err}
}

// refusal is the error of an answer with another status.
func refusal(answer *http.Response) error {
	kind := fault.Refused
	if answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests {
		kind = fault.Unreachable
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, told))
	return &fault.Error{
		Fault: kind, Message: strings.TrimSpace(fmt.Sprintf("the webhook answers %s: %s", answer.Status, strings.ToValidUTF8(string(text), ""))),
	}
}
