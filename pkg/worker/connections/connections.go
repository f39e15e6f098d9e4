// Package connections connects to clusters by what their documents say. It sees to it
// that each name stands for one cluster, and takes looks at clusters for plans.
package connections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/account"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/directory"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

// The rhythm of looking after connections.
const (
	refreshEvery = 5 * time.Second // how soon a changed kubeconfig is taken up
	liveTimeout  = 2 * time.Second // how long a plan waits for a cluster
	claimTimeout = 2 * time.Second // how long a cluster's new document does
)

// Pool connects to clusters by what their documents say.
type Pool struct {
	documents  intent.Store
	Identities Identities
	values     cluster.Values
	options    cluster.Options
	root       string                          // of directory clusters
	alone      func(ctx context.Context) error // refuses directory clusters that another server would have
	changed    chan string
	memory     int64 // of each cluster's budget
	publishers Publishers

	mu      sync.Mutex
	seen    map[string]state           // of each cluster when it was last connected to
	budgets map[string]*bounded.Budget // of each cluster
	live    map[string]live            // of each cluster that a plan has read
}

// state tells one content of a cluster's document from another.
type state struct {
	uid, kubeconfig, directory string
}

// Settings say how clusters are reached.
type Settings struct {
	Installation string                          // generated id
	Version      string                          // of this build, for API servers to know
	Replica      string                          // id of this process
	Root         string                          // of directory clusters
	Alone        func(ctx context.Context) error // refuses directory clusters, which other replicas would not see
	Publishers   Publishers                      // nil: there are no built-in publishers
	Memory       int64                           // bytes that may be kept of each cluster's answers; 0: cluster.DefaultMemory
}

// Publishers makes the target that stands for the built-in publisher of a provider.
type Publishers func(name string, options cluster.Options) cluster.Target

// New makes a Pool. Values opens the kubeconfigs that documents refer to.
func New(of Settings, identities Identities, values cluster.Values) *Pool {
	return &Pool{
		documents: identities.Documents, Identities: identities, values: values, root: of.Root, alone: of.Alone, publishers: of.Publishers,
		options: cluster.Options{Installation: of.Installation, Values: values, Version: of.Version, Replica: of.Replica},
		changed: make(chan string), memory: cmp.Or(of.Memory, cluster.DefaultMemory), seen: map[string]state{}, budgets: map[string]*bounded.Budget{}, live: map[string]live{},
	}
}

// Connect answers the cluster ("provider+cluster"), or why it cannot be
// reached.
func (c *Pool) Connect(ctx context.Context, name string) (cluster.Target, error) {
	if intent.IsPublisher(name) && c.publishers != nil {
		return c.publishers(name, c.options), nil
	}
	spec, now, err := c.read(ctx, name)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.seen[name] = now
	c.mu.Unlock()
	switch {
	case spec.Directory != "":
		return c.directory(ctx, name, spec)
	case spec.KubeconfigRef == "":
		return nil, fmt.Errorf("cluster %s is inventory only: it has neither kubeconfig nor directory", name)
	}
	target, source, err := c.kubernetes(ctx, name, spec)
	if err != nil {
		return nil, err
	}
	return c.claimed(target, name, source), nil
}

func (c *Pool) directory(ctx context.Context, name string, spec intent.Cluster) (cluster.Target, error) {
	if err := c.alone(ctx); err != nil {
		return nil, fmt.Errorf("cluster %s is a directory: %w", name, err)
	}
	target, err := directory.NewDirectory(c.root, spec.Directory, c.options)
	if err != nil {
		return nil, err
	}
	return c.claimed(target, name, directorySource(spec)), nil
}

func directorySource(spec intent.Cluster) string { return "directory " + spec.Directory }

func (c *Pool) claimed(target cluster.Target, name, source string) cluster.Target {
	return &claimed{Target: target, identities: c.Identities, name: name, source: source}
}

// kubernetes answers the API server of a kubeconfig, and where that is.
func (c *Pool) kubernetes(ctx context.Context, name string, spec intent.Cluster) (*kubeapi.Kubernetes, string, error) {
	raw, err := c.values.Secret(ctx, spec.KubeconfigRef)
	if err != nil {
		return nil, "", fmt.Errorf("the kubeconfig of cluster %s cannot be opened: %w", name, err)
	}
	target, source, err := c.parsed(name, raw)
	if err != nil {
		return nil, "", fmt.Errorf("the kubeconfig of cluster %s: %w", name, err)
	}
	return target, source, nil
}

func (c *Pool) parsed(name string, kubeconfig []byte) (*kubeapi.Kubernetes, string, error) {
	config, err := kubeapi.ParseKubeconfig(kubeconfig)
	if err != nil {
		return nil, "", err
	}
	options := c.options
	options.Budget = c.budget(name)
	target, err := kubeapi.NewKubernetes(config, options)
	return target, kubeapi.Source(config), err
}

// budget is what the answers of a cluster may cost, however many connections lead
// to it.
func (c *Pool) budget(name string) *bounded.Budget {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.budgets[name] == nil {
		c.budgets[name] = bounded.NewBudget(c.memory)
	}
	return c.budgets[name]
}

func (c *Pool) read(ctx context.Context, name string) (intent.Cluster, state, error) {
	ref, ok := intent.ParseCluster(name)
	if !ok {
		return intent.Cluster{}, state{}, fmt.Errorf("%q names no cluster", name)
	}
	doc, err := c.documents.Get(ctx, ref.Path())
	if intent.CodeOf(err) == intent.NotFound {
		return intent.Cluster{}, state{}, &intent.Error{Code: intent.NotFound, Detail: "cluster " + name + " is not registered", Err: err}
	}
	if err != nil {
		return intent.Cluster{}, state{}, err
	}
	resource, err := intent.Of[intent.Cluster](doc)
	return resource.Spec, state{doc.UID, resource.Spec.KubeconfigRef, resource.Spec.Directory}, err
}

// Changed names clusters whose documents have changed since they were
// connected to.
func (c *Pool) Changed() <-chan string { return c.changed }

// Run looks for changed documents until ctx ends.
func (c *Pool) Run(ctx context.Context) error {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, name := range c.stale(ctx) {
			select {
			case c.changed <- name:
			case <-ctx.Done():
				return nil
			}
		}
		c.dropBudgets()
	}
}

// stale lists the clusters whose documents are not what they were. They count
// as seen from then on. A cluster without a document is forgotten, until it is connected to
// again.
func (c *Pool) stale(ctx context.Context) []string {
	c.mu.Lock()
	before := maps.Clone(c.seen)
	c.mu.Unlock()
	var names []string
	for name, was := range before {
		_, now, err := c.read(ctx, name)
		if intent.CodeOf(err) == intent.Unavailable || now == was {
			continue
		}
		names = append(names, name)
		c.mu.Lock()
		switch {
		case c.seen[name] != was: // connected to meanwhile
		case intent.CodeOf(err) == intent.NotFound:
			delete(c.seen, name)
		default:
			c.seen[name] = now
		}
		c.mu.Unlock()
	}
	return names
}

// dropBudgets forgets the budgets of clusters that nobody is connected to.
func (c *Pool) dropBudgets() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropUnused()
	maps.DeleteFunc(c.budgets, func(name string, budget *bounded.Budget) bool {
		_, seen := c.seen[name]
		_, live := c.live[name]
		return !seen && !live && budget.Kept() == 0
	})
}

// Claim has a cluster's name stand for what its new kubeconfig leads to. A cluster that
// does not answer in time is claimed when it is connected to.
func (c *Pool) Claim(ctx context.Context, path intent.Path, kubeconfig []byte) error {
	target, source, err := c.parsed(clusterName(path), kubeconfig)
	if err != nil {
		return err
	}
	defer target.Close()
	asking, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	uid, err := target.Identity(asking)
	if err != nil {
		return ctx.Err()
	}
	err = c.Identities.claim(ctx, ledger.Claim{Cluster: clusterName(path), UID: uid, Source: source})
	if refusal, ok := errors.AsType[*ledger.Refusal](err); ok {
		return &intent.Error{Code: intent.Conflict, Detail: refusal.Error()}
	}
	return err
}

// ReadService returns what a Service offers now, for a plan.
func (c *Pool) ReadService(ctx context.Context, service address.Service) (*address.Observation, error) {
	return readLive(ctx, c, service.Cluster, func(ctx context.Context, target *kubeapi.Kubernetes) (*address.Observation, error) {
		offer, err := target.Offer(ctx, service.Namespace, service.Name)
		if err != nil {
			return nil, err
		}
		return &offer, nil
	})
}

// ReadServiceNames returns, for a plan, the names of the Services in a namespace of a
// cluster, in order.
func (c *Pool) ReadServiceNames(ctx context.Context, name, namespace string) ([]string, error) {
	return readLive(ctx, c, name, func(ctx context.Context, target *kubeapi.Kubernetes) ([]string, error) {
		return target.ServiceNames(ctx, namespace)
	})
}

// ReadNodes returns a cluster's nodes for a plan, ordered by name; nil where
// there is no API server to ask.
func (c *Pool) ReadNodes(ctx context.Context, name string) ([]placement.Node, error) {
	return readLive(ctx, c, name, func(ctx context.Context, target *kubeapi.Kubernetes) ([]placement.Node, error) {
		return target.Nodes(ctx)
	})
}

// ReadResolverUsers returns, for a plan, what asks nameservers in a cluster.
func (c *Pool) ReadResolverUsers(ctx context.Context, name string, addresses []string) ([]string, error) {
	return readLive(ctx, c, name, func(ctx context.Context, target *kubeapi.Kubernetes) ([]string, error) {
		return target.ResolverUsers(ctx, addresses)
	})
}

// ReadForeignObjects returns, for a plan, those of the objects that others have in a
// cluster.
func (c *Pool) ReadForeignObjects(ctx context.Context, name string, ids []bundle.ID) ([]bundle.ID, error) {
	return readLive(ctx, c, name, func(ctx context.Context, target *kubeapi.Kubernetes) ([]bundle.ID, error) {
		return target.Foreign(ctx, ids)
	})
}

// ReadNamespaceMaker returns who made a namespace of a cluster, for a plan.
func (c *Pool) ReadNamespaceMaker(ctx context.Context, name, namespace string) (grant.MadeBy, error) {
	return readLive(ctx, c, name, func(ctx context.Context, target *kubeapi.Kubernetes) (grant.MadeBy, error) {
		live, err := target.Get(ctx, bundle.ID{Cluster: name, Kind: "Namespace", Name: namespace})
		switch {
		case err != nil:
			return grant.NotKnown, err
		case live == nil:
			return grant.Nobody, nil
		case live.Ours(c.options.Installation):
			return grant.Us, nil
		}
		return grant.Others, nil
	})
}

// RenewToken gets a new token of the ServiceAccount whose token a cluster's kubeconfig
// has. Nothing is asked of a cluster that is abandoned, or that the name does not stand
// for.
func (c *Pool) RenewToken(ctx context.Context, path intent.Path, kubeconfig []byte) (account.Token, error) {
	name := clusterName(path)
	abandoned, err := c.Identities.Ledger.Abandoned(ctx, name)
	if err != nil {
		return account.Token{}, err
	}
	if abandoned != nil {
		return account.Token{}, fmt.Errorf("cluster %s is abandoned", name)
	}
	target, source, err := c.parsed(name, kubeconfig)
	if err != nil {
		return account.Token{}, err
	}
	defer target.Close()
	if err := c.judge(ctx, target, name, source); err != nil {
		return account.Token{}, err
	}
	return kubeapi.RenewToken(ctx, target)
}

// judge fails if what answers is not the cluster that a name stands for.
func (c *Pool) judge(ctx context.Context, target *kubeapi.Kubernetes, name, source string) error {
	uid, err := target.Identity(ctx)
	if err != nil {
		return err
	}
	return c.Identities.Ledger.Judge(ctx, ledger.Claim{Cluster: name, UID: uid, Source: source})
}

// kept tells the metrics how much memory is kept of each cluster.
type kept struct {
	connections *Pool
	desc        *prometheus.Desc
}

// NewMemoryMetric tells how much memory is kept of each cluster.
func NewMemoryMetric(c *Pool) prometheus.Collector {
	return kept{c, prometheus.NewDesc("signpost_cluster_memory_bytes",
		"About how much memory is taken by what is kept of a cluster's answers.", []string{"cluster"}, nil)}
}

func (k kept) Describe(to chan<- *prometheus.Desc) { to <- k.desc }

func (k kept) Collect(to chan<- prometheus.Metric) {
	k.connections.mu.Lock()
	budgets := maps.Clone(k.connections.budgets)
	k.connections.mu.Unlock()
	for name, budget := range budgets {
		to <- prometheus.MustNewConstMetric(k.desc, prometheus.GaugeValue, float64(budget.Kept()), name)
	}
}
