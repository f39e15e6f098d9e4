// Package kubeapi reaches the API server of a cluster: requests, and watches of what addresses and
// readiness follow from.
package kubeapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	accessclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	discoveryclient "k8s.io/client-go/kubernetes/typed/discovery/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/account"
)

// FieldManager is the name under which Signpost owns fields.
const FieldManager = "signpost"

// How hard one connection may press an API server. The syncer is held back by
// sending at most eight requests at a time. An API server answers so many about a
// thousand times in a second. The default of client-go, 5 per second, would throttle far below
// that.
const (
	requestsPerSecond = 2000
	requestBurst      = 2000
	dialTimeout       = 5 * time.Second
)

// Kubernetes is a Target over an API server.
type Kubernetes struct {
	options   cluster.Options
	budget    *bounded.Budget
	http      *http.Client
	metadata  metadata.Interface
	dynamic   dynamic.Interface
	core      coreclient.CoreV1Interface
	proxied   coreclient.CoreV1Interface // what pods answer
	apps      appsclient.AppsV1Interface
	discovery discoveryclient.DiscoveryV1Interface
	access    accessclient.AuthorizationV1Interface
	kinds     *catalogue
	shows     account.Credentials
}

var _ cluster.Target = (*Kubernetes)(nil)

// NewKubernetes makes a Target over the API server of config. It sends
// nothing yet.
func NewKubernetes(config *rest.Config, options cluster.Options) (*Kubernetes, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = options.Agent()
	config.QPS, config.Burst = requestsPerSecond, requestBurst
	config.Timeout = 0 // it would end watches; each request has its own deadline
	config.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext
	config.WarningHandler = rest.NoWarnings{} // they would be log lines of the cluster's own making
	config.Wrap(bounded.LimitHeaders)
	budget := cmp.Or(options.Budget, bounded.NewBudget(cluster.DefaultMemory))
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", Source(config), err)
	}
	client.Transport = traced{answersIn(budget, client.Transport)}
	k := &Kubernetes{options: options, http: client, budget: budget, shows: account.CredentialsOf(config)}
	brief := &http.Client{Transport: shortened{client.Transport, cluster.LongestMetrics + 1}}
	hurried := &http.Client{Transport: client.Transport, Timeout: cluster.RequestDeadline}
	var wrong [8]error
	k.metadata, wrong[0] = metadata.NewForConfigAndClient(config, client)
	k.dynamic, wrong[1] = dynamic.NewForConfigAndClient(config, client)
	k.core, wrong[2] = coreclient.NewForConfigAndClient(config, client)
	k.proxied, wrong[3] = coreclient.NewForConfigAndClient(config, brief)
	k.apps, wrong[4] = appsclient.NewForConfigAndClient(config, client)
	k.discovery, wrong[5] = discoveryclient.NewForConfigAndClient(config, client)
	k.access, wrong[6] = accessclient.NewForConfigAndClient(config, client)
	known, err := discovery.NewDiscoveryClientForConfigAndClient(config, hurried)
	wrong[7] = err
	if err := cmp.Or(wrong[:]...); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", Source(config), err)
	}
	k.kinds = newCatalogue(known)
	return k, nil
}

// Identity answers the UID of the namespace kube-system.
func (k *Kubernetes) Identity(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline/2)
	defer cancel()
	namespace, err := k.metadata.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).
		Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", &fault.Error{Fault: fault.Unreachable, Code: http.StatusNotFound, Message: "the API server has no namespace kube-system yet", Err: err}
	}
	if err != nil {
		return "", cluster.Classify(err, cluster.Reading)
	}
	return string(namespace.UID), nil
}

// Get implements Target. An object of a kind that is not served is absent.
func (k *Kubernetes) Get(ctx context.Context, id bundle.ID) (*cluster.Live, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	var object *metav1.PartialObjectMetadata
	err := k.served(ctx, cluster.KindOf(id), time.Now(), func(r cluster.Resource) error {
		at, err := k.at(id, r)
		if err == nil {
			object, err = at.Get(ctx, id.Name, metav1.GetOptions{})
		}
		return err
	})
	if err = cluster.Classify(err, cluster.Reading); fault.Of(err) == cluster.NotServed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	live := liveOf(object)
	return &live, nil
}

// Create implements Target. A server-side apply with the resource version 1,
// which no object has, creates or conflicts, and never adopts.
func (k *Kubernetes) Create(ctx context.Context, o bundle.Object) (cluster.Live, error) {
	return k.patch(ctx, o, cluster.Version{ResourceVersion: "1"}, cluster.Creating)
}

// Apply implements Target. The UID keeps a server-side apply from creating an
// object that is gone.
func (k *Kubernetes) Apply(ctx context.Context, o bundle.Object, at cluster.Version) (cluster.Live, error) {
	if at.UID == "" || at.ResourceVersion == "" {
		return cluster.Live{}, &fault.Error{Fault: fault.Stale, Message: o.ID.String() + " has not been looked at"}
	}
	return k.patch(ctx, o, at, cluster.Applying)
}

func (k *Kubernetes) patch(ctx context.Context, o bundle.Object, version cluster.Version, v cluster.Verb) (cluster.Live, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	c, err := cluster.Parse(o, k.options.Installation)
	if err != nil {
		return cluster.Live{}, err
	}
	if err := c.Fill(ctx, k.options.Values); err != nil {
		return cluster.Live{}, err
	}
	c.At(version)
	raw, err := c.JSON()
	if err != nil {
		return cluster.Live{}, err
	}
	at, err := k.resource(ctx, o.ID, c.APIVersion)
	if err != nil {
		return cluster.Live{}, err
	}
	force := true
	object, err := at.Patch(ctx, o.Name, types.ApplyPatchType, raw, metav1.PatchOptions{FieldManager: FieldManager, Force: &force})
	if err != nil {
		return cluster.Live{}, c.Scrub(cluster.Classify(err, v))
	}
	live := liveOf(object)
	if c.Rendered() {
		live.Additions = additionsOf(cluster.KindOf(o.ID), object.GetManagedFields())
	}
	return live, nil
}

// Delete implements Target.
func (k *Kubernetes) Delete(ctx context.Context, id bundle.ID, version cluster.Version) error {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	at, err := k.resource(ctx, id, "")
	if err != nil {
		if fault.Of(err) == cluster.NotServed {
			return nil
		}
		return err
	}
	uid, background := types.UID(version.UID), metav1.DeletePropagationBackground
	err = at.Delete(ctx, id.Name, metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &uid, ResourceVersion: &version.ResourceVersion},
		PropagationPolicy: &background,
	})
	if apierrors.IsNotFound(err) && !pathless(err) {
		return nil
	}
	return cluster.Classify(err, cluster.Deleting)
}

// Established implements Target.
func (k *Kubernetes) Established(ctx context.Context, kind cluster.Kind) (bool, error) {
	r, known := cluster.Lookup(kind)
	if known && !r.Custom {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	if !known {
		_, err := k.kinds.find(ctx, kind)
		if fault.Of(err) == cluster.NotServed {
			return false, nil
		}
		return err == nil, err
	}
	return k.definitionEstablished(ctx, r.Plural+"."+kind.Group)
}

// definitionEstablished reads the one condition of a CustomResourceDefinition
// that matters, without the schema types that the whole would need.
func (k *Kubernetes) definitionEstablished(ctx context.Context, name string) (bool, error) {
	raw, err := k.core.RESTClient().Get().AbsPath("/apis", cluster.GroupDefinitions, "v1", "customresourcedefinitions", name).
		SetHeader("Accept", "application/json").Do(ctx).Raw()
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, cluster.Classify(err, cluster.Reading)
	}
	var definition struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err := json.Unmarshal(raw, &definition); err != nil {
		return false, &fault.Error{Fault: fault.Unreachable, Message: "the answer is not a CustomResourceDefinition", Err: err}
	}
	for _, c := range definition.Status.Conditions {
		if c.Type == "Established" {
			return c.Status == "True", nil
		}
	}
	return false, nil
}

// RenewToken gets a new token of the ServiceAccount whose token a connection shows. It
// lasts no longer than that one did, which its owner chose.
func RenewToken(ctx context.Context, k *Kubernetes) (account.Token, error) {
	return account.Request(ctx, k.core, k.shows.Namespace, k.shows.Name, k.shows.Expires.Sub(k.shows.Issued))
}

// Close implements Target.
func (k *Kubernetes) Close() { utilnet.CloseIdleConnectionsFor(k.http.Transport) }

// resource is the client for the object's kind, in the version of the object, or in the
// one that the kind is read by.
func (k *Kubernetes) resource(ctx context.Context, id bundle.ID, apiVersion string) (metadata.ResourceInterface, error) {
	r, err := k.kinds.find(ctx, cluster.KindOf(id))
	if err != nil {
		return nil, err
	}
	if apiVersion != "" {
		gv, err := schema.ParseGroupVersion(apiVersion)
		if err != nil || gv.Group != id.Group {
			return nil, cluster.Refuse(id.String() + " has an apiVersion that does not parse")
		}
		r.Version = gv.Version
	}
	return k.at(id, r)
}

// at is the client for the object, of a kind that the cluster calls so.
func (k *Kubernetes) at(id bundle.ID, r cluster.Resource) (metadata.ResourceInterface, error) {
	if r.ClusterScoped != (id.Namespace == "") {
		return nil, cluster.Refuse(id.String() + ": objects of this kind " + scopeWords(r.ClusterScoped))
	}
	all := k.metadata.Resource(schema.GroupVersionResource{Group: id.Group, Version: r.Version, Resource: r.Plural})
	if r.ClusterScoped {
		return all, nil
	}
	return all.Namespace(id.Namespace), nil
}

func scopeWords(clusterScoped bool) string {
	if clusterScoped {
		return "stand outside namespaces"
	}
	return "need a namespace"
}

func liveOf(object metav1.Object) cluster.Live {
	return cluster.Live{
		Version:     cluster.Version{UID: string(object.GetUID()), ResourceVersion: object.GetResourceVersion()},
		Generation:  object.GetGeneration(),
		Labels:      object.GetLabels(),
		Annotations: object.GetAnnotations(),
		Deleting:    object.GetDeletionTimestamp() != nil,
		ChangedBy:   changedBy(object.GetManagedFields()),
	}
}
