package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/signpost-dns/signpost/pkg/admission/projects"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	emcodocuments "github.com/signpost-dns/signpost/pkg/emco/documents"
	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/emco/rsync"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/vault"
)

// emco is where EMCO's services are.
func (e EMCO) emco() (emcodocuments.Options, error) {
	var o emcodocuments.Options
	for _, at := range []struct {
		flag, given, example string
		base                 **url.URL
	}{
		{"--emco-orchestrator", e.EMCOOrchestrator, "http://orchestrator.emco:9015", &o.Orchestrator},
		{"--emco-dcm", e.EMCODCM, "http://dcm.emco:9077", &o.DCM},
		{"--emco-clm", e.EMCOCLM, "http://clm.emco:9061", &o.CLM},
	} {
		if at.given == "" {
			continue
		}
		base, err := url.Parse(at.given)
		if err != nil {
			return o, fmt.Errorf("%s: it is not a URL; give one such as %s", at.flag, at.example)
		}
		if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
			return o, fmt.Errorf("%s: it is not a base URL; give one such as %s", at.flag, at.example)
		}
		if strings.HasSuffix(strings.TrimSuffix(base.Path, "/"), "/v2") {
			return o, fmt.Errorf("%s: remove /v2, as in %s", at.flag, at.example)
		}
		*at.base = base
	}
	return o, nil
}

// warnOfOwnEtcd says so where app contexts are in an etcd of Signpost's own,
// beside an EMCO that neither writes nor reads there.
func warnOfOwnEtcd(ctx context.Context, c Config, log *slog.Logger) {
	if c.EMCOOrchestrator+c.EMCODCM+c.EMCOCLM+c.RsyncEndpoint != "" && len(c.EtcdEndpoints) == 0 {
		log.WarnContext(ctx, "EMCO cannot reach the embedded etcd, so none of its app contexts will be found: give --etcd-endpoints the etcd of its orchestrator")
	}
}

// openEMCO has the documents that EMCO keeps read there, and own keep all
// others.
func openEMCO(ctx context.Context, c Config, own intent.Store, values *vault.Vault, log *slog.Logger, metrics prometheus.Registerer) (*emcodocuments.Store, error) {
	options, err := c.emco()
	if err == nil && options.CLM != nil {
		options.Digest, err = values.Digest(ctx)
	}
	if err != nil {
		return nil, err
	}
	asked := promauto.With(metrics).NewCounterVec(prometheus.CounterOpts{
		Name: "signpost_emco_requests_total",
		Help: "Requests to a service of EMCO, by what they came to: answered, refused or silent.",
	}, []string{"service", "outcome"})
	options.Namespace, options.Log = projects.OwnNamespace, log
	options.Asked = func(service, outcome string) { asked.WithLabelValues(service, outcome).Inc() }
	return emcodocuments.New(own, options), nil
}

// rsync is the client of EMCO's rsync, nil where Signpost puts objects into
// clusters itself.
func (e EMCO) rsync() (*rsync.Client, error) {
	if e.RsyncEndpoint == "" {
		return nil, nil
	}
	client, err := rsync.New(rsync.Options{Endpoint: e.RsyncEndpoint})
	if err != nil {
		return nil, fmt.Errorf("--rsync-endpoint: %w; give one such as rsync.emco:9031", err)
	}
	return client, nil
}

// handedBy tells what was handed over to rsync, nil without one.
func handedBy(to *handover.Store) func(context.Context, appcontext.Owner, []string) (appcontext.Children, error) {
	if to == nil {
		return nil
	}
	return to.Children
}

// openRsync is what hands objects over to rsync, nil without one.
func openRsync(ctx context.Context, c Config, store kv.KV, contexts *appcontext.Store, log *slog.Logger, metrics prometheus.Registerer) (*handover.Store, error) {
	client, err := c.rsync()
	if err != nil {
		return nil, err
	}
	if client == nil {
		return nil, handover.Dissolve(ctx, store)
	}
	return handover.New(handover.Options{KV: store, Contexts: contexts, Rsync: client, Logger: log, Metrics: metrics}), nil
}
