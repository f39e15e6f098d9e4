package kubeapi

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// catalogueAge is how long a kind that is not found is taken to be unknown
// before the cluster is asked again.
const catalogueAge = 5 * time.Second

// catalogue knows the kinds that a cluster serves: the table's at once, others
// by asking the cluster, which is remembered.
type catalogue struct {
	client *discovery.DiscoveryClient
	asking sync.Mutex
	last   atomic.Pointer[offer]
}

// offer is what the cluster has answered.
type offer struct {
	found  map[cluster.Kind]cluster.Resource
	silent map[string]bool // API groups that did not answer, in one version at least
	asked  time.Time
}

func newCatalogue(client *discovery.DiscoveryClient) *catalogue {
	c := &catalogue{client: client}
	c.last.Store(&offer{})
	return c
}

// find answers how the cluster calls a kind.
func (c *catalogue) find(ctx context.Context, kind cluster.Kind) (cluster.Resource, error) {
	last := c.last.Load()
	if _, ok := last.found[kind]; ok {
		return last.resource(kind)
	}
	if r, ok := cluster.Lookup(kind); ok {
		return r, nil
	}
	return c.ask(ctx, kind, time.Now().Add(-catalogueAge))
}

// ask answers how the cluster calls a kind. The cluster is asked, unless it was since
// then.
func (c *catalogue) ask(ctx context.Context, kind cluster.Kind, since time.Time) (cluster.Resource, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	if c.last.Load().asked.Before(since) {
		latest, err := c.offered(ctx)
		if err != nil {
			return cluster.Resource{}, err
		}
		c.last.Store(latest)
	}
	return c.last.Load().resource(kind)
}

// resource is how the cluster calls a kind. A cluster-scoped kind that is not in the
// table is refused: nothing of ours is one. A kind may be served by a group that did not
// answer.
func (o *offer) resource(kind cluster.Kind) (cluster.Resource, error) {
	r, ok := o.found[kind]
	name := "the kind " + kind.Kind + " of " + groupName(kind.Group)
	if _, tabled := cluster.Lookup(kind); r.ClusterScoped && !tabled {
		return cluster.Resource{}, cluster.Refuse(name + " stands outside namespaces")
	}
	switch {
	case ok:
		return r, nil
	case o.silent[kind.Group]:
		return r, &fault.Error{Fault: fault.Unreachable, Code: http.StatusServiceUnavailable, Message: "the API server of " + groupName(kind.Group) + " does not answer, so it is not known whether there is " + name}
	}
	return r, &fault.Error{Fault: cluster.NotServed, Code: http.StatusNotFound, Message: "the cluster does not know " + name}
}

func groupName(group string) string { return cmp.Or(group, "the core group") }

// offered asks for the kinds of all groups. Every API server lists namespaces; a proxy
// in front of one may know no path at all.
func (c *catalogue) offered(ctx context.Context) (*offer, error) {
	o := &offer{silent: map[string]bool{}, asked: time.Now()}
	lists, err := within(ctx, func() ([]*metav1.APIResourceList, error) {
		_, lists, err := c.client.ServerGroupsAndResources()
		return lists, err
	})
	failed, partly := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partly && !apierrors.IsNotFound(err) {
		return nil, cluster.Classify(err, cluster.Reading)
	}
	for version := range failed {
		o.silent[version.Group] = true
	}
	o.found = collect(lists)
	if _, is := o.found[cluster.Kind{Kind: "Namespace"}]; !is {
		return nil, &fault.Error{Fault: fault.Unreachable, Code: http.StatusNotFound, Message: "the API server does not list its kinds"}
	}
	return o, nil
}

// complete lists the namespaced resources, and fails when a group does not
// answer.
func (c *catalogue) complete(ctx context.Context) ([]*metav1.APIResourceList, error) {
	lists, err := within(ctx, c.client.ServerPreferredNamespacedResources)
	return lists, cluster.Classify(err, cluster.Reading)
}

type listing struct {
	lists []*metav1.APIResourceList
	err   error
}

// within gives up with ctx, which discovery itself knows nothing of; what it
// asked ends by the HTTP client's own deadline.
func within(ctx context.Context, ask func() ([]*metav1.APIResourceList, error)) ([]*metav1.APIResourceList, error) {
	answer := make(chan listing, 1)
	go func() {
		lists, err := ask()
		answer <- listing{lists, err}
	}()
	select {
	case a := <-answer:
		return a.lists, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// collect takes of each kind the version of the table if it is served, or else the first,
// which the cluster prefers.
func collect(lists []*metav1.APIResourceList) map[cluster.Kind]cluster.Resource {
	found := map[cluster.Kind]cluster.Resource{}
	for _, list := range lists {
		group, version, grouped := strings.Cut(list.GroupVersion, "/")
		if !grouped {
			group, version = "", group
		}
		for _, r := range list.APIResources {
			kind := cluster.Kind{Group: group, Kind: r.Kind}
			known, tabled := cluster.Lookup(kind)
			_, seen := found[kind]
			if strings.Contains(r.Name, "/") || seen && known.Version != version {
				continue
			}
			if !tabled {
				known = cluster.Resource{Plural: r.Name, ClusterScoped: !r.Namespaced, Order: cluster.OrderOther, Custom: true}
			}
			known.Version = version
			found[kind] = known
		}
	}
	return found
}
