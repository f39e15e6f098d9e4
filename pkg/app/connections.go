package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/bounded"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/cluster"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/ledger"
	"github.com/signpost-dns/signpost/pkg/placement"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/replicas"
)

// The rhythm of looking after connections.
const (
	refreshEvery = 5 * time.Second // how soon a changed kubeconfig is taken up
	peekTimeout  = 2 * time.Second // how long a plan waits for a cluster
	claimTimeout = 2 * time.Second // how long a cluster's new document does
)

// connections connects to clusters by what their documents say.
type connections struct {
	documents  intent.Store
	identities identities
	values     cluster.Values
	options    cluster.Options
	root       string                          // of directory clusters
	alone      func(ctx context.Context) error // refuses directory clusters that others would have elsewhere
	changed    chan string
	memory     int64 // of each cluster's budget

	mu      sync.Mutex
	seen    map[string]state           // of each cluster when it was last connected to
	budgets map[string]*bounded.Budget // of each cluster
}

// state tells one content of a cluster's document from another.
type state struct {
	uid, kubeconfig, directory string
}

func newConnections(c Config, installation string, identities identities, values cluster.Values, registry *replicas.Registry) *connections {
	root := c.DirectoryRoot
	if root == "" {
		root = filepath.Join(c.DataDir, "clusters")
	}
	return &connections{
		documents: identities.documents, identities: identities, values: values, root: root, alone: c.ownDirectories(registry),
		options: cluster.Options{Installation: installation, Values: values, Version: c.Build.Version, Replica: registry.ID()},
		changed: make(chan string), memory: c.clusterMemory(), seen: map[string]state{}, budgets: map[string]*bounded.Budget{},
	}
}

// Connect answers the cluster ("provider+cluster"), or why it cannot be
// reached.
func (c *connections) Connect(ctx context.Context, name string) (cluster.Target, error) {
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

func (c *connections) directory(ctx context.Context, name string, spec intent.Cluster) (cluster.Target, error) {
	if err := c.alone(ctx); err != nil {
		return nil, fmt.Errorf("cluster %s is a directory: %w", name, err)
	}
	target, err := cluster.NewDirectory(c.root, spec.Directory, c.options)
	if err != nil {
		return nil, err
	}
	return c.claimed(target, name, directorySource(spec)), nil
}

func directorySource(spec intent.Cluster) string { return "directory " + spec.Directory }

func (c *connections) claimed(target cluster.Target, name, source string) cluster.Target {
	return &claimed{Target: target, identities: c.identities, name: name, source: source}
}

// kubernetes answers the API server of a kubeconfig, and where that is.
func (c *connections) kubernetes(ctx context.Context, name string, spec intent.Cluster) (*cluster.Kubernetes, string, error) {
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

func (c *connections) parsed(name string, kubeconfig []byte) (*cluster.Kubernetes, string, error) {
	config, err := cluster.ParseKubeconfig(kubeconfig)
	if err != nil {
		return nil, "", err
	}
	options := c.options
	options.Budget = c.budget(name)
	target, err := cluster.NewKubernetes(config, options)
	return target, cluster.Source(config), err
}

// budget is what the answers of a cluster may cost, however many connections lead
// to it.
func (c *connections) budget(name string) *bounded.Budget {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.budgets[name] == nil {
		c.budgets[name] = bounded.NewBudget(c.memory)
	}
	return c.budgets[name]
}

func (c *connections) read(ctx context.Context, name string) (intent.Cluster, state, error) {
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
func (c *connections) Changed() <-chan string { return c.changed }

// run looks for changed documents until ctx ends.
func (c *connections) run(ctx context.Context) error {
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
	}
}

// stale lists the clusters whose documents are not what they were. They count
// as seen from then on.
func (c *connections) stale(ctx context.Context) []string {
	c.mu.Lock()
	before := make(map[string]state, len(c.seen))
	for name, s := range c.seen {
		before[name] = s
	}
	c.mu.Unlock()
	var names []string
	for name, was := range before {
		_, now, err := c.read(ctx, name)
		if intent.CodeOf(err) == intent.Unavailable || now == was {
			continue
		}
		names = append(names, name)
		c.mu.Lock()
		c.seen[name] = now
		c.mu.Unlock()
	}
	return names
}

// claim has a cluster's name stand for what its new kubeconfig leads to. One
// that does not answer in time is claimed when it is connected to.
func (c *connections) claim(ctx context.Context, path intent.Path, kubeconfig []byte) error {
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
	err = c.identities.claim(ctx, ledger.Claim{Cluster: clusterName(path), UID: uid, Source: source})
	var refusal *ledger.Refusal
	if errors.As(err, &refusal) {
		return &intent.Error{Code: intent.Conflict, Detail: refusal.Error()}
	}
	return err
}

// peek looks at a live Service for a plan.
func (c *connections) peek(ctx context.Context, service address.Service) (*address.Observation, error) {
	var seen *address.Observation
	err := c.peekAt(ctx, service.Cluster, func(ctx context.Context, target *cluster.Kubernetes) error {
		offer, err := target.Offer(ctx, service.Namespace, service.Name)
		seen = &offer
		return err
	})
	if err != nil {
		return nil, err
	}
	return seen, nil
}

// peekNodes looks at a cluster's nodes for a plan, ordered by name; nil where
// there is no API server to ask.
func (c *connections) peekNodes(ctx context.Context, name string) (nodes []placement.Node, err error) {
	err = c.peekAt(ctx, name, func(ctx context.Context, target *cluster.Kubernetes) error {
		nodes, err = target.Nodes(ctx)
		return err
	})
	return nodes, err
}

// peekResolverUsers looks, for a plan, for what asks nameservers in a cluster.
func (c *connections) peekResolverUsers(ctx context.Context, name string, addresses []string) (users []string, err error) {
	err = c.peekAt(ctx, name, func(ctx context.Context, target *cluster.Kubernetes) error {
		users, err = target.ResolverUsers(ctx, addresses)
		return err
	})
	return users, err
}

// peekStrangers looks, for a plan, for objects of others in a cluster.
func (c *connections) peekStrangers(ctx context.Context, name string, ids []bundle.ID) (strangers []bundle.ID, err error) {
	err = c.peekAt(ctx, name, func(ctx context.Context, target *cluster.Kubernetes) error {
		strangers, err = target.Strangers(ctx, ids)
		return err
	})
	return strangers, err
}

// peekNamespace looks at who made a namespace of a cluster, for a plan.
func (c *connections) peekNamespace(ctx context.Context, name, namespace string) (release.MadeBy, error) {
	is := release.NotKnown
	err := c.peekAt(ctx, name, func(ctx context.Context, target *cluster.Kubernetes) error {
		live, err := target.Get(ctx, bundle.ID{Cluster: name, Kind: "Namespace", Name: namespace})
		switch {
		case err != nil:
		case live == nil:
			is = release.Nobody
		case live.Ours(c.options.Installation):
			is = release.Us
		default:
			is = release.Others
		}
		return err
	})
	return is, err
}

// peekAt connects to a cluster for one look, if it is an API server. What
// answers in the cluster's place is not looked at.
func (c *connections) peekAt(ctx context.Context, name string, look func(ctx context.Context, target *cluster.Kubernetes) error) error {
	ctx, cancel := context.WithTimeout(ctx, peekTimeout)
	defer cancel()
	spec, _, err := c.read(ctx, name)
	if err != nil || spec.KubeconfigRef == "" {
		return err
	}
	target, source, err := c.kubernetes(ctx, name, spec)
	if err != nil {
		return err
	}
	defer target.Close()
	uid, err := target.Identity(ctx)
	if err != nil {
		return err
	}
	if err := c.identities.ledger.Judge(ctx, ledger.Claim{Cluster: name, UID: uid, Source: source}); err != nil {
		return err
	}
	return look(ctx, target)
}
