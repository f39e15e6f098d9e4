package intent

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// Kind is a kind of documents that users write.
type Kind struct {
	Shape     string // the collections of its path: "projects/logical-clouds"
	One, Many string // its names in the operations of the API, as in getProject and listProjects
	Rank      int    // later than those of all kinds that its documents belong or refer to
	Signposts bool   // an orchestrator has no such documents, or leaves them to controllers
	NamesApp  bool   // its spec has the field app: an app of the deployment intent group
}

// Kinds lists all kinds of documents, by rank.
func Kinds() []Kind {
	const (
		cloud   = "projects/logical-clouds"
		group   = "projects/composite-apps/deployment-intent-groups"
		traffic = group + "/traffic-group-intents"
	)
	return []Kind{
		{Rank: 0, Shape: "projects", One: "Project", Many: "Projects"},
		{Rank: 0, Shape: "cluster-providers", One: "ClusterProvider", Many: "ClusterProviders"},
		{Rank: 1, Shape: "cluster-providers/clusters", One: "Cluster", Many: "Clusters"},
		{Rank: 2, Shape: cloud, One: "LogicalCloud", Many: "LogicalClouds"},
		{Rank: 3, Shape: "projects/dns-update-records", One: "DNSUpdateRecord", Many: "DNSUpdateRecords", Signposts: true},
		{Rank: 3, Shape: cloud + "/cluster-references", One: "ClusterReference", Many: "ClusterReferences"},
		{Rank: 3, Shape: "projects/composite-apps", One: "CompositeApp", Many: "CompositeApps"},
		{Rank: 4, Shape: cloud + "/kv-pairs", One: "LogicalCloudKVPairs", Many: "LogicalCloudKVPairs"},
		{Rank: 4, Shape: "cluster-providers/clusters/kv-pairs", One: "ClusterKVPairs", Many: "ClusterKVPairs"},
		{Rank: 4, Shape: "projects/" + NamesCollection, One: "Name", Many: "Names", Signposts: true},
		{Rank: 5, Shape: cloud + "/dns-cr-intents", One: "DNSCRIntent", Many: "DNSCRIntents", Signposts: true},
		{Rank: 5, Shape: group, One: "DeploymentIntentGroup", Many: "DeploymentIntentGroups"},
		{Rank: 6, Shape: traffic, One: "TrafficGroupIntent", Many: "TrafficGroupIntents", Signposts: true},
		{Rank: 7, Shape: traffic + "/dns-intents", One: "DNSIntent", Many: "DNSIntents", Signposts: true, NamesApp: true},
		{Rank: 7, Shape: traffic + "/pod-dns-intents", One: "PodDNSIntent", Many: "PodDNSIntents", Signposts: true, NamesApp: true},
		{Rank: 8, Shape: "projects/" + SetsCollection, One: "DocumentSet", Many: "DocumentSets", Signposts: true},
	}
}

// KindOf is the kind of the document at a path, zero if it is none of Kinds.
func KindOf(path Path) Kind {
	kinds, shape := Kinds(), path.shape()
	at := slices.IndexFunc(kinds, func(k Kind) bool { return k.Shape == shape })
	if at < 0 {
		return Kind{}
	}
	return kinds[at]
}

// Collection is the last segment of the kind's collections.
func (k Kind) Collection() string { return k.Shape[strings.LastIndexByte(k.Shape, '/')+1:] }

// Project is a tenant. Its namespace holds what Signpost makes for it in
// every cluster.
type Project struct {
	Namespace string   `json:"namespace,omitempty"` // unique to the project; default signpost-{slug}, written at creation
	Quotas    Quotas   `json:"quotas,omitzero"`     // how much it may have
	Domains   []string `json:"domains,omitempty"`   // granted to it: others publish no names in them

	Names NamePolicy `json:"names,omitzero"` // how its names are published

	Safety *SafetyRules `json:"safety,omitempty"` // for moves of its names, beside those of the installation; nil: none

	Namespaces      []string `json:"namespaces,omitempty"`      // granted to it in clusters, although they are not Signpost's: names, or beginnings with a trailing '*'
	ServiceAccounts []string `json:"serviceAccounts,omitempty"` // granted to its Pods, as "namespace/name", with a trailing '*' too
}

// SetsCollection is the collection of the sets of documents of a project.
const SetsCollection = "sets"

// DocumentSet lists the documents of a project that come from one source, as a directory
// of files.
type DocumentSet struct {
	Documents []Path `json:"documents"` // of the project, each in one set; they need not exist
}

// NamePolicy says how the names of a project are published.
type NamePolicy struct {
	RequirePlan bool `json:"requirePlan,omitempty"` // only with the token of a plan
	Editors     bool `json:"editors,omitempty"`     // by editors, too, who else deploy nothing
}

// Quotas are how much a project may have; nil: the server's default.
type Quotas struct {
	Records     *int `json:"records,omitempty"`     // DNS update records
	Names       *int `json:"names,omitempty"`       // names that its deployment intent groups publish together
	ExternalDNS *int `json:"externalDNS,omitempty"` // external-dns that these rely on

	Objects *int `json:"objects,omitempty"` // that these groups have in clusters, each counted on every cluster that has it

	Documents *int   `json:"documents,omitempty"` // the project's own among them
	Bytes     *int64 `json:"bytes,omitempty"`     // of these documents, and of what is sealed of them
}

// Or are the quotas, with those of others where there are none.
func (q Quotas) Or(others Quotas) Quotas {
	return Quotas{
		Records: cmp.Or(q.Records, others.Records), Names: cmp.Or(q.Names, others.Names), ExternalDNS: cmp.Or(q.ExternalDNS, others.ExternalDNS),
		Objects:   cmp.Or(q.Objects, others.Objects),
		Documents: cmp.Or(q.Documents, others.Documents), Bytes: cmp.Or(q.Bytes, others.Bytes),
	}
}

// ClusterProvider groups clusters.
type ClusterProvider struct{}

// Cluster is one Kubernetes cluster: reached by a kubeconfig, or a directory
// of manifests, or neither (inventory only: somebody else pushes to it).
type Cluster struct {
	Kubeconfig    string            `json:"kubeconfig,omitempty"`    // base64, write-only; never stored here
	KubeconfigRef string            `json:"kubeconfigRef,omitempty"` // stored form: the id of the sealed value
	Expires       *time.Time        `json:"expires,omitempty"`       // stored form: when the kubeconfig's credentials end, UTC; nil: never, or not known
	Directory     string            `json:"directory,omitempty"`     // relative to the server's --directory-root
	Uses          []ClusterUse      `json:"uses,omitempty"`          // what it is for; none: all
	Labels        map[string]string `json:"labels,omitempty"`        // selected by clusterLabels
	Projects      []string          `json:"projects,omitempty"`      // the projects allowed on it; none: all
	Namespaces    []string          `json:"namespaces,omitempty"`    // granted to projects, although they are not Signpost's: names, or beginnings with a trailing '*'
	Kinds         []string          `json:"kinds,omitempty"`         // that manifests may hold beside Kubernetes' own: "group/Kind" or "group/*"
	DNS           *ClusterDNS       `json:"dns,omitempty"`
}

// ClusterDNS is the DNS service inside a cluster.
type ClusterDNS struct {
	Domain  string `json:"domain,omitempty"`  // default cluster.local
	Address string `json:"address,omitempty"` // the DNS Service's IP address
}

// DefaultClusterDomain is the domain of a cluster that names none.
const DefaultClusterDomain = "cluster.local"

// Domain is the domain for which the DNS service inside the cluster answers
// itself.
func (c Cluster) Domain() string {
	if c.DNS == nil || c.DNS.Domain == "" {
		return DefaultClusterDomain
	}
	return c.DNS.Domain
}

// ClusterRef names a cluster.
type ClusterRef struct {
	ClusterProvider string `json:"clusterProvider"`
	Cluster         string `json:"cluster"`
}

// String is the cluster as one word: "provider+cluster".
func (r ClusterRef) String() string { return r.ClusterProvider + "+" + r.Cluster }

// ParseCluster reads "provider+cluster"; ok says whether it is of that form.
func ParseCluster(name string) (ref ClusterRef, ok bool) {
	provider, cluster, _ := strings.Cut(name, "+")
	return ClusterRef{ClusterProvider: provider, Cluster: cluster}, provider != "" && cluster != "" && !strings.Contains(cluster, "+")
}

// ClusterRefs reads a list of "provider/cluster".
func ClusterRefs(names []string) []ClusterRef {
	refs := make([]ClusterRef, len(names))
	for n, name := range names {
		refs[n].ClusterProvider, refs[n].Cluster, _ = strings.Cut(name, "/")
	}
	return refs
}

// ClusterOf names the cluster of a document's path.
func ClusterOf(path Path) ClusterRef {
	if path.Segment("dns-update-records") != "" {
		return PublisherOf(path)
	}
	return ClusterRef{ClusterProvider: path.Segment("cluster-providers"), Cluster: path.Segment("clusters")}
}

// ClusterPath is the document of a cluster by its name, "provider+cluster".
func ClusterPath(name string) Path {
	ref, _ := ParseCluster(name)
	return ref.Path()
}

// Path is the cluster's document. Of a built-in publisher it is its provider's.
func (r ClusterRef) Path() Path {
	if r.IsPublisher() {
		return r.publishedProvider()
	}
	return Join("cluster-providers", r.ClusterProvider, "clusters", r.Cluster)
}

// LogicalCloud is a set of clusters with a namespace for its apps: the clusters that it
// lists and those of its cluster references.
type LogicalCloud struct {
	Namespace         string      `json:"namespace,omitempty"`         // default: the logical cloud's name, written at creation
	ControllerCluster *ClusterRef `json:"controllerCluster,omitempty"` // where external-dns of its records lives
	Clusters          []string    `json:"clusters,omitempty"`          // "provider/cluster", beside those of its cluster references
}

// ClusterReference puts a cluster into a logical cloud.
type ClusterReference = ClusterRef

// KVPairs is a list of pairs. The document called dns-update-record-list
// associates records: its values are record names.
type KVPairs struct {
	KV []map[string]json.RawMessage `json:"kv"`
}

// AssociationName is the name of the KV document that associates records.
const AssociationName = "dns-update-record-list"

// CompositeApp is an application of several apps, in one version.
type CompositeApp struct {
	CompositeAppVersion string `json:"compositeAppVersion"`
}

// DeploymentIntentGroup (DIG) is one deployment of a composite app's apps into
// a logical cloud.
type DeploymentIntentGroup struct {
	LogicalCloud string `json:"logicalCloud"`
	Suspend      bool   `json:"suspend,omitempty"`
	Apps         []App  `json:"apps,omitempty"`
}

// App is one app of a DIG. Without manifests it is somebody else's deployment,
// whose Services are found live.
type App struct {
	Name          string            `json:"name"`
	Namespace     string            `json:"namespace,omitempty"`     // default: the logical cloud's
	Clusters      []ClusterRef      `json:"clusters,omitempty"`      // none: all of the logical cloud's
	ClusterLabels map[string]string `json:"clusterLabels,omitempty"` // narrows to clusters with these labels
	Manifests     []json.RawMessage `json:"manifests,omitempty"`     // Kubernetes objects
}

// TrafficGroup groups the traffic intents of a DIG.
type TrafficGroup struct{}

// DefaultTrafficGroup is the traffic group of a DIG for intents that are given without
// one. It is made with its first intent.
func DefaultTrafficGroup(group Path) Path { return group.Child("traffic-group-intents", "default") }

// InDefaultTrafficGroup is a path of intents that leaves out their traffic group, with it.
func InDefaultTrafficGroup(short Path) Path {
	group := short.Parent()
	return DefaultTrafficGroup(group) + short[len(group):]
}

// WithTrafficGroup is the path of a document, with the default traffic group if it is that of
// a DNS intent that leaves it out.
func WithTrafficGroup(path Path) Path {
	if KindOf(path.Parent()).One == "DeploymentIntentGroup" && strings.HasSuffix(path.Collection(), "/dns-intents") {
		return InDefaultTrafficGroup(path)
	}
	return path
}

// IsDefaultTrafficGroup reports whether a path is that of a DefaultTrafficGroup.
func IsDefaultTrafficGroup(p Path) bool {
	return strings.HasSuffix(string(p), "/traffic-group-intents/default")
}

// DNSIntent gives names to a service of an app.
type DNSIntent struct {
	App         string   `json:"app"`
	ServiceName string   `json:"serviceName"`
	Namespace   string   `json:"namespace,omitempty"` // default: the app's, else the logical cloud's
	Hostnames   []string `json:"hostnames"`           // canonical once stored
	Scope       Scope    `json:"scope,omitempty"`     // none: both
	TTL         int64    `json:"ttl,omitempty"`       // seconds; 0: the provider's default, at most 60 with Failover or Health other than the default
	RecordTypes []string `json:"recordTypes,omitempty"`
	Records     []string `json:"records,omitempty"` // only these of the associated records
	Routing     *Routing `json:"routing,omitempty"`
	Health      *Health  `json:"health,omitempty"`
}

// Scope says which addresses of a service are meant.
type Scope string

// The scopes.
const (
	Public       Scope = "public"  // through a logical cloud's association
	ClusterScope Scope = "cluster" // through a cluster's association
)

// The policies of routing.
const (
	Multivalue = "multivalue" // the addresses of all clusters
	Failover   = "failover"   // those of the first cluster that is healthy
	Weighted   = "weighted"   // those of one cluster or another, by weight
	Latency    = "latency"    // those of the region that is nearest to the client, by latency
	Geo        = "geo"        // those of the smallest location that the client is in
)

// Everywhere is the location of all clients that no other location has.
const Everywhere = "default"

// Routing says how answers are chosen among clusters.
type Routing struct {
	Policy    string              `json:"policy,omitempty"` // multivalue (default), failover, weighted, latency, geo
	Order     []string            `json:"order,omitempty"`
	Weights   map[string]int64    `json:"weights,omitempty"`
	Regions   map[string]string   `json:"regions,omitempty"`   // as in eu-central-1, by cluster
	Locations map[string][]string `json:"locations,omitempty"` // as in continent/EU, country/DE, country/US/CA and default, by cluster
}

// Divides tells whether the policy gives a name several sets of records, for which a DNS
// provider needs set identifiers.
func (r Routing) Divides() bool {
	return r.Policy == Weighted || r.Policy == Latency || r.Policy == Geo
}

// Lists is the field that lists clusters for a policy that divides, as it is called in JSON.
func (r Routing) Lists() string {
	return map[string]string{Weighted: "weights", Latency: "regions", Geo: "locations"}[r.Policy]
}

// Listed are the clusters of the fields weights, regions and locations, by field; each
// list is sorted.
func (r Routing) Listed() map[string][]string {
	return map[string][]string{
		"weights": slices.Sorted(maps.Keys(r.Weights)), "regions": slices.Sorted(maps.Keys(r.Regions)), "locations": slices.Sorted(maps.Keys(r.Locations)),
	}
}

// Unanswered tells whether some clients get no answer by design: locations are given, and
// default is none of them.
func (r Routing) Unanswered() bool {
	for _, locations := range r.Locations {
		if slices.Contains(locations, Everywhere) {
			return false
		}
	}
	return r.Policy == Geo
}

// UnansweredWarning is the warning about such a routing.
const UnansweredWarning = "has no location default, so clients outside of the listed locations get no answer; " +
	"nor do those of a location whose clusters are all drained or unhealthy while other locations answer; add default to the locations of a cluster"

// Unread are the fields that are given although the policy does not read them, as
// they are called in JSON.
func (r Routing) Unread() []string {
	var fields []string
	if len(r.Order) > 0 && r.Policy != Failover {
		fields = append(fields, "order")
	}
	listed := r.Listed()
	for _, field := range slices.Sorted(maps.Keys(listed)) {
		if len(listed[field]) > 0 && field != r.Lists() {
			fields = append(fields, field)
		}
	}
	return fields
}

// What happens to a name when none of its clusters is healthy.
const (
	Keep   = "keep"   // it keeps the addresses that it has
	Remove = "remove" // it has none
)

// Health says when a cluster's addresses count.
type Health struct {
	ReadyEndpoints   *bool  `json:"readyEndpoints,omitempty"`   // nil: true
	UnreachableAfter string `json:"unreachableAfter,omitempty"` // a duration; none: 5m
	WhenAllUnhealthy string `json:"whenAllUnhealthy,omitempty"` // keep (default) or remove
	Probe            *Probe `json:"probe,omitempty"`            // of each address; nil: none
}

// Types of probes.
const (
	ProbeTCP   = "TCP"
	ProbeHTTP  = "HTTP"
	ProbeHTTPS = "HTTPS"
)

// Probe asks an address whether it serves.
type Probe struct {
	Type          string `json:"type"`                    // TCP, HTTP or HTTPS
	Port          int    `json:"port,omitempty"`          // 0: 80 for HTTP, 443 for HTTPS
	Host          string `json:"host,omitempty"`          // for HTTP and HTTPS; none: the name
	Path          string `json:"path,omitempty"`          // likewise; none: "/"
	Statuses      []int  `json:"statuses,omitempty"`      // likewise: those of an address that serves; none: 200 to 299
	Body          string `json:"body,omitempty"`          // likewise: a text that the beginning of the answer contains; none: any
	AllowInsecure bool   `json:"allowInsecure,omitempty"` // for HTTPS: any certificate is taken
	Interval      string `json:"interval,omitempty"`      // a duration; none: 10s
	Timeout       string `json:"timeout,omitempty"`       // a duration; none: 3s
	Failures      int    `json:"failures,omitempty"`      // in a row before an address is out; 0: 3
	Successes     int    `json:"successes,omitempty"`     // in a row before it is back; 0: 2
}

// Completed is the probe with its defaults, for a host name.
func (p Probe) Completed(name string) Probe {
	p.Interval, p.Timeout = cmp.Or(p.Interval, "10s"), cmp.Or(p.Timeout, "3s")
	p.Failures, p.Successes = cmp.Or(p.Failures, 3), cmp.Or(p.Successes, 2)
	const httpPort, httpsPort = 80, 443
	switch p.Type {
	case ProbeHTTP:
		p.Port = cmp.Or(p.Port, httpPort)
	case ProbeHTTPS:
		p.Port = cmp.Or(p.Port, httpsPort)
	default:
		return p
	}
	p.Host, p.Path = cmp.Or(p.Host, name), cmp.Or(p.Path, "/")
	return p
}
