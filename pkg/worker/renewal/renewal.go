// Package renewal renews the tokens of clusters before they end.
package renewal

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/account"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

// The rhythm of renewing.
const (
	every  = time.Minute
	atOnce = 8 // clusters that are asked for a token
)

// Values are the sealed values that documents refer to.
type Values interface {
	Secret(ctx context.Context, id string) ([]byte, error)
	Store(ctx context.Context, path intent.Path, field string, plain []byte) (id string, err error)
}

// Clusters reaches clusters.
type Clusters interface {
	// RenewToken gets a new token of the ServiceAccount whose token the kubeconfig has.
	RenewToken(ctx context.Context, cluster intent.Path, kubeconfig []byte) (account.Token, error)
}

// Renewer renews the tokens of all clusters. Several replicas may do so at once. The
// revision of the cluster's document decides whose token counts, and the other tokens end
// by themselves.
type Renewer struct {
	documents intent.Store
	values    Values
	clusters  Clusters
	now       func() time.Time
	log       *slog.Logger
	ends      *prometheus.GaugeVec
	lifetime  *prometheus.GaugeVec

	known   map[string]account.Credentials // by the id of the sealed kubeconfig
	failing map[intent.Path]bool           // clusters of which the log tells already
}

// New makes a Renewer over documents and what they refer to.
func New(documents intent.Store, values Values, clusters Clusters, now func() time.Time, log *slog.Logger, metrics prometheus.Registerer) *Renewer {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"cluster"})
	}
	r := &Renewer{
		documents: documents, values: values, clusters: clusters, now: now, log: log,
		known: map[string]account.Credentials{}, failing: map[intent.Path]bool{},
		ends:     gauge("signpost_cluster_credentials_expiry_timestamp_seconds", "When the credentials of a cluster's kubeconfig end, in Unix time. Credentials without an end have no series."),
		lifetime: gauge("signpost_cluster_credentials_lifetime_seconds", "For how long the credentials of a cluster's kubeconfig were given."),
	}
	metrics.MustRegister(r.ends, r.lifetime)
	return r
}

// measure tells the metrics when credentials end.
func (r *Renewer) measure(all []held) {
	r.ends.Reset()
	r.lifetime.Reset()
	for _, h := range all {
		if c := h.credentials; !c.Expires.IsZero() {
			name := intent.ClusterOf(h.doc.Path).String()
			r.ends.WithLabelValues(name).Set(float64(c.Expires.Unix()))
			r.lifetime.WithLabelValues(name).Set(c.Expires.Sub(c.Issued).Seconds())
		}
	}
}

// Run renews tokens until ctx ends.
func (r *Renewer) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := r.pass(ctx); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "the tokens of clusters cannot be looked after; they are in a minute", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// held is a cluster with its credentials, or why they cannot be read.
type held struct {
	doc         intent.Document
	cluster     intent.Resource[intent.Cluster]
	credentials account.Credentials
	err         error
}

// pass looks at each cluster once.
func (r *Renewer) pass(ctx context.Context) error {
	all, err := r.read(ctx)
	if err != nil {
		return err
	}
	r.measure(all)
	failed := make([]error, len(all))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for n, h := range all {
		if h.credentials.Due(r.now()) {
			group.Go(func() error {
				failed[n] = r.renew(ctx, h)
				return nil
			})
		}
	}
	_ = group.Wait() // no goroutine fails
	for n, h := range all {
		r.tell(ctx, h, errors.Join(h.err, failed[n]))
	}
	return ctx.Err()
}

// tell logs that a token cannot be renewed, once.
func (r *Renewer) tell(ctx context.Context, h held, err error) {
	if err == nil {
		delete(r.failing, h.doc.Path)
		return
	}
	if !r.failing[h.doc.Path] {
		r.log.WarnContext(ctx, "the token of a cluster cannot be renewed; it is tried again each minute", "cluster", intent.ClusterOf(h.doc.Path).String(), "ends", h.credentials.Expires, "error", err)
	}
	r.failing[h.doc.Path] = true
}

// read lists the clusters that have a kubeconfig. A kubeconfig is opened once.
func (r *Renewer) read(ctx context.Context) ([]held, error) {
	var all []held
	known := map[string]account.Credentials{}
	err := intent.Each(ctx, r.documents, intent.ListOptions{Collection: "cluster-providers", Bytes: intent.PageBytes}, func(provider intent.Document) error {
		of := intent.ListOptions{Collection: string(provider.Path) + "/clusters", Bytes: intent.PageBytes}
		return intent.Each(ctx, r.documents, of, func(doc intent.Document) error {
			cluster, err := intent.Of[intent.Cluster](doc)
			ref := cluster.Spec.KubeconfigRef
			if err != nil { // a damaged document keeps no other cluster from its token
				all = append(all, held{doc: doc, err: err})
				return ctx.Err()
			}
			if ref == "" {
				return nil
			}
			h := held{doc: doc, cluster: cluster}
			if h.credentials, h.err = r.credentials(ctx, ref); h.err == nil {
				known[ref] = h.credentials
			}
			all = append(all, h)
			return ctx.Err()
		})
	})
	if err == nil {
		r.known = known // without those of kubeconfigs that have been replaced
	}
	return all, err
}

// credentials are those of a sealed kubeconfig; of one that has just been replaced, or that
// does not parse, nothing is known.
func (r *Renewer) credentials(ctx context.Context, ref string) (account.Credentials, error) {
	if known, ok := r.known[ref]; ok {
		return known, nil
	}
	raw, err := r.values.Secret(ctx, ref)
	if intent.CodeOf(err) == intent.NotFound {
		return account.Credentials{}, nil
	}
	if err != nil {
		return account.Credentials{}, err
	}
	config, err := kubeapi.ParseKubeconfig(raw)
	if err != nil {
		return account.Credentials{}, nil //nolint:nilerr // whoever connects to the cluster tells of it
	}
	return account.CredentialsOf(config), nil
}

// renew stores a kubeconfig with a new token.
func (r *Renewer) renew(ctx context.Context, h held) error {
	kubeconfig, err := r.values.Secret(ctx, h.cluster.Spec.KubeconfigRef)
	if err != nil {
		return err
	}
	token, err := r.clusters.RenewToken(ctx, h.doc.Path, kubeconfig)
	if err != nil {
		return err
	}
	if !token.Expires.After(h.credentials.Expires) {
		return errors.New("the API server gave a token that ends no later")
	}
	if kubeconfig, err = account.WithToken(kubeconfig, token); err != nil {
		return err
	}
	id, err := r.values.Store(ctx, h.doc.Path, "/spec/kubeconfig", kubeconfig)
	if err != nil {
		return err
	}
	err = r.put(ctx, h, id, token.Expires)
	if intent.CodeOf(err) == intent.PreconditionFailed || intent.CodeOf(err) == intent.NotFound {
		return nil // it has changed meanwhile, and counts as it is
	}
	if err == nil {
		r.log.InfoContext(ctx, "the token of a cluster is renewed", "cluster", intent.ClusterOf(h.doc.Path).String(), "ends", token.Expires)
	}
	return err
}

// put has the document of a cluster refer to another kubeconfig.
func (r *Renewer) put(ctx context.Context, h held, id string, expires time.Time) error {
	refs := []intent.Path{intent.Join(intent.SecretCollection, id)}
	for _, ref := range h.doc.Refs {
		if ref != intent.Join(intent.SecretCollection, h.cluster.Spec.KubeconfigRef) {
			refs = append(refs, ref)
		}
	}
	h.cluster.Spec.KubeconfigRef, h.cluster.Spec.Expires = id, &expires
	body, err := json.Marshal(h.cluster)
	if err != nil {
		return err
	}
	_, err = r.documents.Put(ctx, intent.Write{Path: h.doc.Path, Refs: refs, Body: body, Condition: intent.IfRevision(h.doc.Revision), Schema: h.doc.Schema})
	return err
}
