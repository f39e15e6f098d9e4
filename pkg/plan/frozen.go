// Package plan turns frozen inputs into bundles. It is pure: the same input
// gives the same bytes (I8), and it knows no client and no store. Each kind of
// intent has its renderer in a package below.
package plan

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Group is a deployment intent group, or a logical cloud with its DNS, as a release froze
// it. Its bundle follows from it, with records, addresses and nodes.
type Group struct {
	Installation          string      `json:"installation"` // the generated id of this Signpost
	Path                  intent.Path `json:"path"`         // of the deployment intent group or the logical cloud
	UID                   string      `json:"uid"`
	Project               Project     `json:"project"`
	CompositeApp          string      `json:"compositeApp"`
	Version               string      `json:"version"`
	Name                  string      `json:"name"`
	LogicalCloud          string      `json:"logicalCloud"`
	LogicalCloudNamespace string      `json:"logicalCloudNamespace"`
	Apps                  []App       `json:"apps"`     // ordered by name
	Clusters              []Cluster   `json:"clusters"` // ordered by name: all that apps and bindings mention
	Bindings              []Binding   `json:"bindings"` // ordered by app, service, namespace, record, scope, cluster

	DNS       []ClusterDNS `json:"dns,omitempty"`       // of a logical cloud: ordered by cluster, one for each
	FormerDNS []ClusterDNS `json:"formerDNS,omitempty"` // that DNS replaces, and pods may still ask

	Orchestrated *Orchestrated `json:"orchestrated,omitempty"` // nil: Signpost deploys the apps
}

// AllDNS are the DNS of a logical cloud's clusters, those that are replaced last.
func (g Group) AllDNS() []ClusterDNS { return slices.Concat(g.DNS, g.FormerDNS) }

// Orchestrated says that an orchestrator deploys the apps of a group: they
// are those of its app context, and have no manifests here.
type Orchestrated struct {
	AppContext string `json:"appContext"` // id
	Namespace  string `json:"namespace"`  // of the apps, where their objects name none
	Level      string `json:"level"`      // of the logical cloud, as in "0"
}

// Project is what plans need of a project.
type Project struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// App is an app with the clusters that it runs on.
type App struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Clusters  []string          `json:"clusters"` // "provider+cluster", ordered
	Manifests []json.RawMessage `json:"manifests,omitempty"`
	PodDNS    *PodDNS           `json:"podDNS,omitempty"` // nil: its pods keep what their manifests say
}

// PodDNS is what /etc/resolv.conf the pods of an app get, as a pod DNS intent
// asks for it.
type PodDNS struct {
	Intent   intent.Path         `json:"intent"`
	Spec     intent.PodDNSIntent `json:"spec"`
	Autopath []PodAutopath       `json:"autopath,omitempty"` // with policy autopath: one for each of the app's clusters, ordered by cluster
}

// PodAutopath is what autopath gives to pods on one cluster.
type PodAutopath struct {
	Cluster    string `json:"cluster"`    // "provider+cluster"
	Nameserver string `json:"nameserver"` // an IP address
	Search     string `json:"search"`     // the single search domain
}

// Cluster is what plans need of a cluster.
type Cluster struct {
	Name      string `json:"name"`                // "provider+cluster"
	Directory string `json:"directory,omitempty"` // set: objects go to files, addresses come from manifests
	Inventory bool   `json:"inventory,omitempty"` // others push to it, and Signpost has no way to look at it
}

// Binding ties the names of one app service to one record in one scope: it is
// what one DNSEndpoint follows from.
type Binding struct {
	App       string       `json:"app"`
	Service   string       `json:"service"`
	Namespace string       `json:"namespace"` // of the Service
	Record    string       `json:"record"`
	Scope     intent.Scope `json:"scope"`
	Cluster   string       `json:"cluster"`          // where the DNSEndpoint and its external-dns live
	Sources   []string     `json:"sources"`          // the clusters whose addresses count, ordered
	Hosts     []Host       `json:"hosts"`            // ordered by name
	View      string       `json:"view,omitempty"`   // the private zones that the names are in, joined by commas; empty: as the scope says
	Prefix    string       `json:"prefix,omitempty"` // of the keys of etcd that the names are, as /skydns/; empty: they are none, or an earlier Signpost froze it

	Former string `json:"-"` // while the record moves: the home where the DNSEndpoint was
}

// Host is one name of a binding.
type Host struct {
	Name  string   `json:"name"`            // canonical
	TTL   int64    `json:"ttl,omitempty"`   // seconds, 0: none set
	Types []string `json:"types,omitempty"` // of A, AAAA, CNAME, SRV; none: all but SRV

	Sources []string       `json:"sources,omitempty"` // of the binding's, ordered: whose addresses the name gets; none: all
	Routing intent.Routing `json:"routing,omitzero"`  // zero: multivalue; else with all of the sources
	Health  *intent.Health `json:"health,omitempty"`  // with its defaults; nil: of a release that knew of none
	Targets []string       `json:"targets,omitempty"` // fixed addresses, or one host name; none: what the Service offers

	Records []intent.RecordSet `json:"records,omitempty"` // of other types, with values as external-dns takes them
}

// ClusterDNS is CoreDNS in one cluster, as a DNS CR intent asks for it.
type ClusterDNS struct {
	Intent        string             `json:"intent"`                  // name of the DNS CR intent
	Cluster       string             `json:"cluster"`                 // "provider+cluster"
	Domain        string             `json:"domain"`                  // of the cluster, as in "cluster.local"
	Spec          intent.DNSCRIntent `json:"spec"`                    // with mode and namespace
	Image         string             `json:"image"`                   // of CoreDNS: the whole name, pinned
	ResolverImage string             `json:"resolverImage,omitempty"` // of the node resolver: the same
}

// Record is a record as its own release froze it at first use or at its last
// update.
type Record struct {
	Installation string             `json:"installation"`
	Path         intent.Path        `json:"path"`
	UID          string             `json:"uid"`
	Revision     int64              `json:"revision"` // of the document that was frozen
	Project      Project            `json:"project"`
	Name         string             `json:"name"`
	Spec         intent.Record      `json:"spec"`    // credentials by reference
	Version      string             `json:"version"` // of external-dns, pinned, as in "v0.22.0"
	Image        string             `json:"image"`   // the whole image name, pinned
	Home         *intent.ClusterRef `json:"home,omitempty"`
	OwnerID      string             `json:"ownerID"` // of the public scope; generated, or the record's txt-owner-id

	// How often external-dns looks where Spec does not say, chosen when it was frozen.
	Events   bool          `json:"events,omitempty"`   // also when a DNSEndpoint changes
	Interval time.Duration `json:"interval,omitempty"` // zero: external-dns' own default
}

// Provider is one external-dns: a record in one scope on one cluster.
type Provider struct {
	Record  Record
	Scope   intent.Scope
	Cluster string   // "provider+cluster"
	Waiting bool     // everything is there but a pod
	Adopts  string   // the owner id whose names it takes over; empty: nobody's
	Users   []string // paths of the groups that use it, ordered, for the annotation

	AdoptsSince time.Time // when that was accepted
}
