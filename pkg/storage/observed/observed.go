// Package observed keeps the last observations of clusters:
//   - the addresses of Services
//   - the availability of Deployments and DaemonSets
//   - the names that external-dns has published, and the answers of authoritative servers
//   - upstreams that fail CoreDNS' health checks, and the nodes for placements
//   - whether the cluster can be reached, and what probes of published addresses have found
//
// A cluster's owner writes, fenced by its key, from complete pictures only; anybody reads. A missing observation is
// unknown, never empty (I11).
package observed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// ErrLost is the error of a writer that no longer owns the cluster, or cannot know. A
// write whose answer was lost may still happen, over later ones. The next claim of the
// cluster fences it off.
var ErrLost = errors.New("the cluster has to be claimed anew")

// ErrMoved is the error of a write whose condition does not hold any more.
var ErrMoved = errors.New("what the write relies on has changed since it was read")

// Reachability tells whether a cluster's owner could reach it.
type Reachability struct {
	Reachable bool      `json:"reachable"`
	Message   string    `json:"message,omitempty"` // why not
	Since     time.Time `json:"since"`             // UTC, of the last change of Reachable

	// Counted is since when the owner that wrote this has seen for itself, without
	// a break, that the cluster does not answer; UTC. It is zero while it does, and
	// while it turns Signpost away, or nobody knows how to reach it.
	Counted time.Time `json:"counted,omitzero"`
	// Owner is the revision of the owner's key: what is counted counts for as long
	// as that is the cluster's owner.
	Owner int64 `json:"owner,omitempty"`
}

// SameButMessage tells whether both say the same, but for the message.
func (r Reachability) SameButMessage(other Reachability) bool {
	return r.Reachable == other.Reachable && r.Owner == other.Owner && r.Since.Equal(other.Since) && r.Counted.Equal(other.Counted)
}

// Deployment is the state of an external-dns Deployment, or another of ours.
type Deployment struct {
	Available bool      `json:"available"`
	Since     time.Time `json:"since,omitzero"`    // UTC, of the last change of Available
	Message   string    `json:"message,omitempty"` // why it is not, and what keeps its pod from running
	Ready     int32     `json:"readyReplicas"`
	Sync      *Sync     `json:"sync,omitempty"` // of an external-dns, once it was looked at
}

// Sync is what an external-dns tells of its synchronizations.
type Sync struct {
	Last    time.Time `json:"last,omitzero"`     // UTC by its own clock: the end of the last one that succeeded; zero: none was seen
	Names   int       `json:"names,omitempty"`   // that it read from the DNS provider then; zero: not known
	Failing string    `json:"failing,omitempty"` // what is wrong with them
	Zone    string    `json:"zone,omitempty"`    // what Signpost's own publisher has found in the whole zone
	Unread  string    `json:"unread,omitempty"`  // why its metrics could not be read when last tried
	Version string    `json:"version,omitempty"` // of the Signpost that writes; empty: an external-dns does
	Adopted string    `json:"adopted,omitempty"` // the owner id whose marks Signpost's own publisher has replaced; empty: nobody's

	AdoptedSince time.Time `json:"adoptedSince,omitzero"` // when that adoption was accepted
}

// Published is what a DNSEndpoint was like when external-dns had put it
// through to the DNS provider: it does not speak of any other generation.
type Published struct {
	UID        string    `json:"uid"`
	Generation int64     `json:"generation"`
	At         time.Time `json:"at"` // UTC by the clock of external-dns: the first successful synchronization seen after it was read
}

// Of tells whether it speaks of this state of a DNSEndpoint.
func (p Published) Of(uid string, generation int64) bool {
	return uid != "" && p.UID == uid && p.Generation == generation
}

// Service is the observation of one Service, as stored.
type Service struct {
	address.Service
	address.Observation
	Revision int64 // the store's revision that wrote it
}

// Compare holds in a transaction while the observation is as it was read.
func (s Service) Compare() kv.Compare {
	return kv.Compare{Key: ServiceKey(s.Service), ModRevision: s.Revision}
}

// Layout of the keys.
const (
	prefix           = "/signpost/observed/"
	serviceFolder    = "service"
	deploymentFolder = "deployment"
	publishedFolder  = "published"
	placementFolder  = "placement"
	daemonSetFolder  = "daemonset"
	answerFolder     = "answer"
	reachability     = "reachability"
)

func clusterPrefix(cluster string) string { return prefix + cluster + "/" }

// ServiceKey is where a Service's observation is. Comparing it to be absent
// asserts that nothing has been observed.
func ServiceKey(s address.Service) string {
	return servicePrefix(s.Cluster) + s.Namespace + "/" + s.Name
}

// DeploymentKey is where the observation of a Deployment is.
func DeploymentKey(cluster, namespace, name string) string {
	return deploymentPrefix(cluster) + namespace + "/" + name
}

func servicePrefix(cluster string) string { return clusterPrefix(cluster) + serviceFolder + "/" }

func deploymentPrefix(cluster string) string { return clusterPrefix(cluster) + deploymentFolder + "/" }

func publishedPrefix(cluster string) string { return clusterPrefix(cluster) + publishedFolder + "/" }

// ReachabilityKey is where it is written whether a cluster can be reached.
func ReachabilityKey(cluster string) string { return clusterPrefix(cluster) + reachability }

// EndpointKeys are where it is written when a DNSEndpoint was published, and how its names are
// answered.
func EndpointKeys(cluster, namespace, endpoint string) []string {
	of := namespace + "/" + endpoint
	return []string{publishedPrefix(cluster) + of, answerPrefix(cluster) + of}
}

// parseService takes a service key apart; ok is false for other keys.
func parseService(key string) (s address.Service, ok bool) {
	segments := strings.Split(strings.TrimPrefix(key, prefix), "/")
	if len(segments) != 4 || segments[1] != serviceFolder {
		return s, false
	}
	return address.Service{Cluster: segments[0], Namespace: segments[2], Name: segments[3]}, true
}

// Store reads and writes observations.
type Store struct{ kv kv.KV }

// New makes a Store over a key-value store.
func New(store kv.KV) *Store { return &Store{kv: store} }

// ServicesOf answers the observations of some Services, without those that have none.
func (s *Store) ServicesOf(ctx context.Context, names []address.Service) (map[address.Service]*Service, error) {
	keys, of := make([]string, len(names)), make(map[string]address.Service, len(names))
	for n, name := range names {
		keys[n] = ServiceKey(name)
		of[keys[n]] = name
	}
	found := make(map[address.Service]*Service, len(names))
	if len(keys) == 0 {
		return found, nil
	}
	items, _, err := s.kv.Range(ctx, kv.Range{Keys: keys})
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		o, err := decode[address.Observation](item)
		if err != nil {
			return nil, err
		}
		found[of[item.Key]] = &Service{Service: of[item.Key], Observation: o, Revision: item.ModRevision}
	}
	return found, nil
}

// Service answers the observation of one Service, nil when nothing has been
// observed.
func (s *Store) Service(ctx context.Context, name address.Service) (*Service, error) {
	item, _, err := s.kv.Get(ctx, ServiceKey(name))
	if item == nil || err != nil {
		return nil, err
	}
	o, err := decode[address.Observation](*item)
	return &Service{Service: name, Observation: o, Revision: item.ModRevision}, err
}

// Reachability answers whether the cluster could be reached, nil when nobody
// has tried yet.
func (s *Store) Reachability(ctx context.Context, cluster string) (*Reachability, error) {
	return read[Reachability](ctx, s, ReachabilityKey(cluster))
}

// Reachabilities answers which clusters could be reached, by their names: of
// those that somebody has tried to. It reads a few keys of each cluster.
func (s *Store) Reachabilities(ctx context.Context) (map[string]Reachability, error) {
	names, err := s.Clusters(ctx)
	if err != nil {
		return nil, err
	}
	return s.ReachabilitiesOf(ctx, names)
}

// ReachabilitiesOf answers the same of some clusters, in one request.
func (s *Store) ReachabilitiesOf(ctx context.Context, clusters []string) (map[string]Reachability, error) {
	keys := make([]string, len(clusters)) // not nil: none are asked for
	for n, cluster := range clusters {
		keys[n] = ReachabilityKey(cluster)
	}
	items, _, err := s.kv.Range(ctx, kv.Range{Keys: keys})
	if err != nil {
		return nil, err
	}
	some := map[string]Reachability{}
	for _, item := range items {
		name := strings.TrimSuffix(strings.TrimPrefix(item.Key, prefix), "/"+reachability)
		if some[name], err = decode[Reachability](item); err != nil {
			return nil, err
		}
	}
	return some, nil
}

// Deployment answers the state of a Deployment, nil when it cannot be
// observed.
func (s *Store) Deployment(ctx context.Context, cluster, namespace, name string) (*Deployment, error) {
	return read[Deployment](ctx, s, DeploymentKey(cluster, namespace, name))
}

// Published answers when some DNSEndpoints of a namespace were published, by their names.
// Missing ones were never seen to be.
func (s *Store) Published(ctx context.Context, cluster, namespace string, endpoints ...string) (map[string]Published, error) {
	under := publishedPrefix(cluster) + namespace + "/"
	items, _, err := s.kv.Range(ctx, below(under, endpoints))
	if err != nil {
		return nil, err
	}
	out := map[string]Published{}
	for _, item := range items {
		if out[strings.TrimPrefix(item.Key, under)], err = decode[Published](item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// read reads what is stored at a key, nil for nothing.
func read[T any](ctx context.Context, s *Store, key string) (*T, error) {
	item, _, err := s.kv.Get(ctx, key)
	if err != nil || item == nil {
		return nil, err
	}
	value, err := decode[T](*item)
	return &value, err
}

func decode[T any](item kv.Item) (value T, err error) {
	if err = json.Unmarshal(item.Value, &value); err != nil {
		err = fmt.Errorf("%s: %w", item.Key, err)
	}
	return value, err
}

// Clusters answers the names of all clusters of which something was observed,
// in order. It reads one key of each.
func (s *Store) Clusters(ctx context.Context) ([]string, error) {
	return kv.Segments(ctx, s.kv, prefix)
}

// Forget is what drops all that was observed of a cluster.
func Forget(cluster string) kv.Op { return kv.DeletePrefix(clusterPrefix(cluster)) }

// Change is a batch of observations that changed. Lost says that history is
// missing: the reader looks at everything again.
type Change struct {
	Services   []address.Service
	Placements []string  // clusters of which a verdict changed, each once
	Reached    []string  // clusters whose reachability changed, each once
	Probed     []string  // paths of owners of whose addresses probes have found something
	Answers    []Answers // of DNSEndpoints whose names are answered otherwise
	Clusters   []string  // clusters of which anything changed, each once
	Lost       bool
}

// Watch tells what changes from a revision on (inclusive) until ctx ends, when
// the channel closes.
func (s *Store) Watch(ctx context.Context, from int64) <-chan Change {
	return kv.Map(ctx, s.kv.Watch(ctx, prefix, from), changeOf)
}

func changeOf(batch kv.Batch) Change {
	change := Change{Lost: batch.Compacted}
	for _, event := range batch.Events {
		if service, ok := parseService(event.Key); ok {
			change.Services = append(change.Services, service)
		}
		if cluster, _, ok := parsePlacement(event.Key); ok && !slices.Contains(change.Placements, cluster) {
			change.Placements = append(change.Placements, cluster)
		}
		if owners, ok := parseProbes(event); ok {
			change.Probed = append(change.Probed, owners...)
		}
		if answers, ok := parseAnswers(event); ok {
			change.Answers = append(change.Answers, answers)
		}
		cluster, what, _ := strings.Cut(strings.TrimPrefix(event.Key, prefix), "/")
		if what == reachability && !slices.Contains(change.Reached, cluster) {
			change.Reached = append(change.Reached, cluster)
		}
		if !slices.Contains(change.Clusters, cluster) {
			change.Clusters = append(change.Clusters, cluster)
		}
	}
	return change
}
