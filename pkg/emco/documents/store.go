// Package documents reads documents that an EMCO installation keeps. The orchestrator has
// projects, composite apps and deployment intent groups. DCM has logical clouds with
// their cluster references and KV pairs. CLM has cluster providers with their clusters
// and KV pairs. All others, and those of services that are not named, are kept by the
// store that it wraps.
package documents

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

// The times of [Options] that are not set.
const (
	DefaultFresh = 5 * time.Second
	DefaultStale = 10 * time.Minute
)

// width is how many documents of a list are read at once.
const width = 8

// Options say where EMCO is and how it is read.
type Options struct {
	// The base URLs of EMCO's services, without "/v2"; nil: Signpost keeps
	// their documents itself.
	Orchestrator, DCM, CLM *url.URL

	// Namespace is the namespace of a project, for which EMCO has no field.
	Namespace func(project string) string

	// Digest tells one kubeconfig from another, by a key. It is the same on all replicas,
	// and does not help to find the kubeconfig. Needed with CLM.
	Digest func(kubeconfig []byte) string

	// Fresh is for how long an answer counts as the present (5 s). Stale is for how long
	// it is answered while its service does not (10 min).
	Fresh, Stale time.Duration

	// Asked is told what each request came to: answered, refused or silent.
	// nil: nobody is told.
	Asked func(service, outcome string)

	Client *http.Client     // none: one that follows no redirects
	Now    func() time.Time // none: time.Now
	Log    *slog.Logger     // none: nothing is logged
}

// Store is an intent.Store that reads EMCO's documents by REST. Writing them is
// a Conflict that says where they are to be written.
//
// EMCO knows neither revisions nor identities. Store gives them, in a note about each
// document in the wrapped store. An unchanged document keeps its revision, on all
// replicas and across restarts, and a changed one gets the next. A document that has gone
// and come back gets another identity, unless documents of Signpost's refer to it.
// References to EMCO's documents are references to their notes, so that Referrers tells
// them.
type Store struct {
	Options
	own                    intent.Store
	orchestrator, dcm, clm *service // nil where Signpost keeps the documents
}

var _ intent.Store = (*Store)(nil)

// New makes a Store around another.
func New(own intent.Store, options Options) *Store {
	options.Fresh, options.Stale = cmp.Or(options.Fresh, DefaultFresh), cmp.Or(options.Stale, DefaultStale)
	options.Client = cmp.Or(options.Client, newClient())
	if options.Asked == nil {
		options.Asked = func(string, string) {}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	options.Log = cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	s := &Store{Options: options, own: own}
	for _, at := range []struct {
		to   **service
		name string
		base *url.URL
	}{{&s.orchestrator, "orchestrator", options.Orchestrator}, {&s.dcm, "DCM", options.DCM}, {&s.clm, "CLM", options.CLM}} {
		if at.base != nil {
			*at.to = newService(at.name, at.base, options)
		}
	}
	return s
}

// newClient is a client that goes where it is told and nowhere else.
func newClient() *http.Client {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 2 * width, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: bounded.HeaderBytes,
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Get implements intent.Store.
func (s *Store) Get(ctx context.Context, path intent.Path) (intent.Document, error) {
	if err := draft.CheckPath(path); err != nil {
		return intent.Document{}, err
	}
	k, theirs := s.kindOf(path.Collection())
	if !theirs {
		doc, err := s.own.Get(ctx, path)
		return withoutNotes(doc), err
	}
	body, err := s.read(ctx, k, path)
	if err != nil {
		return intent.Document{}, s.unread(ctx, k.from, path, err)
	}
	return s.noted(ctx, path, body)
}

// unread is the error of a document that could not be read. A document that was missing
// when its service was last asked still is, if that is nothing special and nobody has
// seen it since. A reader would have left a note.
func (s *Store) unread(ctx context.Context, from *service, path intent.Path, err error) error {
	switch code := intent.CodeOf(err); {
	case code == intent.NotFound:
		if err := s.forget(ctx, path); err != nil {
			return err
		}
		return from.absent(path)
	case code == intent.Unavailable && optional(string(path)) && from.lacked(path):
		if _, seen := s.own.Get(ctx, notePath(path)); intent.CodeOf(seen) == intent.NotFound {
			return from.absent(path)
		}
	}
	return err
}

// GetAll implements intent.Store.
func (s *Store) GetAll(ctx context.Context, paths []intent.Path) ([]intent.Document, error) {
	found := make([]*intent.Document, len(paths))
	var own []intent.Path
	reads, reading := errgroup.WithContext(ctx)
	reads.SetLimit(width)
	for n, path := range paths {
		if _, theirs := s.kindOf(path.Collection()); !theirs {
			own = append(own, path)
			continue
		}
		reads.Go(func() error {
			doc, err := s.Get(reading, path)
			if err == nil {
				found[n] = &doc
			}
			return ignore(err, intent.NotFound)
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	ours, err := s.own.GetAll(ctx, own)
	if err != nil {
		return nil, err
	}
	docs := []intent.Document{}
	for n, path := range paths {
		switch {
		case found[n] != nil:
			docs = append(docs, *found[n])
		case len(ours) > 0 && ours[0].Path == path:
			docs, ours = append(docs, withoutNotes(ours[0])), ours[1:]
		}
	}
	return docs, nil
}

// read reads one of EMCO's documents.
func (s *Store) read(ctx context.Context, k kind, path intent.Path) ([]byte, error) {
	for segment := range strings.SplitSeq(string(path), "/") {
		if !isName(segment) {
			return nil, intent.ErrNotFound(path)
		}
	}
	raw, err := k.from.get(ctx, string(path), asJSON)
	if err != nil {
		return nil, err
	}
	collection, asked := path.Split()
	name, body, err := k.translate(ctx, collection, raw)
	if err == nil && name != asked {
		err = k.from.unavailable("answers GET /v2/"+string(path)+" with another document: "+quote([]byte(name)), nil)
	}
	return body, err
}

// List implements intent.Store.
func (s *Store) List(ctx context.Context, options intent.ListOptions) (intent.Page, error) {
	k, theirs := s.kindOf(options.Collection)
	if !theirs {
		page, err := s.own.List(ctx, options)
		for i := range page.Items {
			page.Items[i] = withoutNotes(page.Items[i])
		}
		return page, err
	}
	after, err := draft.After(options)
	if err != nil {
		return intent.Page{}, err
	}
	bodies, err := s.readAll(ctx, k, options.Collection)
	if err != nil {
		return intent.Page{}, err
	}
	page, size := intent.Page{Items: []intent.Document{}}, int64(0)
	for _, body := range bodies {
		if body.name <= after || !strings.HasPrefix(body.name, options.NamePrefix) {
			continue
		}
		size += int64(len(body.json))
		if draft.Full(options, len(page.Items), size) {
			page.Continue = draft.Cursor(page.Items[len(page.Items)-1].Path.Name())
			break
		}
		doc, err := s.noted(ctx, intent.Join(options.Collection, body.name), body.json)
		if err != nil {
			return intent.Page{}, err
		}
		page.Items = append(page.Items, doc)
	}
	return page, nil
}

// named is the body of a document with its name.
type named struct {
	name string
	json []byte
}

// readAll reads the documents of one of EMCO's collections, ordered by name. A document
// that is deleted meanwhile is left out.
func (s *Store) readAll(ctx context.Context, k kind, collection string) ([]named, error) {
	for segment := range strings.SplitSeq(collection, "/") {
		if !isName(segment) {
			return nil, nil
		}
	}
	items, err := list(ctx, k.from, collection)
	if err != nil {
		return nil, err
	}
	bodies := make([]named, len(items))
	reads, reading := errgroup.WithContext(ctx)
	reads.SetLimit(width)
	for i, item := range items {
		reads.Go(func() error {
			name, body, err := k.translate(reading, collection, item)
			if intent.CodeOf(err) == intent.NotFound {
				return nil
			}
			bodies[i] = named{name, body}
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	bodies = slices.DeleteFunc(bodies, func(b named) bool { return b.name == "" })
	slices.SortFunc(bodies, func(a, b named) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(bodies, func(a, b named) bool { return a.name == b.name }), nil
}

// Put implements intent.Store.
func (s *Store) Put(ctx context.Context, write intent.Write) (intent.Document, error) {
	if err := s.ExternallyManaged(write.Path); err != nil {
		return intent.Document{}, err
	}
	refs, err := s.toNotes(ctx, write.Path, write.Refs)
	if err != nil {
		return intent.Document{}, err
	}
	write.Refs = refs
	doc, err := s.own.Put(ctx, write)
	return withoutNotes(doc), missingNote(err)
}

// Delete implements intent.Store.
func (s *Store) Delete(ctx context.Context, path intent.Path, condition intent.Condition) error {
	if err := s.ExternallyManaged(path); err != nil {
		return err
	}
	return s.own.Delete(ctx, path, condition)
}

// DeleteAll implements intent.Store.
func (s *Store) DeleteAll(ctx context.Context, paths []intent.Path) error {
	for _, path := range paths {
		if err := s.ExternallyManaged(path); err != nil {
			return err
		}
	}
	return s.own.DeleteAll(ctx, paths)
}

// ExternallyManaged is the Conflict of a write of a document that EMCO keeps. It says
// where to write the document; nil for all others.
func (s *Store) ExternallyManaged(path intent.Path) error {
	k, theirs := s.kindOf(path.Collection())
	if !theirs || path.Name() == "" {
		return nil
	}
	return &intent.Error{
		Code: intent.Conflict, Detail: string(path) + " is kept by " + k.from.String() + "; write it there, as with emcoctl, and Signpost reads it",
	}
}

// Referrers implements intent.Store.
func (s *Store) Referrers(ctx context.Context, path intent.Path) ([]intent.Path, error) {
	if _, theirs := s.kindOf(path.Collection()); theirs {
		path = notePath(path)
	}
	return s.own.Referrers(ctx, path)
}

// ReferrersAfter implements intent.Store.
func (s *Store) ReferrersAfter(ctx context.Context, path, after intent.Path, limit int) ([]intent.Path, error) {
	if _, theirs := s.kindOf(path.Collection()); theirs {
		path = notePath(path)
	}
	return s.own.ReferrersAfter(ctx, path, after, limit)
}

// NamespaceHolder is the name of the project whose namespace it is, empty when
// it is none's.
func (s *Store) NamespaceHolder(ctx context.Context, namespace string) (project string, err error) {
	k, _ := s.kindOf("projects")
	bodies, err := s.readAll(ctx, k, "projects")
	for _, body := range bodies {
		if s.Namespace(body.name) == namespace {
			return body.name, nil
		}
	}
	return "", err
}

// Sweep implements intent.Store.
func (s *Store) Sweep(ctx context.Context) error {
	for _, service := range []*service{s.orchestrator, s.dcm, s.clm} {
		if service != nil {
			service.sweep()
		}
	}
	return s.own.Sweep(ctx)
}

// Ping implements intent.Store. EMCO's services are not asked: while they are
// down, Signpost goes on with what it knows.
func (s *Store) Ping(ctx context.Context) error { return s.own.Ping(ctx) }

// Close implements intent.Store, and closes the wrapped store.
func (s *Store) Close() error {
	s.Client.CloseIdleConnections()
	return s.own.Close()
}
