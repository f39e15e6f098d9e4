package kubeapi

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

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

	mu    sync.Mutex
	found map[cluster.Kind]cluster.Resource
	asked time.Time
}

// find answers how the cluster calls a kind. A cluster-scoped kind that is not
// in the table is refused: nothing of ours is one.
func (c *catalogue) find(ctx context.Context, kind cluster.Kind) (cluster.Resource, error) {
	if r, ok := cluster.Lookup(kind); ok {
		return r, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.found[kind]
	if !ok && time.Since(c.asked) >= catalogueAge {
		lists, err := c.ask(ctx)
		if err != nil {
			return cluster.Resource{}, err
		}
		c.found, c.asked = collect(lists), time.Now()
		r, ok = c.found[kind]
	}
	switch {
	case !ok:
		return cluster.Resource{}, &fault.Error{Fault: cluster.NotServed, Code: http.StatusNotFound, Message: "the cluster does not know the kind " + kind.Kind + " of " + groupName(kind.Group)}
	case r.ClusterScoped:
		return cluster.Resource{}, cluster.Refuse("the kind " + kind.Kind + " of " + groupName(kind.Group) + " stands outside namespaces")
	}
	return r, nil
}

func groupName(group string) string { return cmp.Or(group, "the core group") }

// ask lists the kinds that the cluster prefers. Groups that do not answer are
// left out.
func (c *catalogue) ask(ctx context.Context) ([]*metav1.APIResourceList, error) {
	lists, err := within(ctx, c.client.ServerPreferredResources)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, cluster.Classify(err, cluster.Reading)
	}
	return lists, nil
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

func collect(lists []*metav1.APIResourceList) map[cluster.Kind]cluster.Resource {
	found := map[cluster.Kind]cluster.Resource{}
	for _, list := range lists {
		group, version, grouped := strings.Cut(list.GroupVersion, "/")
		if !grouped {
			group, version = "", group
		}
		for _, r := range list.APIResources {
			kind := cluster.Kind{Group: group, Kind: r.Kind}
			if _, seen := found[kind]; seen || strings.Contains(r.Name, "/") {
				continue
			}
			found[kind] = cluster.Resource{Version: version, Plural: r.Name, ClusterScoped: !r.Namespaced, Order: cluster.OrderOther, Custom: true}
		}
	}
	return found
}
