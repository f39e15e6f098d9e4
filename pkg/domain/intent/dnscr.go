package intent

import (
	"encoding/json"
	"strings"
)

// DNSCRIntent says how CoreDNS is configured and placed in the clusters of a logical
// cloud. Its configuration has the shape of OpenShift's DNS object
// (operator.openshift.io/v1), in the form of the seed "configurable DNS plugins" and in
// today's. It is stored as it was written.
type DNSCRIntent struct {
	PluginConfig      *DNSPluginConfig   `json:"pluginConfig,omitempty"` // the seed's form of Servers; both count
	Servers           []DNSServer        `json:"servers,omitempty"`
	UpstreamResolvers *UpstreamResolvers `json:"upstreamResolvers,omitempty"` // none: the node's own
	Cache             *DNSCache          `json:"cache,omitempty"`
	LogLevel          string             `json:"logLevel,omitempty"` // Normal (default), Debug, Trace
	NodePlacement     *NodePlacement     `json:"nodePlacement,omitempty"`
	NodeResolver      *NodeResolver      `json:"nodeResolver,omitempty"`
	Clusters          []ClusterRef       `json:"clusters,omitempty"`      // none: all of the logical cloud's
	ClusterLabels     map[string]string  `json:"clusterLabels,omitempty"` // narrows to clusters with these labels
	Mode              DNSMode            `json:"mode,omitempty"`
	Namespace         string             `json:"namespace,omitempty"` // default signpost-dns
	Image             string             `json:"image,omitempty"`     // of CoreDNS; default: the one that this version knows

	// Further fields of OpenShift's object.
	ManagementState  string `json:"managementState,omitempty"`  // Managed
	OperatorLogLevel string `json:"operatorLogLevel,omitempty"` // has no effect: there is no operator

	NodeLocalDNS *NodeLocalDNS `json:"nodeLocalDNS,omitempty"`
	Autopath     *Autopath     `json:"autopath,omitempty"` // not in mode import
}

// DNSMode says whose CoreDNS is configured.
type DNSMode string

// The modes.
const (
	Dedicated DNSMode = "dedicated" // a DNS service of its own; the default
	Import    DNSMode = "import"    // server blocks for a CoreDNS that is there, in a ConfigMap that it imports
)

// DefaultDNSNamespace is where a DNSCRIntent's objects go.
const DefaultDNSNamespace = "signpost-dns"

// The defaults for the pods of a DNSCRIntent.
const (
	CoreDNSImage     = "docker.io/coredns/coredns:1.15.0"
	SignpostDNSImage = "docker.io/signpost-dns/signpost-dns:v0.1.0" // on nodes, and where autopath needs its plugins
)

// DNSPluginConfig is the configuration of CoreDNS' plugins as the seed has it.
type DNSPluginConfig struct {
	ForwardPlugins []ForwardPlugin `json:"forwardPlugins,omitempty"` // also spelled forwardPlugin
}

// UnmarshalJSON also takes the other spelling, forwardPlugin.
func (c *DNSPluginConfig) UnmarshalJSON(raw []byte) error {
	type plain DNSPluginConfig
	both := struct {
		*plain
		Singular []ForwardPlugin `json:"forwardPlugin"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(raw, &both); err != nil {
		return err
	}
	if c.ForwardPlugins == nil {
		c.ForwardPlugins = both.Singular
	}
	return nil
}

// ForwardPlugin sends the queries of one domain to other nameservers.
type ForwardPlugin struct {
	Domain      string   `json:"domain"`           // RFC 1123, not the cluster's own
	Nameservers []string `json:"nameservers"`      // 1 to 15 of IP, IP:port or [IPv6]:port; also spelled nameServers
	Policy      string   `json:"policy,omitempty"` // Random (default), RoundRobin, Sequential
}

// DNSServer is a server block of CoreDNS: OpenShift's Server.
type DNSServer struct {
	Name          string           `json:"name"`  // an RFC 1123 label
	Zones         []string         `json:"zones"` // at least one
	ForwardPlugin DNSServerForward `json:"forwardPlugin"`
}

// DNSServerForward is where a server's queries go.
type DNSServerForward struct {
	Upstreams        []string         `json:"upstreams"`        // 1 to 15 of IP, IP:port or [IPv6]:port
	Policy           string           `json:"policy,omitempty"` // Random (default), RoundRobin, Sequential
	TransportConfig  *TransportConfig `json:"transportConfig,omitempty"`
	ProtocolStrategy string           `json:"protocolStrategy,omitempty"` // empty: UDP first, TCP on truncation; TCP: always
}

// TransportConfig says how upstreams are spoken to.
type TransportConfig struct {
	Transport string        `json:"transport,omitempty"` // Cleartext (default), TLS
	TLS       *TransportTLS `json:"tls,omitempty"`       // with TLS
}

// TransportTLS is DNS over TLS.
type TransportTLS struct {
	ServerName string        `json:"serverName"`         // that the upstreams' certificates are for
	CABundle   *ConfigMapRef `json:"caBundle,omitempty"` // none: the system's
}

// ConfigMapRef names a ConfigMap in the intent's namespace, in each cluster,
// that holds a PEM bundle under the key ca-bundle.crt.
type ConfigMapRef struct {
	Name string `json:"name"`
}

// UpstreamResolvers get the queries that no server has a zone for.
type UpstreamResolvers struct {
	Upstreams        []Upstream       `json:"upstreams,omitempty"`        // none: SystemResolvConf
	Policy           string           `json:"policy,omitempty"`           // Sequential (default), Random, RoundRobin
	TransportConfig  *TransportConfig `json:"transportConfig,omitempty"`  // not with SystemResolvConf
	ProtocolStrategy string           `json:"protocolStrategy,omitempty"` // as in DNSServerForward
}

// Upstream is one resolver.
type Upstream struct {
	Type    string `json:"type"`              // SystemResolvConf: the node's /etc/resolv.conf; Network: Address
	Address string `json:"address,omitempty"` // an IP address
	Port    int    `json:"port,omitempty"`    // of Address; default 53, with TLS 853
}

// DNSCache says how long answers are kept, as durations ("1h30m") of whole
// seconds.
type DNSCache struct {
	PositiveTTL string `json:"positiveTTL,omitempty"` // default 15m
	NegativeTTL string `json:"negativeTTL,omitempty"` // default 30s
}

// NodePlacement says which nodes DNS pods run on, as the seed "configurable
// DNS pod placement" has it.
type NodePlacement struct {
	NodeSelector map[string]string `json:"nodeSelector,omitempty"` // replaces the default, kubernetes.io/os: linux
	Tolerations  []Toleration      `json:"tolerations,omitempty"`
}

// Toleration is Kubernetes' toleration of a taint.
type Toleration struct {
	Key               string `json:"key,omitempty"`      // empty with Exists: every taint
	Operator          string `json:"operator,omitempty"` // Equal (default), Exists
	Value             string `json:"value,omitempty"`
	Effect            string `json:"effect,omitempty"` // NoSchedule, PreferNoSchedule, NoExecute; empty: all
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

// NodeResolver keeps the addresses of Services in the nodes' /etc/hosts.
type NodeResolver struct {
	Services []string `json:"services"` // namespace/name
}

// NodeLocalDNS asks for a DNS cache on each node, in front of the cluster's DNS.
type NodeLocalDNS struct {
	Enabled bool   `json:"enabled,omitempty"`
	LocalIP string `json:"localIP,omitempty"` // that it listens on, on every node; default 169.254.20.10
}

// Autopath has the cluster's DNS walk the search paths of pods: seed "DNS
// autopath in PodSpec".
type Autopath struct {
	Mode       AutopathMode `json:"mode,omitempty"`       // default edns0
	Searches   []string     `json:"searches,omitempty"`   // domains behind the cluster's own paths
	Namespaces []string     `json:"namespaces,omitempty"` // static only: whose pods use it, beside the logical cloud's own
	Option     int          `json:"option,omitempty"`     // edns0 only: code of the EDNS0 option, 65001 (default) to 65534
	Clients    []string     `json:"clients,omitempty"`    // edns0 only: CIDRs that may send the option; none: everybody
}

// Static tells whether the mode is AutopathStatic, in any letter case; without a mode it
// is not.
func (a *Autopath) Static() bool {
	return a != nil && strings.EqualFold(string(a.Mode), string(AutopathStatic))
}

// AutopathMode says how the search paths come to the cluster's DNS.
type AutopathMode string

// The modes.
const (
	AutopathEDNS0  AutopathMode = "edns0"  // in an option that the node's cache adds; needs signpost-dns
	AutopathStatic AutopathMode = "static" // in a server block and a file for each namespace; needs stock CoreDNS alone
)
