package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// namedOneIn of the seeds have a name that is its own release, beside the groups. The
// histories of the others do not depend on it.
const (
	namedOneIn = 4
	mostNamed  = 2 // the remainder of those seeds
)

// front is that name. It leads to the Service of a group, or to fixed addresses.
const front intent.Path = "projects/shop/names/front.lab.example"

// owners are the groups and the names.
func (w *world) owners() []intent.Path {
	if w.profile.regions {
		var paths []intent.Path
		for _, one := range w.installed {
			paths = append(paths, one.path)
		}
		return paths
	}
	if w.profile.named {
		return append(w.groups(), front)
	}
	return w.groups()
}

// publishing is what happens to a name, nothing in a world without.
func (u *users) publishing() []deed {
	if !u.world.profile.named {
		return nil
	}
	return []deed{
		{24, "publish a name", u.publish},
		{6, "unpublish a name", u.unpublish},
		{2, "two write a name at once", func() { u.publish(); u.publish() }},
		{2, "a name goes and comes", func() { u.unpublish(); u.world.after(time.Second, "publish again", u.publish) }},
		{2, "status of a name", func() { u.status(front) }},
		{12, "label a cluster", u.label},
	}
}

// publish writes the document of the name, as it is drawn.
func (u *users) publish() {
	spec := []string{
		`{"service":"shop/web","clusters":["edge/berlin","edge/paris"],"provider":"lab"}`,
		`{"service":"shop/web","clusters":["edge/paris"],"provider":"lab"}`,
		`{"service":"shop/web","clusters":{"selector":{"region":"eu"}},"provider":"lab","ttl":15}`,
		`{"service":"shop/api","clusters":["edge/berlin","edge/paris"],"provider":"lab","ttl":30}`,
		`{"addresses":["203.0.113.250","203.0.113.251"],"provider":"lab"}`,
		`{"cname":"www.elsewhere.example","provider":"lab"}`,
	}[u.world.random.IntN(6)]
	r := u.remember(front, intent.Instantiate, "publish "+front.Name(), func(ctx context.Context, p *process) (intent.Accepted, error) {
		request, err := p.publication(ctx, front, spec)
		if err != nil {
			return intent.Accepted{}, err
		}
		done, err := p.service.PublishName(ctx, front, request)
		return done.Accepted, err
	})
	r.body = body(front, spec)
}

// label gives a cluster the label that names select, or takes it away.
func (u *users) label() {
	cluster := []string{"berlin", "paris"}[u.world.random.IntN(2)]
	spec := []string{`{"kubeconfigRef":"sealed"}`, `{"kubeconfigRef":"sealed","labels":{"region":"eu"}}`}[u.world.random.IntN(2)]
	u.edit(intent.Join("cluster-providers/edge/clusters", cluster), spec)
}

// labelled are the clusters with the label that names select.
func (w *world) labelled() (names []string) {
	for _, name := range w.siteNames() {
		ref, _ := intent.ParseCluster(name)
		if strings.Contains(w.body(intent.Join("cluster-providers/edge/clusters", ref.Cluster)), `"region"`) {
			names = append(names, name)
		}
	}
	return names
}

// publication is a request to write a name over what is stored of it, as the API
// makes it of a PUT without preconditions.
func (p *process) publication(ctx context.Context, name intent.Path, spec string) (intent.NameRequest, error) {
	now := p.now()
	next := intent.NameDocument{UID: fmt.Sprint("uid ", now.UnixNano()), Revision: 1, CreatedAt: now, UpdatedAt: now, Body: []byte(body(name, spec))}
	was, err := p.documents.Get(ctx, name)
	switch {
	case intent.CodeOf(err) == intent.NotFound:
		return intent.NameRequest{Next: next, Actor: "ann"}, nil
	case err != nil:
		return intent.NameRequest{}, err
	}
	next.UID, next.Revision, next.CreatedAt = was.UID, was.Revision+1, was.CreatedAt
	return intent.NameRequest{Next: next, Was: &was, Actor: "ann"}, nil
}

// unpublish deletes the document of the name.
func (u *users) unpublish() {
	u.remember(front, intent.Terminate, "unpublish "+front.Name(), func(ctx context.Context, p *process) (intent.Accepted, error) {
		return p.service.UnpublishName(ctx, front, intent.NameRequest{Actor: "ann"})
	})
}

// checkDocument: the document of the name is one that somebody asked for, and that no
// later one was acknowledged after. It is there exactly as long as the name is wanted.
func (u *users) checkDocument(l state.Lifecycle) {
	if !deployed(l) {
		if l.Name != nil && l.Settled {
			u.world.breaks("I1", "%s is gone, and its document is still there: %s", front, l.Name.Body)
		}
		return
	}
	if l.Name == nil {
		u.world.breaks("I1", "%s is published without a document", front)
		return
	}
	if at := u.world.labelled(); strings.Contains(string(l.Name.Body), "selector") && !slices.Equal(l.Name.Clusters, at) {
		u.world.breaks("I3", "%s is on %v, and %v have its label", front, l.Name.Clusters, at)
	}
	for _, r := range u.requests[front] {
		overruled := slices.ContainsFunc(u.requests[front], func(q *request) bool { return q.acked && r.ended > 0 && q.began >= r.ended })
		if r.body == string(l.Name.At(front).Body) && !overruled {
			return
		}
	}
	u.world.breaks("I1", "%s is %s, which nobody asked for last", front, l.Name.At(front).Body)
}
