package rights

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/source"
)

// The API groups that the table names more than once.
const (
	core        = ""
	apps        = "apps"
	externalDNS = "externaldns.k8s.io"
)

// Roles are the ClusterRoles of a use. Each use has all that it needs: a cluster may have
// one use alone.
func Roles(use intent.ClusterUse) []Role {
	switch use {
	case intent.UseAddresses:
		return addresses()
	case intent.UseHome:
		return home()
	case intent.UseApps:
		return ofApps()
	case intent.UseDNS:
		return dns()
	}
	return nil
}

func addresses() []Role {
	sources := []Rule{rule("discovery.k8s.io", "endpointslices", "An endpoint of a Service may be ready or not.", watched()...)}
	for _, kind := range source.Kinds() {
		if kind.Via != nil {
			sources = append(sources, rule(kind.Via.Group, kind.Via.Resource(), kind.Via.Why, watched()...))
		}
		sources = append(sources, rule(kind.Group, kind.Resource(), kind.Why, watched()...))
	}
	return []Role{
		{Name: "signpost-addresses", Rules: []Rule{
			identity(),
			rule(core, "services", "Published addresses are those of Services, first of all.", watched()...),
		}},
		{
			Name:  "signpost-address-sources",
			Lost:  "without it only load balancers and external IPs of Services are published, whether or not an endpoint is ready",
			Rules: append(sources, rule(core, "nodes", "Nodes lead to the node ports of Services.", watched()...)),
		},
	}
}

func home() []Role {
	return []Role{
		{Name: "signpost-home", Rules: []Rule{
			namespaces("Namespaces of projects are made and removed."),
			rule("apiextensions.k8s.io", "customresourcedefinitions", "The definition of DNSEndpoint is made if it is missing, and never removed.", "get", "list", "watch", "create", "patch"),
			rule(externalDNS, "dnsendpoints", "Names are published as DNSEndpoints.", managed()...),
			rule(core, "secrets", "external-dns has the provider's credentials in a Secret.", managed()...),
			rule(core, "serviceaccounts", "external-dns runs as a ServiceAccount of its own.", managed()...),
			rule(apps, "deployments", "external-dns is a Deployment.", managed()...),
			rule("rbac.authorization.k8s.io", "roles", "external-dns may read the DNSEndpoints of its namespace.", managed()...),
			rule("rbac.authorization.k8s.io", "rolebindings", "The Role is bound to the account of external-dns.", managed()...),
			rule(externalDNS, "dnsendpoints/status", "external-dns needs it, and nobody can hand out a right that they lack.", "update", "patch"),
			rule(core, "pods", "Pods tell why external-dns does not run.", watched()...),
			rule(core, "pods/proxy", "The metrics of external-dns tell what is published.", "get"),
		}},
		emptyNamespaces("home"),
		{
			Name: "signpost-home-options",
			Lost: "without it no provider can have registry crd, or events-emit",
			Rules: []Rule{
				rule(externalDNS, "dnsrecords", "external-dns needs it for registry crd.", "get", "list", "watch", "create", "update", "delete"),
				rule(externalDNS, "dnsrecords/status", "external-dns needs it for registry crd.", "update", "patch"),
				rule("events.k8s.io", "events", "external-dns needs it for events-emit.", "create", "patch"),
			},
		},
	}
}

func ofApps() []Role {
	return []Role{
		{Name: "signpost-apps", Rules: []Rule{namespaces("Namespaces of logical clouds are made and removed.")}},
		emptyNamespaces("apps"),
		{
			Name: "signpost-app-kinds",
			Lost: "without it no manifest of an app can hold objects of the kind",
			Rules: []Rule{
				rule(apps, "deployments", "Change the kinds as the manifests of your apps do.", managed()...),
				rule(core, "services", "Change the kinds as the manifests of your apps do.", managed()...),
				rule(core, "configmaps", "Change the kinds as the manifests of your apps do.", managed()...),
			},
		},
	}
}

func dns() []Role {
	return []Role{
		{Name: "signpost-dns", Rules: []Rule{
			namespaces("The namespace of CoreDNS is made and removed, and CoreDNS itself watches namespaces."),
			rule(core, "configmaps", "Corefiles are in ConfigMaps.", managed()...),
			rule(core, "services", "Pods ask a Service, and CoreDNS itself watches Services.", managed()...),
			rule(core, "serviceaccounts", "CoreDNS runs as a ServiceAccount of its own.", managed()...),
			rule(apps, "deployments", "CoreDNS is a Deployment.", managed()...),
			rule(apps, "daemonsets", "Caches of nodes are a DaemonSet.", managed()...),
			rule("rbac.authorization.k8s.io", "clusterroles", "CoreDNS watches the Services of all namespaces.", managed()...),
			rule("rbac.authorization.k8s.io", "clusterrolebindings", "The ClusterRole is bound to the account of CoreDNS.", managed()...),
			rule("discovery.k8s.io", "endpointslices", "CoreDNS needs it, and nobody can hand out a right that they lack.", watched()...),
			rule(core, "nodes", "CoreDNS is placed on nodes by their labels and taints.", watched()...),
			rule(core, "pods", "Pods tell why CoreDNS does not run, and which of them ask it.", watched()...),
			rule(core, "pods/proxy", "The metrics of CoreDNS tell which upstreams fail.", "get"),
		}},
		emptyNamespaces("dns"),
	}
}

// identity is the right to tell clusters apart.
func identity() Rule {
	of := rule(core, "namespaces", "The UID of kube-system identifies the cluster.", "get")
	of.ResourceNames = []string{"kube-system"}
	return of
}

// namespaces is the right to make and to remove namespaces. It takes in identity.
func namespaces(why string) Rule {
	return rule(core, "namespaces", why+" The UID of kube-system identifies the cluster.", managed()...)
}

// emptyNamespaces is the right to find out whether a namespace is empty. No smaller one
// would do: an object that could not be seen would be deleted with the namespace.
func emptyNamespaces(of string) Role {
	return Role{
		Name:  "signpost-" + of + "-namespaces",
		Lost:  "without it the namespaces that Signpost made stay when they are empty",
		Rules: []Rule{rule("*", "*", "A namespace is removed only if nothing is left in it.", "list")},
	}
}

func rule(group, resource, why string, verbs ...string) Rule {
	return Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}, Why: why}
}

// watched are the verbs for objects that are only looked at.
func watched() []string { return []string{"list", "watch"} }

// managed are the verbs for objects that Signpost makes, keeps and removes.
func managed() []string { return []string{"get", "list", "watch", "create", "patch", "delete"} }
