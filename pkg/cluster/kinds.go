package cluster

import (
	"math"
	"sync"
)

// Kind names a kind of objects.
type Kind struct {
	Group string // API group, empty for the core group
	Kind  string
}

// resource is how the API server calls a kind.
type resource struct {
	version       string // the one that is read, watched and deleted by
	plural        string
	clusterScoped bool
	order         int  // lower ones are created first and deleted last
	custom        bool // defined by a CustomResourceDefinition
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
	orderOther
	orderWorkload
	orderEndpoint = math.MaxInt32
)

// Names that are used more than once.
const (
	groupDefinitions = "apiextensions.k8s.io"
	kindDefinition   = "CustomResourceDefinition"
	groupGateway     = "gateway.networking.k8s.io"
	groupRBAC        = "rbac.authorization.k8s.io"
)

// lookup answers what is known of a kind without asking a cluster: our own
// kinds, and the built-in ones that an app's manifests may hold.
func lookup(kind Kind) (resource, bool) {
	r, ok := kinds()[kind]
	return r, ok
}

// kinds is the table of kinds, made at first use and never changed.
var kinds = sync.OnceValue(func() map[Kind]resource { //nolint:gochecknoglobals // a table, never changed
	all := map[Kind]resource{}
	for _, add := range []func(map[Kind]resource){addCore, addApps, addNetworking, addCustom, addAdministration} {
		add(all)
	}
	return all
})

func namespaced(version, plural string, order int) resource {
	return resource{version: version, plural: plural, order: order}
}

func custom(version, plural string, order int) resource {
	return resource{version: version, plural: plural, order: order, custom: true}
}

func clusterWide(plural string, order int) resource {
	return resource{version: "v1", plural: plural, order: order, clusterScoped: true}
}

func addCore(all map[Kind]resource) {
	for kind, r := range map[string]resource{
		"Namespace":             clusterWide("namespaces", orderNamespace),
		"Node":                  clusterWide("nodes", orderOther),
		"PersistentVolume":      clusterWide("persistentvolumes", orderOther),
		"ServiceAccount":        namespaced("v1", "serviceaccounts", orderAccount),
		"Secret":                namespaced("v1", "secrets", orderSecret),
		"ConfigMap":             namespaced("v1", "configmaps", orderConfig),
		"LimitRange":            namespaced("v1", "limitranges", orderConfig),
		"ResourceQuota":         namespaced("v1", "resourcequotas", orderConfig),
		"PersistentVolumeClaim": namespaced("v1", "persistentvolumeclaims", orderStorage),
		"Service":               namespaced("v1", "services", orderService),
		"Endpoints":             namespaced("v1", "endpoints", orderService),
		"PodTemplate":           namespaced("v1", "podtemplates", orderOther),
		"Pod":                   namespaced("v1", "pods", orderWorkload),
		"ReplicationController": namespaced("v1", "replicationcontrollers", orderWorkload),
	} {
		all[Kind{Kind: kind}] = r
	}
}

func addApps(all map[Kind]resource) {
	for kind, r := range map[Kind]resource{
		{"apps", "Deployment"}:                     namespaced("v1", "deployments", orderWorkload),
		{"apps", "StatefulSet"}:                    namespaced("v1", "statefulsets", orderWorkload),
		{"apps", "DaemonSet"}:                      namespaced("v1", "daemonsets", orderWorkload),
		{"apps", "ReplicaSet"}:                     namespaced("v1", "replicasets", orderWorkload),
		{"apps", "ControllerRevision"}:             namespaced("v1", "controllerrevisions", orderOther),
		{"batch", "Job"}:                           namespaced("v1", "jobs", orderWorkload),
		{"batch", "CronJob"}:                       namespaced("v1", "cronjobs", orderWorkload),
		{"autoscaling", "HorizontalPodAutoscaler"}: namespaced("v2", "horizontalpodautoscalers", orderWorkload),
		{"policy", "PodDisruptionBudget"}:          namespaced("v1", "poddisruptionbudgets", orderOther),
		{"coordination.k8s.io", "Lease"}:           namespaced("v1", "leases", orderOther),
	} {
		all[kind] = r
	}
}

func addNetworking(all map[Kind]resource) {
	for kind, r := range map[Kind]resource{
		{"networking.k8s.io", "Ingress"}:       namespaced("v1", "ingresses", orderService),
		{"networking.k8s.io", "NetworkPolicy"}: namespaced("v1", "networkpolicies", orderOther),
		{"networking.k8s.io", "IngressClass"}:  clusterWide("ingressclasses", orderOther),
		{"networking.k8s.io", "IPAddress"}:     clusterWide("ipaddresses", orderOther),
		{"networking.k8s.io", "ServiceCIDR"}:   clusterWide("servicecidrs", orderOther),
		{"discovery.k8s.io", "EndpointSlice"}:  namespaced("v1", "endpointslices", orderService),
	} {
		all[kind] = r
	}
}

func addCustom(all map[Kind]resource) {
	gatewayClass := custom("v1", "gatewayclasses", orderOther)
	gatewayClass.clusterScoped = true
	for kind, r := range map[Kind]resource{
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
	} {
		all[kind] = r
	}
}

func addAdministration(all map[Kind]resource) {
	for kind, r := range map[Kind]resource{
		{groupDefinitions, kindDefinition}:                                   clusterWide("customresourcedefinitions", orderDefinition),
		{groupRBAC, "Role"}:                                                  namespaced("v1", "roles", orderRole),
		{groupRBAC, "RoleBinding"}:                                           namespaced("v1", "rolebindings", orderBinding),
		{groupRBAC, "ClusterRole"}:                                           clusterWide("clusterroles", orderRole),
		{groupRBAC, "ClusterRoleBinding"}:                                    clusterWide("clusterrolebindings", orderBinding),
		{"storage.k8s.io", "StorageClass"}:                                   clusterWide("storageclasses", orderOther),
		{"storage.k8s.io", "CSIDriver"}:                                      clusterWide("csidrivers", orderOther),
		{"storage.k8s.io", "CSINode"}:                                        clusterWide("csinodes", orderOther),
		{"storage.k8s.io", "VolumeAttachment"}:                               clusterWide("volumeattachments", orderOther),
		{"scheduling.k8s.io", "PriorityClass"}:                               clusterWide("priorityclasses", orderOther),
		{"node.k8s.io", "RuntimeClass"}:                                      clusterWide("runtimeclasses", orderOther),
		{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}:   clusterWide("validatingwebhookconfigurations", orderOther),
		{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}:     clusterWide("mutatingwebhookconfigurations", orderOther),
		{"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"}:        clusterWide("validatingadmissionpolicies", orderOther),
		{"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"}: clusterWide("validatingadmissionpolicybindings", orderOther),
		{"apiregistration.k8s.io", "APIService"}:                             clusterWide("apiservices", orderOther),
		{"certificates.k8s.io", "CertificateSigningRequest"}:                 clusterWide("certificatesigningrequests", orderOther),
		{"flowcontrol.apiserver.k8s.io", "FlowSchema"}:                       clusterWide("flowschemas", orderOther),
		{"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"}:       clusterWide("prioritylevelconfigurations", orderOther),
	} {
		all[kind] = r
	}
}

// ClusterScoped tells whether objects of the kind stand outside namespaces;
// known is false for kinds that only a cluster can tell about.
func ClusterScoped(group, kind string) (known, clusterScoped bool) {
	r, ok := lookup(Kind{group, kind})
	return ok, r.clusterScoped
}

// Order is the kind's place in the order of creation: lower ones are created
// first and deleted last.
func Order(kind Kind) int {
	if r, ok := lookup(kind); ok {
		return r.order
	}
	return orderOther
}

// NeedsDefinition tells whether the kind is served only where a
// CustomResourceDefinition made it known.
func NeedsDefinition(kind Kind) bool {
	r, ok := lookup(kind)
	return !ok || r.custom
}

// IsNamespace tells whether the kind is Namespace.
func IsNamespace(kind Kind) bool { return kind == Kind{Kind: "Namespace"} }

// IsDefinition tells whether the kind is CustomResourceDefinition.
func IsDefinition(kind Kind) bool { return kind == Kind{groupDefinitions, kindDefinition} }
