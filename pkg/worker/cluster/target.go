// Package cluster is the edge to one cluster. Small synchronous requests never adopt or
// overwrite what they have not seen. Watches tell what the cluster holds without asking
// for it. A cluster is a Kubernetes API server (package kubeapi), or a directory of
// manifests that somebody's GitOps tool applies (package directory).
//
// Kubernetes' own types stay in here: only bundle.Object, identities and observations go
// in or out.
package cluster

import (
	"context"
	"time"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
)

// RequestDeadline is how long one request may take. It lies inside the lease
// by which a worker owns a cluster, so that no request outlives ownership.
const RequestDeadline = 10 * time.Second

// DefaultMemory is how many bytes may be kept of what a cluster answers.
const DefaultMemory = 48 << 20

// Version is a state of an object at which a write may happen: of this UID
// and at this resource version.
type Version struct {
	UID             string
	ResourceVersion string
}

// Live is what a cluster holds of an object, without its content.
type Live struct {
	Version
	Generation  int64 // 0 for kinds that have none
	Observed    int64 // the generation that external-dns has noted in a DNSEndpoint; 0 for other kinds, and where only requests tell
	Labels      map[string]string
	Annotations map[string]string
	Deleting    bool   // a delete was accepted and has not finished
	ChangedBy   string // who has changed it last, besides Signpost; empty where that is not told

	Additions Additions // of others; answered by Create, Apply and Restore alone, of objects that Signpost renders
}

// Target is one cluster. Its methods are safe for concurrent use, obey their
// context and take at most RequestDeadline each. Errors are *fault.Error values.
type Target interface {
	// Identity answers what tells this cluster from any other, also from a
	// later one under the same name. It serves as the probe too.
	Identity(ctx context.Context) (string, error)

	// Get answers the object, nil when the cluster positively has none.
	Get(ctx context.Context, id bundle.ID) (*Live, error)

	// Create makes the object, with the installation's labels, and never
	// adopts one: Exists when there is one already.
	Create(ctx context.Context, o bundle.Object) (Live, error)

	// Apply gives the object of exactly this version the content of o, and takes the
	// fields over from other managers. It is fault.Stale if the object is at another version,
	// or gone. Applying what is there already changes nothing.
	Apply(ctx context.Context, o bundle.Object, at Version) (Live, error)

	// Restore removes additions of others from the part of the object that is Signpost's
	// alone. It is fault.Stale if the object is not at exactly this version, or gone.
	Restore(ctx context.Context, o bundle.Object, at Version) (Live, error)

	// Delete removes the object of exactly this version, its dependents in the
	// background. It is nil when the object is gone or going, fault.Stale when it is at another
	// version.
	Delete(ctx context.Context, id bundle.ID, at Version) error

	// Share puts the keys of a shared object (bundle.Object.Shared) into somebody else's
	// of that name, in place of those that were put there before. If the object is
	// missing, Share makes it. Keys of others stay as they are. Sharing what is there
	// already changes nothing.
	Share(ctx context.Context, o bundle.Object) (Live, error)

	// Unshare takes out the keys that Share has put in. It leaves the object to others,
	// even when it holds nothing any more; nil when it is gone.
	Unshare(ctx context.Context, id bundle.ID) error

	// Established tells whether the cluster serves objects of the kind.
	Established(ctx context.Context, kind Kind) (bool, error)

	// Occupant names something that the namespace holds, empty when it holds
	// nothing but what every namespace is born with.
	Occupant(ctx context.Context, namespace string) (string, error)

	// Metrics reads the metrics that a pod serves in plain text at /metrics of
	// a port.
	Metrics(ctx context.Context, namespace, pod string, port int32) (Metrics, error)

	// Watch begins to watch the cluster until ctx ends or Stop is called.
	Watch(ctx context.Context, notify Notify) Watches

	// Close closes the connections. All watches have to be stopped before.
	Close()
}

// Notify is called, without blocking, as things change in a cluster.
type Notify struct {
	Objects   func(changed ...bundle.ID)      // objects of ours, without their cluster; none: any of them, or whether they can be seen
	Addresses func(namespace, service string) // a Service of interest or what leads to it; without a name: any of the namespace, without both: any, and nodes
	Workloads func()                          // Deployments and DaemonSets of ours
	Pods      func()                          // pods of interest, and how a built-in publisher does
	Published func(changed ...bundle.ID)      // DNSEndpoints of which external-dns, or a built-in publisher, tells something else; none: any of them
}

// Quiet tells nobody.
func Quiet() Notify {
	return Notify{Objects: func(...bundle.ID) {}, Addresses: func(string, string) {}, Workloads: func() {}, Pods: func() {}, Published: func(...bundle.ID) {}}
}

// Interest says what is watched.
type Interest struct {
	Kinds      []Kind   // objects of these kinds that carry the installation's label
	Namespaces []string // all Services of these namespaces, and what leads to them
	Pods       []string // all pods of external-dns and of CoreDNS that are ours, in these namespaces
	Nodes      bool     // all nodes
}

// Watches is what is known of a cluster from watching it. Unknown is never
// empty: what has not been listed completely, or whose watch has failed since,
// is not known.
type Watches interface {
	// Follow sets what is watched. A watch that exists already goes on.
	Follow(interest Interest)

	// Object answers what is known of an object of ours. It is known only if the watch
	// has come at least as far as the resource version, "" for any.
	Object(id bundle.ID, atLeast string) Sight

	// Service answers what the Service and what leads to it offer, Found false
	// when it is positively absent. Of a kind that the cluster does not serve, or
	// does not let Signpost see, nothing is known, and Unseen says so.
	Service(namespace, name string) (observation address.Observation, known bool)

	// Deployment answers whether a Deployment of ours is available, nil when
	// there is none.
	Deployment(namespace, name string) (availability *Availability, known bool)

	// DaemonSet answers the same of a DaemonSet.
	DaemonSet(namespace, name string) (availability *Availability, known bool)

	// Pods answers the pods of a namespace that carry the labels, the newest first,
	// without those on their way out. An error says why they are not known.
	Pods(namespace string, labels map[string]string) ([]Pod, error)

	// Nodes answers the cluster's nodes, ordered by name.
	Nodes() (nodes []placement.Node, known bool)

	// Trouble is the first error that keeps a watch from working, nil when
	// all work or have yet to begin. That pods cannot be watched is none, and
	// neither that what leads to Services cannot: it keeps nothing from being
	// applied.
	Trouble() error

	// Stop ends the watches and waits for nothing.
	Stop()
}

// Sight is what watching tells of an object: nothing unless Known, and that
// it is absent if Live is nil then.
type Sight struct {
	Known bool
	Live  *Live
}

// Availability is the state of a Deployment or a DaemonSet.
type Availability struct {
	Available bool
	Desired   int32  // of a DaemonSet: how many pods there are to be, one on each suitable node
	Ready     int32  // pods that are ready
	Message   string // why it is not available, or that a DaemonSet's pods are being replaced
}

// Values opens the sealed values that Secrets refer to.
type Values interface {
	Secret(ctx context.Context, id string) ([]byte, error)
}

// Options are what a Target needs beside its address.
type Options struct {
	Installation string // marks the objects that are ours
	Values       Values // nil: Secrets that need values are refused
	Version      string // of Signpost, for the user agent
	Replica      string // which of its processes this is, for the user agent; empty: it does not say

	// Budget is what the cluster's answers may cost, of all targets that lead to it;
	// nil: one of DefaultMemory for this target.
	Budget *bounded.Budget

	// ScanEvery is the time between two scans of a directory cluster for files that
	// others changed; 0: ScanInterval.
	ScanEvery time.Duration
}

// Agent is who Signpost says that it is, to be found in audit logs.
func (o Options) Agent() string {
	if o.Replica == "" {
		return "signpost/" + o.Version
	}
	return "signpost/" + o.Version + " (replica " + o.Replica + ")"
}

// Pod is what watching tells of a pod of an external-dns or of CoreDNS.
type Pod struct {
	Name    string
	Labels  map[string]string
	Created time.Time
	Ready   bool             // it may be asked for its metrics
	Trouble string           // why it does not run as it should; empty: nothing is known to be wrong
	Waiting bool             // its containers are being prepared, and nothing says what for
	Args    []string         // of the first container
	Ports   map[string]int32 // of the first container, by name; that of metrics may be an annotation alone
	Secrets []string         // the Secrets that it cannot start without, in order
}

// Additions are what others have added to an object that Signpost renders, as its
// managedFields tell. They are no defaults, no status, and nothing that a subresource
// sets.
type Additions struct {
	Exclusive []string // paths in a part of the object that is Signpost's alone
	Other     []string // paths in other parts, with who added them, as in "data.extra (kubectl-edit)"
}

// Rendered tells whether Signpost has rendered the object itself: an app's manifests
// are their authors' and their controllers'.
func (c *Content) Rendered() bool {
	labels, _ := c.child("metadata")["labels"].(map[string]any)
	_, ofProject := labels[bundle.LabelProject]
	_, ofApp := labels[bundle.LabelApp]
	_, ofRecord := labels[bundle.LabelRecord]
	return ofProject && (!ofApp || ofRecord)
}

// Checked is a check of a preflight.
func Checked(name string, ok bool, message string) intent.Check {
	return intent.Check{Name: name, OK: ok, Message: message}
}
