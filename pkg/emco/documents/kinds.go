package documents

import (
	"context"
	"encoding/json"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// kind is how documents of one kind are read.
type kind struct {
	from *service

	// translate makes a document of Signpost's of one of EMCO's, which lies in
	// a collection. NotFound when it has gone meanwhile.
	translate func(ctx context.Context, collection string, raw json.RawMessage) (name string, body []byte, err error)
}

// kindOf is the kind of the documents of a collection, if EMCO keeps them.
func (s *Store) kindOf(collection string) (kind, bool) {
	k := kind{}
	switch shape(collection) {
	case "projects":
		k = kind{s.orchestrator, plain(s.orchestrator, s.project)}
	case "projects/composite-apps":
		k = kind{s.orchestrator, s.compositeApp}
	case "projects/composite-apps/deployment-intent-groups":
		k = kind{s.orchestrator, s.group}
	case "projects/logical-clouds":
		k = kind{s.dcm, plain(s.dcm, logicalCloud)}
	case "projects/logical-clouds/cluster-references":
		k = kind{s.dcm, plain(s.dcm, clusterReference)}
	case "projects/logical-clouds/kv-pairs":
		k = kind{s.dcm, plain(s.dcm, pairs)}
	case "cluster-providers":
		k = kind{s.clm, plain(s.clm, clusterProvider)}
	case "cluster-providers/clusters":
		k = kind{s.clm, s.cluster}
	case "cluster-providers/clusters/kv-pairs":
		k = kind{s.clm, plain(s.clm, pairs)}
	}
	return k, k.from != nil
}

// shape is a collection without the names above it.
func shape(collection string) string {
	var kinds []string
	for collection != "" {
		cut := strings.LastIndexByte(collection, '/')
		kinds = append([]string{collection[cut+1:]}, kinds...)
		if cut < 0 {
			break
		}
		collection = intent.Path(collection[:cut]).Collection()
	}
	return strings.Join(kinds, "/")
}

// read reads an answer of a service as a document of the wire.
func read[Spec any](s *service, collection string, raw json.RawMessage) (wire[Spec], error) {
	var w wire[Spec]
	err := s.decode(raw, collection, &w)
	if err == nil && !isName(w.Metadata.Name) {
		err = s.unavailable("has a document in /v2/"+collection+" without a name", nil)
	}
	return w, err
}

// isName tells whether EMCO can have given a document the name. No other name is asked
// for, so that no request leaves the path that it is meant for.
func isName(name string) bool {
	for _, c := range name {
		if c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return name != "" && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".")
}

// plain translates documents whose spec follows from their name and EMCO's spec alone.
func plain[Theirs, Ours any](from *service, ours func(name string, theirs Theirs) Ours) func(context.Context, string, json.RawMessage) (string, []byte, error) {
	return func(_ context.Context, collection string, raw json.RawMessage) (string, []byte, error) {
		w, err := read[Theirs](from, collection, raw)
		if err != nil {
			return "", nil, err
		}
		return w.Metadata.document(ours(w.Metadata.Name, w.Spec))
	}
}

func (s *Store) project(name string, _ nothing) intent.Project {
	return intent.Project{Namespace: s.Namespace(name)}
}

func logicalCloud(name string, w wireCloud) intent.LogicalCloud {
	return intent.LogicalCloud{Namespace: w.namespace(name)}
}

func clusterReference(_ string, w intent.ClusterReference) intent.ClusterReference { return w }

func clusterProvider(string, nothing) intent.ClusterProvider { return intent.ClusterProvider{} }

// pairs are KV pairs, which both DCM and CLM keep.
func pairs(_ string, w intent.KVPairs) intent.KVPairs {
	if w.KV == nil {
		w.KV = []map[string]json.RawMessage{}
	}
	return w
}

func (s *Store) compositeApp(_ context.Context, collection string, raw json.RawMessage) (string, []byte, error) {
	w, err := read[wireCompositeApp](s.orchestrator, collection, raw)
	if err == nil && !isName(w.Spec.CompositeAppVersion) {
		err = s.orchestrator.unavailable("has a composite app in /v2/"+collection+" without a version", nil)
	}
	if err != nil {
		return "", nil, err
	}
	name, body, err := w.Metadata.document(intent.CompositeApp{CompositeAppVersion: w.Spec.CompositeAppVersion})
	return name + "/" + w.Spec.CompositeAppVersion, body, err
}

// group reads a deployment intent group. Its apps are those of its composite
// app; where they run is known once they are deployed.
func (s *Store) group(ctx context.Context, collection string, raw json.RawMessage) (string, []byte, error) {
	w, err := read[wireGroup](s.orchestrator, collection, raw)
	if err != nil {
		return "", nil, err
	}
	charts, err := list(ctx, s.orchestrator, strings.TrimSuffix(collection, "deployment-intent-groups")+"apps")
	if err != nil {
		return "", nil, err
	}
	spec := intent.DeploymentIntentGroup{LogicalCloud: w.Spec.LogicalCloud}
	for _, chart := range charts {
		app, err := read[nothing](s.orchestrator, collection, chart)
		if err != nil {
			return "", nil, err
		}
		spec.Apps = append(spec.Apps, intent.App{Name: app.Metadata.Name})
	}
	return w.Metadata.document(spec)
}

// cluster reads a cluster, its labels and its kubeconfig, of which the document
// holds a keyed digest alone. A cluster that is pushed to by way of a Git
// repository has none: it is inventory only.
func (s *Store) cluster(ctx context.Context, collection string, raw json.RawMessage) (string, []byte, error) {
	w, err := read[wireCluster](s.clm, collection, raw)
	if err != nil {
		return "", nil, err
	}
	path := intent.Join(collection, w.Metadata.Name)
	var words []json.RawMessage
	var kubeconfig []byte
	reads, reading := errgroup.WithContext(ctx)
	reads.Go(func() (err error) { words, err = list(reading, s.clm, string(path)+"/labels"); return err })
	if w.Spec.GitOps.Type == "" {
		reads.Go(func() (err error) { kubeconfig, err = s.clm.get(reading, string(path), asFile); return err })
	}
	if err := reads.Wait(); err != nil {
		return "", nil, err
	}
	spec := intent.Cluster{KubeconfigRef: s.reference(path, kubeconfig)}
	for _, word := range words {
		var label wireLabel
		if err := s.clm.decode(word, string(path)+"/labels", &label); err != nil {
			return "", nil, err
		}
		if spec.Labels == nil {
			spec.Labels = map[string]string{}
		}
		spec.Labels[label.Label] = ""
	}
	return w.Metadata.document(spec)
}

// list reads a bare list, which is null when it is empty.
func list(ctx context.Context, from *service, collection string) ([]json.RawMessage, error) {
	raw, err := from.get(ctx, collection, asJSON)
	if intent.CodeOf(err) == intent.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	err = from.decode(raw, collection, &items)
	return items, err
}
