package cluster

import (
	"maps"
	"math"
	"sync"
)

// Kind names a kind of objects.
type Kind struct {
	Group string // API group, empty for the core group
	Kind  string
}

// Resource is how the API server calls a kind.
type Resource struct {
	Version       string // the one that is read, watched and deleted by
	Plural        string
	ClusterScoped bool
	Order         int  // lower ones are created first and deleted last
	Custom        bool // defined by a CustomResourceDefinition
}

// Orders of creation. Kinds without one of their own come in between.
const (
	orderNamespace = iota
	orderDefinition
	orderAccount
	orderSecret
	orderConfig
	orderRole
	orderBinding
	orderStorage
	orderService
	OrderOther
	orderWorkload
	orderEndpoint = math.MaxInt32
)

// Names that are used more than once.
const (
	GroupDefinitions = "apiextensions.k8s.io"
	kindDefinition   = "CustomResourceDefinition"
	groupGateway     = "gateway.networking.k8s.io"
	groupRBAC        = "rbac.authorization.k8s.io"
)

// Lookup answers what is known of a kind without asking a cluster: our own
// kinds, and the built-in ones that an app's manifests may hold.
func Lookup(kind Kind) (Resource, bool) {
	r, ok := Kinds()[kind]
	return r, ok
}

// Kinds is the table of kinds, made at first use and never changed.
var Kinds = sync.OnceValue(func() map[Kind]Resource { //nolint:gochecknoglobals // a table, never changed
	all := map[Kind]Resource{}
	for _, some := range []map[Kind]Resource{core(), apps(), networking(), customKinds(), administration()} {
		maps.Copy(all, some)
	}
	return all
})

func namespaced(version, plural string, order int) Resource {
	return Resource{Version: version, Plural: plural, Order: order}
}

func custom(version, plural string, order int) Resource {
	return Resource{Version: version, Plural: plural, Order: order, Custom: true}
}

func clusterWide(plural string, order int) Resource {
	return Resource{Version: "v1", Plural: plural, Order: order, ClusterScoped: true}
}

func core() map[Kind]Resource {
	return map[Kind]Resource{
		{"", "Namespace"}:             clusterWide("namespaces", orderNamespace),
		{"", "Node"}:                  clusterWide("nodes", OrderOther),
		{"", "PersistentVolume"}:      clusterWide("persistentvolumes", OrderOther),
		{"", "ServiceAccount"}:        namespaced("v1", "serviceaccounts", orderAccount),
		{"", "Secret"}:                namespaced("v1", "secrets", orderSecret),
		{"", "ConfigMap"}:             namespaced("v1", "configmaps", orderConfig),
		{"", "LimitRange"}:            namespaced("v1", "limitranges", orderConfig),
		{"", "ResourceQuota"}:         namespaced("v1", "resourcequotas", orderConfig),
		{"", "PersistentVolumeClaim"}: namespaced("v1", "persistentvolumeclaims", orderStorage),
		{"", "Service"}:               namespaced("v1", "services", orderService),
		{"", "Endpoints"}:             namespaced("v1", "endpoints", orderService),
		{"", "PodTemplate"}:           namespaced("v1", "podtemplates", OrderOther),
		{"", "Pod"}:                   namespaced("v1", "pods", orderWorkload),
		{"", "ReplicationController"}: namespaced("v1", "replicationcontrollers", orderWorkload),
	}
}

func apps() map[Kind]Resource {
	return map[Kind]Resource{
		{"apps", "Deployment"}:                     namespaced("v1", "deployments", orderWorkload),
		{"apps", "StatefulSet"}:                    namespaced("v1", "statefulsets", orderWorkload),
		{"apps", "DaemonSet"}:                      namespaced("v1", "daemonsets", orderWorkload),
		{"apps", "ReplicaSet"}:                     namespaced("v1", "replicasets", orderWorkload),
		{"apps", "ControllerRevision"}:             namespaced("v1", "controllerrevisions", OrderOther),
		{"batch", "Job"}:                           namespaced("v1", "jobs", orderWorkload),
		{"batch", "CronJob"}:                       namespaced("v1", "cronjobs", orderWorkload),
		{"autoscaling", "HorizontalPodAutoscaler"}: namespaced("v2", "horizontalpodautoscalers", orderWorkload),
		{"policy", "PodDisruptionBudget"}:          namespaced("v1", "poddisruptionbudgets", OrderOther),
		{"coordination.k8s.io", "Lease"}:           namespaced("v1", "leases", OrderOther),
	}
}

func networking() map[Kind]Resource {
	return map[Kind]Resource{
		{"networking.k8s.io", "Ingress"}:       namespaced("v1", "ingresses", orderService),
		{"networking.k8s.io", "NetworkPolicy"}: namespaced("v1", "networkpolicies", OrderOther),
		{"networking.k8s.io", "IngressClass"}:  clusterWide("ingressclasses", OrderOther),
		{"networking.k8s.io", "IPAddress"}:     clusterWide("ipaddresses", OrderOther),
		{"networking.k8s.io", "ServiceCIDR"}:   clusterWide("servicecidrs", OrderOther),
		{"discovery.k8s.io", "EndpointSlice"}:  namespaced("v1", "endpointslices", orderService),
	}
}

func customKinds() map[Kind]Resource {
	gatewayClass := custom("v1", "gatewayclasses", OrderOther)
	gatewayClass.ClusterScoped = true
	return map[Kind]Resource{
		{"externaldns.k8s.io", "DNSEndpoint"}: custom("v1alpha1", "dnsendpoints", orderEndpoint),
		{groupGateway, "Gateway"}:             custom("v1", "gateways", orderService),
		{groupGateway, "HTTPRoute"}:           custom("v1", "httproutes", orderService),
		{groupGateway, "GRPCRoute"}:           custom("v1", "grpcroutes", orderService),
		{groupGateway, "TLSRoute"}:            custom("v1alpha2", "tlsroutes", orderService),
		{groupGateway, "TCPRoute"}:            custom("v1alpha2", "tcproutes", orderService),
		{groupGateway, "UDPRoute"}:            custom("v1alpha2", "udproutes", orderService),
		{groupGateway, "ReferenceGrant"}:      custom("v1beta1", "referencegrants", orderService),
		{groupGateway, "BackendTLSPolicy"}:    custom("v1", "backendtlspolicies", orderService),
		{groupGateway, "GatewayClass"}:        gatewayClass,
	}
}

func administration() map[Kind]Resource {
	return map[Kind]Resource{
		{GroupDefinitions, kindDefinition}:                                   clusterWide("customresourcedefinitions", orderDefinition),
		{groupRBAC, "Role"}:                                                  namespaced("v1", "roles", orderRole),
		{groupRBAC, "RoleBinding"}:                                           namespaced("v1", "rolebindings", orderBinding),
		{groupRBAC, "ClusterRole"}:                                           clusterWide("clusterroles", orderRole),
		{groupRBAC, "ClusterRoleBinding"}:                                    clusterWide("clusterrolebindings", orderBinding),
		{"storage.k8s.io", "StorageClass"}:                                   clusterWide("storageclasses", OrderOther),
		{"storage.k8s.io", "CSIDriver"}:                                      clusterWide("csidrivers", OrderOther),
		{"storage.k8s.io", "CSINode"}:                                        clusterWide("csinodes", OrderOther),
		{"storage.k8s.io", "VolumeAttachment"}:                               clusterWide("volumeattachments", OrderOther),
		{"scheduling.k8s.io", "PriorityClass"}:                               clusterWide("priorityclasses", OrderOther),
		{"node.k8s.io", "RuntimeClass"}:                                      clusterWide("runtimeclasses", OrderOther),
		{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}:   clusterWide("validatingwebhookconfigurations", OrderOther),
		{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}:     clusterWide("mutatingwebhookconfigurations", OrderOther),
		{"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"}:        clusterWide("validatingadmissionpolicies", OrderOther),
		{"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"}: clusterWide("validatingadmissionpolicybindings", OrderOther),
		{"apiregistration.k8s.io", "APIService"}:                             clusterWide("apiservices", OrderOther),
		{"certificates.k8s.io", "CertificateSigningRequest"}:                 clusterWide("certificatesigningrequests", OrderOther),
		{"flowcontrol.apiserver.k8s.io", "FlowSchema"}:                       clusterWide("flowschemas", OrderOther),
		{"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"}:       clusterWide("prioritylevelconfigurations", OrderOther),
	}
}

// Order is the kind's place in the order of creation: lower ones are created
// first and deleted last.
func Order(kind Kind) int {
	if r, ok := Lookup(kind); ok {
		return r.Order
	}
	return OrderOther
}

// NeedsDefinition tells whether the kind is served only where a
// CustomResourceDefinition made it known.
func NeedsDefinition(kind Kind) bool {
	r, ok := Lookup(kind)
	return !ok || r.Custom
}

// IsNamespace tells whether the kind is Namespace.
func IsNamespace(kind Kind) bool { return kind == Kind{Kind: "Namespace"} }

// IsDefinition tells whether the kind is CustomResourceDefinition.
func IsDefinition(kind Kind) bool { return kind == Kind{GroupDefinitions, kindDefinition} }
