package intent

import (
	"fmt"
	"slices"
)

// ClusterUse is what a cluster is for. It decides what Signpost may do there.
type ClusterUse string

// The uses.
const (
	UseAddresses ClusterUse = "addresses" // its Services give names their addresses
	UseHome      ClusterUse = "home"      // external-dns runs there, beside its DNSEndpoints
	UseApps      ClusterUse = "apps"      // manifests of apps are deployed there
	UseDNS       ClusterUse = "dns"       // DNS CR intents configure its DNS
)

// ClusterUses are all uses, in the order in which they are told.
func ClusterUses() []ClusterUse {
	return []ClusterUse{UseAddresses, UseHome, UseApps, UseDNS}
}

// Manifest is the file with the rights of a use.
func (u ClusterUse) Manifest() string { return "deploy/target-cluster/" + string(u) + ".yaml" }

// AllUses are what a cluster is for. A cluster that names no use has all.
func (c Cluster) AllUses() []ClusterUse {
	if len(c.Uses) == 0 {
		return ClusterUses()
	}
	return c.Uses
}

// For tells whether a cluster has a use.
func (c Cluster) For(use ClusterUse) bool { return slices.Contains(c.AllUses(), use) }

// Lacks says what a cluster cannot be used for, and what would allow it. The name is
// "provider+cluster", and need is what needs the use.
func (u ClusterUse) Lacks(cluster, need string) string {
	return fmt.Sprintf("cluster %s is not for %s, which %s needs; add %q to its uses, and apply %s there", cluster, u, need, u, u.Manifest())
}
