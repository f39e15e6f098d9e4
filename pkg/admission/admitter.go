// Package admission decides what may be stored. The shape of a body (types, required and
// unknown fields) has been checked against openapi.yaml by then. Admission judges its
// meaning. It completes defaults, brings values into their canonical form, and finds the
// documents that are referred to. It takes secret values out, and reports all faults at
// once.
//
// Every edge (REST, gRPC, CLI) admits a body the same way:
//
//	write, err := admitter.Admit(ctx, path, body, old)
//	for _, secret := range write.Secrets { /* seal */ secret.Set(id) }
//	doc, err := admitter.Put(ctx, write)
//
// and shows a stored document with [Admitter.View]. A fault of the body alone is Invalid;
// a fault by other documents is a Conflict.
package admission

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"github.com/signpost-dns/signpost/pkg/admission/apps"
	"github.com/signpost-dns/signpost/pkg/admission/clusterdns"
	"github.com/signpost-dns/signpost/pkg/admission/clusters"
	"github.com/signpost-dns/signpost/pkg/admission/dnsnames"
	"github.com/signpost-dns/signpost/pkg/admission/names"
	"github.com/signpost-dns/signpost/pkg/admission/poddns"
	"github.com/signpost-dns/signpost/pkg/admission/projects"
	"github.com/signpost-dns/signpost/pkg/admission/providers"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Admitter admits documents to a store. It is safe for concurrent use.
type Admitter struct{ *review.Checker }

// New makes an Admitter that looks documents up in store.
func New(store intent.Store, rules review.Rules) *Admitter {
	if len(rules.AllowedImages) == 0 {
		rules.AllowedImages = review.DefaultImages(rules.ImageRegistry)
	}
	return &Admitter{&review.Checker{Store: store, Rules: rules, Token: rand.Text}}
}

// Admit judges the body of a document that is to be stored at path, as JSON in the form
// {"metadata":…,"spec":…}. The replaced document is old, nil when there is none.
// Write-only values missing from the body are kept from it. It changes nothing. It
// answers NotFound if the path is no resource's or a parent does not exist. Invalid has
// every wrong field, Conflict every field that other documents forbid. Further errors are
// those of [Rules].ExternallyManaged and of the store.
func (a *Admitter) Admit(ctx context.Context, path intent.Path, body []byte, old *intent.Document) (*review.Write, error) {
	k, ok := checksOf(intent.KindOf(path))
	if !ok {
		return nil, review.ErrNoResource(path)
	}
	if err := a.ExternallyManaged(path); err != nil {
		return nil, err
	}
	if err := parents(ctx, a.Checker, path); err != nil {
		return nil, err
	}
	r := &review.Review{Path: path, Body: body}
	metadata, spec, err := k.admit(ctx, a.Checker, r, body, old)
	if err != nil {
		return nil, err
	}
	if err := r.Verdict(); err != nil {
		return nil, err
	}
	return r.Write(metadata, spec, old), nil
}

// parents fails with NotFound for the topmost document above path that does
// not exist, and says how to make it. The default traffic group is made as needed.
func parents(ctx context.Context, a *review.Checker, path intent.Path) error {
	var above []intent.Path
	for p := path.Parent(); p != ""; p = p.Parent() {
		above = append([]intent.Path{p}, above...)
	}
	for _, p := range above {
		_, err := a.Store.Get(ctx, p)
		absent := intent.CodeOf(err) == intent.NotFound
		switch {
		case err == nil || absent && intent.IsDefaultTrafficGroup(p):
		case absent && a.ExternallyManaged(p) == nil: // else the error says who makes it
			return createFirst(p)
		default:
			return err
		}
	}
	return nil
}

// createFirst says that a parent does not exist, and how to make it.
func createFirst(parent intent.Path) error {
	return &intent.Error{Code: intent.NotFound, Detail: intent.ErrNotFound(parent).Error() + "; create it first: POST /v2/" + parent.Collection()}
}

// kind is what admit knows of one kind of resource.
type kind struct {
	admit func(ctx context.Context, a *review.Checker, r *review.Review, body []byte, old *intent.Document) (intent.Metadata, any, error)
	view  func(ctx context.Context, g *review.Companions, doc intent.Document) (review.View, error)
}

// check judges and completes a spec; old is the spec that it replaces, nil when there is
// none. Faults go to the review; an error means that the judgement could not be made.
type check[Spec any] func(ctx context.Context, a *review.Checker, r *review.Review, spec, old *Spec) error

// show takes out what users do not see and answers the status, nil for none.
type show[Spec any] func(ctx context.Context, g *review.Companions, path intent.Path, spec *Spec) (*review.Status, error)

// alone is a show that needs no other document.
func alone[Spec any](show func(spec *Spec) *review.Status) show[Spec] {
	return func(_ context.Context, _ *review.Companions, _ intent.Path, spec *Spec) (*review.Status, error) {
		return show(spec), nil
	}
}

// checksOf is what admit knows of a kind of documents.
func checksOf(of intent.Kind) (kind, bool) {
	switch of.One {
	case "Project":
		return resource(projects.CheckProject, nil), true
	case "DNSUpdateRecord":
		return resource(providers.CheckRecord, alone(providers.ShowRecord)), true
	case "DocumentSet":
		return resource(projects.CheckSet, nil), true
	case "Name":
		return resource(names.CheckName, nil), true
	case "LogicalCloud":
		return resource(clusters.CheckLogicalCloud, nil), true
	case "ClusterReference":
		return resource(clusters.CheckClusterReference, nil), true
	case "LogicalCloudKVPairs", "ClusterKVPairs":
		return resource(providers.CheckKVPairs, providers.ShowKVPairs), true
	case "DNSCRIntent":
		return resource(clusterdns.CheckDNSCRIntent, alone(clusterdns.ShowDNSCRIntent)), true
	case "ClusterProvider":
		return resource(clusters.CheckClusterProvider, nil), true
	case "Cluster":
		return resource(clusters.CheckCluster, alone(clusters.ShowCluster)), true
	case "CompositeApp":
		return resource(apps.CheckCompositeApp, nil), true
	case "DeploymentIntentGroup":
		return resource(apps.CheckGroup, nil), true
	case "TrafficGroupIntent":
		return resource(apps.CheckTrafficGroup, nil), true
	case "DNSIntent":
		return resource(dnsnames.CheckDNSIntent, alone(dnsnames.ShowDNSIntent)), true
	case "PodDNSIntent":
		return resource(poddns.CheckPodDNSIntent, poddns.ShowPodDNSIntent), true
	}
	return kind{}, false
}

// resource makes a kind from the functions on its spec.
func resource[Spec any](check check[Spec], show show[Spec]) kind {
	return kind{
		admit: func(ctx context.Context, a *review.Checker, r *review.Review, body []byte, old *intent.Document) (intent.Metadata, any, error) {
			return admitResource(ctx, a, r, body, old, check)
		},
		view: func(ctx context.Context, g *review.Companions, doc intent.Document) (review.View, error) {
			stored, err := intent.Of[Spec](doc)
			if err != nil {
				return review.View{}, err
			}
			var status *review.Status
			if show != nil {
				status, err = show(ctx, g, doc.Path, &stored.Spec)
			}
			return review.View{Metadata: stored.Metadata, Spec: stored.Spec, Status: status}, err
		},
	}
}

func admitResource[Spec any](
	ctx context.Context, a *review.Checker, r *review.Review, body []byte, old *intent.Document, check check[Spec],
) (intent.Metadata, any, error) {
	var in intent.Resource[Spec]
	if err := json.Unmarshal(body, &in); err != nil {
		return intent.Metadata{}, nil, review.ErrNoJSON(err)
	}
	var before *Spec
	if old != nil {
		stored, err := intent.Of[Spec](*old)
		if err != nil {
			return intent.Metadata{}, nil, err
		}
		before = &stored.Spec
		r.Old = old
	}
	if intent.IsName(r.Path) {
		names.CheckHost(r, in.Metadata.Name)
	} else {
		r.Name(in.Metadata.Name)
	}
	err := check(ctx, a, r, &in.Spec, before)
	return in.Metadata, &in.Spec, err
}

// View answers a stored document as users see it. Errors: NotFound when the
// path is no resource's; one without a code when the body cannot be read; what
// the store answers.
func (a *Admitter) View(ctx context.Context, doc intent.Document) (review.View, error) {
	return view(ctx, a.Companions(), doc)
}

// Views is [Admitter.View] of several documents, in their order.
func (a *Admitter) Views(ctx context.Context, docs []intent.Document) ([]review.View, error) {
	views, g := make([]review.View, len(docs)), a.Companions()
	for i, doc := range docs {
		var err error
		if views[i], err = view(ctx, g, doc); err != nil {
			return nil, err
		}
	}
	return views, nil
}

func view(ctx context.Context, g *review.Companions, doc intent.Document) (review.View, error) {
	k, ok := checksOf(intent.KindOf(doc.Path))
	if !ok {
		return review.View{}, review.ErrNoResource(doc.Path)
	}
	return k.view(ctx, g, doc)
}

// PreviewPodDNS answers the question that a body asks about pods of a deployment intent group;
// path is where it was asked. Absent fields follow from the app, its clusters, the logical cloud
// and its DNS CR intents. Errors: NotFound when the parents of the path do not exist; Invalid
// with every wrong field; the errors of the store.
func (a *Admitter) PreviewPodDNS(ctx context.Context, path intent.Path, body []byte) (resolvconf.Preview, error) {
	if err := parents(ctx, a.Checker, path); err != nil {
		return resolvconf.Preview{}, err
	}
	p, err := poddns.ReadPodDNSPreview(body)
	if err != nil {
		return resolvconf.Preview{}, err
	}
	p.Review.Path = path
	if err := poddns.CompletePreview(ctx, a.Checker, p); err != nil {
		return resolvconf.Preview{}, err
	}
	return p.Answer()
}
