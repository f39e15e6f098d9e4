package connections

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

// liveKept is how long a connection lasts that no plan uses, as those to clusters that are
// registered no more.
const liveKept = 10 * time.Minute

// live is the connection to a cluster by which plans read. It lasts from one plan to the
// next, so that not each has to greet the API server anew.
type live struct {
	kubeconfig []byte
	source     string
	target     *kubeapi.Kubernetes
	used       time.Time
}

// readLive reads from a cluster once, if it is an API server; else it returns
// nothing. Another server in the cluster's place is not looked at. After a failure, the
// next read connects anew.
func readLive[Found any](ctx context.Context, c *Pool, name string, look func(ctx context.Context, target *kubeapi.Kubernetes) (Found, error)) (none Found, err error) {
	ctx, cancel := context.WithTimeout(ctx, liveTimeout)
	defer cancel()
	spec, _, err := c.read(ctx, name)
	if err != nil || spec.KubeconfigRef == "" {
		c.disconnect(name, nil)
		return none, err
	}
	to, err := c.connected(ctx, name, spec)
	if err != nil {
		return none, err
	}
	if err = c.judge(ctx, to.target, name, to.source); err == nil {
		none, err = look(ctx, to.target)
	}
	if err != nil {
		c.disconnect(name, to.target)
	}
	return none, err
}

// connected answers the connection of a cluster's kubeconfig as it is now.
func (c *Pool) connected(ctx context.Context, name string, spec intent.Cluster) (live, error) {
	raw, err := c.values.Secret(ctx, spec.KubeconfigRef)
	if err != nil {
		return live{}, fmt.Errorf("the kubeconfig of cluster %s cannot be opened: %w", name, err)
	}
	if to, known := c.reuse(name, raw); known {
		return to, nil
	}
	target, source, err := c.parsed(name, raw)
	if err != nil {
		return live{}, fmt.Errorf("the kubeconfig of cluster %s: %w", name, err)
	}
	c.disconnect(name, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	if other, known := c.live[name]; known && bytes.Equal(other.kubeconfig, raw) {
		return other, nil // nothing was sent over the new one
	}
	c.dropUnused()
	to := live{kubeconfig: raw, source: source, target: target, used: time.Now()}
	c.live[name] = to
	return to, nil
}

// reuse answers the connection to a cluster by a kubeconfig, if there is one.
func (c *Pool) reuse(name string, kubeconfig []byte) (to live, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	to = c.live[name]
	if to.target == nil || !bytes.Equal(to.kubeconfig, kubeconfig) {
		return live{}, false
	}
	to.used = time.Now()
	c.live[name] = to
	return to, true
}

// dropUnused forgets connections that no plan uses. The caller holds the lock.
func (c *Pool) dropUnused() {
	for name, to := range c.live {
		if time.Since(to.used) > liveKept {
			to.target.Close()
			delete(c.live, name)
		}
	}
}

// disconnect forgets the connection to a cluster, if it is this one; nil: any. Reads that are
// under way go on.
func (c *Pool) disconnect(name string, one *kubeapi.Kubernetes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	to, known := c.live[name]
	if known && (one == nil || to.target == one) {
		to.target.Close()
		delete(c.live, name)
	}
}
