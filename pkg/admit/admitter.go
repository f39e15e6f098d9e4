package admit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// Rules are what the operator of the server allows.
type Rules struct {
	// AllowedImages are prefixes of whole image names, registry included. One
	// that ends in no slash must be followed by the end of a name's part.
	// None: [DefaultImages] of ImageRegistry.
	AllowedImages []string

	// ImageRegistry holds copies of the default images; empty: none does.
	ImageRegistry string

	// AllowLocalServers lets a record's verify.servers be loopback and
	// link-local addresses, as tests on one machine need it.
	AllowLocalServers bool

	// Quotas are those of projects that have none of their own.
	Quotas intent.Quotas

	// Kubeconfig judges a kubeconfig (YAML); nil finds nothing wrong with any.
	// Its errors are shown to the user, so they may not quote secrets.
	Kubeconfig func(yaml []byte) error

	// Claim has a cluster's document stand for the cluster that a kubeconfig
	// leads to; one that does not answer soon is accepted. It answers a
	// Conflict for a cluster that another document stands for, and for another
	// than before while something is left in that. nil: none is asked.
	Claim func(ctx context.Context, cluster intent.Path, yaml []byte) error

	// Elsewhere refuses the documents that are kept elsewhere, and says where;
	// nil: none is.
	Elsewhere func(intent.Path) error

	// NamespaceHolder is the name of the project whose namespace it is, empty
	// for none's, where projects are kept elsewhere; nil: they are kept here.
	NamespaceHolder func(ctx context.Context, namespace string) (project string, err error)

	// NamespaceTenant is a project other than the one given that has released
	// something in a namespace of some cluster, empty for none, and what; nil:
	// documents alone say so.
	NamespaceTenant func(ctx context.Context, namespace, but string) (project string, what intent.Path, err error)
}

// Admitter admits documents to a store. It is safe for concurrent use.
type Admitter struct {
	store intent.Store
	rules Rules
	token func() string // a text that no other call gives
}

// New makes an Admitter that looks documents up in store.
func New(store intent.Store, rules Rules) *Admitter {
	if len(rules.AllowedImages) == 0 {
		rules.AllowedImages = DefaultImages(rules.ImageRegistry)
	}
	return &Admitter{store: store, rules: rules, token: rand.Text}
}

// elsewhere refuses what is kept elsewhere.
func (a *Admitter) elsewhere(path intent.Path) error {
	if a.rules.Elsewhere == nil {
		return nil
	}
	return a.rules.Elsewhere(path)
}

// missing notes a reference to what does not exist, and where it is created if
// not here.
func (a *Admitter) missing(r *review, at pointer, to intent.Path) {
	where := ""
	if err := a.elsewhere(to); err != nil {
		where = ": " + err.Error()
	}
	r.conflictf(at, "%s refers to %s, which does not exist; create it first%s", r.path, to, where)
}

// Admit judges the body of a document that is to be stored at path, as JSON in
// the form {"metadata":…,"spec":…}. old is the document that it replaces, nil
// when there is none; write-only values missing from the body are kept from
// it. It changes nothing. Errors: NotFound when the path is no resource's or
// a parent does not exist; Invalid with every wrong field; Conflict with every
// field that other documents forbid; those of [Rules].Elsewhere; what the store
// answers.
func (a *Admitter) Admit(ctx context.Context, path intent.Path, body []byte, old *intent.Document) (*Write, error) {
	k, ok := kindOf(path)
	if !ok {
		return nil, errNoResource(path)
	}
	if err := a.elsewhere(path); err != nil {
		return nil, err
	}
	if err := a.parents(ctx, path); err != nil {
		return nil, err
	}
	r := &review{path: path, body: body}
	metadata, spec, err := k.admit(ctx, a, r, body, old)
	if err != nil {
		return nil, err
	}
	if err := r.verdict(); err != nil {
		return nil, err
	}
	return r.write(metadata, spec, old), nil
}

// parents fails with NotFound for the topmost document above path that does
// not exist.
func (a *Admitter) parents(ctx context.Context, path intent.Path) error {
	var above []intent.Path
	for p := path.Parent(); p != ""; p = p.Parent() {
		above = append([]intent.Path{p}, above...)
	}
	for _, p := range above {
		if _, err := a.store.Get(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// kind is what admit knows of one kind of resource.
type kind struct {
	admit func(ctx context.Context, a *Admitter, r *review, body []byte, old *intent.Document) (intent.Metadata, any, error)
	view  func(ctx context.Context, g *glance, doc intent.Document) (View, error)
}

// check judges and completes a spec; old is the spec that it replaces, nil
// when there is none. What is wrong goes to the review; an error means that
// the judgement could not be made.
type check[Spec any] func(a *Admitter, ctx context.Context, r *review, spec, old *Spec) error

// show takes out what users do not see and answers the status, nil for none.
type show[Spec any] func(g *glance, ctx context.Context, path intent.Path, spec *Spec) (*Status, error)

// alone is a show that needs no other document.
func alone[Spec any](show func(spec *Spec) *Status) show[Spec] {
	return func(_ *glance, _ context.Context, _ intent.Path, spec *Spec) (*Status, error) {
		return show(spec), nil
	}
}

// kindOf is the kind of the resource at path. It is the one place that lists
// them all.
func kindOf(path intent.Path) (kind, bool) {
	switch shape(path) {
	case "projects":
		return resource((*Admitter).project, nil), true
	case "projects/dns-update-records":
		return resource((*Admitter).record, alone(showRecord)), true
	case "projects/logical-clouds":
		return resource((*Admitter).logicalCloud, nil), true
	case "projects/logical-clouds/cluster-references":
		return resource((*Admitter).clusterReference, nil), true
	case "projects/logical-clouds/kv-pairs", "cluster-providers/clusters/kv-pairs":
		return resource((*Admitter).kvPairs, nil), true
	case "projects/logical-clouds/dns-cr-intents":
		return resource((*Admitter).dnsCRIntent, alone(showDNSCRIntent)), true
	case "cluster-providers":
		return resource((*Admitter).clusterProvider, nil), true
	case "cluster-providers/clusters":
		return resource((*Admitter).cluster, alone(showCluster)), true
	case "projects/composite-apps":
		return resource((*Admitter).compositeApp, nil), true
	case "projects/composite-apps/deployment-intent-groups":
		return resource((*Admitter).group, nil), true
	case "projects/composite-apps/deployment-intent-groups/traffic-group-intents":
		return resource((*Admitter).trafficGroup, nil), true
	case "projects/composite-apps/deployment-intent-groups/traffic-group-intents/dns-intents":
		return resource((*Admitter).dnsIntent, alone(showDNSIntent)), true
	case "projects/composite-apps/deployment-intent-groups/traffic-group-intents/" + podDNSIntents:
		return resource((*Admitter).podDNSIntent, (*glance).podDNSIntent), true
	}
	return kind{}, false
}

// shape is the path without names: its collections, from the top. It is empty
// when a name is missing.
func shape(path intent.Path) string {
	var collections []string
	for p := path; p != ""; p = p.Parent() {
		segments := strings.Split(p.Collection(), "/")
		collection := segments[len(segments)-1]
		first, version, versioned := strings.Cut(p.Name(), "/")
		if first == "" || versioned && version == "" || versioned != (collection == "composite-apps") {
			return ""
		}
		collections = append([]string{collection}, collections...)
	}
	return strings.Join(collections, "/")
}

// resource makes a kind from the functions on its spec.
func resource[Spec any](check check[Spec], show show[Spec]) kind {
	return kind{
		admit: func(ctx context.Context, a *Admitter, r *review, body []byte, old *intent.Document) (intent.Metadata, any, error) {
			return admitResource(ctx, a, r, body, old, check)
		},
		view: func(ctx context.Context, g *glance, doc intent.Document) (View, error) {
			stored, err := intent.Of[Spec](doc)
			if err != nil {
				return View{}, err
			}
			var status *Status
			if show != nil {
				status, err = show(g, ctx, doc.Path, &stored.Spec)
			}
			return View{Metadata: stored.Metadata, Spec: stored.Spec, Status: status}, err
		},
	}
}

func admitResource[Spec any](
	ctx context.Context, a *Admitter, r *review, body []byte, old *intent.Document, check check[Spec],
) (intent.Metadata, any, error) {
	var in intent.Resource[Spec]
	if err := json.Unmarshal(body, &in); err != nil {
		return intent.Metadata{}, nil, errNoJSON(err)
	}
	var before *Spec
	if old != nil {
		stored, err := intent.Of[Spec](*old)
		if err != nil {
			return intent.Metadata{}, nil, err
		}
		before = &stored.Spec
		r.old = old
	}
	r.name(in.Metadata.Name)
	err := check(a, ctx, r, &in.Spec, before)
	return in.Metadata, &in.Spec, err
}

// find answers the document at path decoded, or nil when there is none.
func find[Spec any](ctx context.Context, store intent.Store, path intent.Path) (*Spec, error) {
	doc, err := store.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	stored, err := intent.Of[Spec](doc)
	return &stored.Spec, err
}

// each calls visit for all documents of a collection, ordered by name, until
// it fails.
func (a *Admitter) each(ctx context.Context, collection string, visit func(intent.Document) error) error {
	const pageSize = 200
	options := intent.ListOptions{Collection: collection, Limit: pageSize, Bytes: intent.PageBytes}
	for {
		page, err := a.store.List(ctx, options)
		if err != nil {
			return err
		}
		for _, doc := range page.Items {
			if err := visit(doc); err != nil {
				return err
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nil
		}
	}
}
