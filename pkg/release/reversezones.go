package release

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/hostname"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
)

// checkReverseZones refuses zones that are known to hold the names of a cluster's own
// Services: by the address of its DNS service, which may have been said after the
// intent, and by that of the one that Signpost has made there.
func (s *Service) checkReverseZones(ctx context.Context, d *draft) error {
	for _, dns := range d.group.DNS {
		var known []netip.Addr
		if own := d.in.clusters[dns.Cluster].Spec.DNS; own != nil {
			if at, err := netip.ParseAddr(own.Address); err == nil {
				known = append(known, at)
			}
		}
		seen, err := s.Observed.Service(ctx, address.Service{Cluster: dns.Cluster, Namespace: dns.Spec.Namespace, Name: clusterdns.ServiceName})
		if err != nil {
			return err
		}
		if seen != nil {
			for _, ip := range seen.ClusterIPs {
				if at, err := netip.ParseAddr(ip); err == nil {
					known = append(known, at)
				}
			}
		}
		d.refuseReverse(dns, known)
	}
	return nil
}

func (d *draft) refuseReverse(dns plan.ClusterDNS, known []netip.Addr) {
	zones := zonesOf(dns.Spec)
	for _, pointer := range slices.Sorted(maps.Keys(zones)) {
		zone := zones[pointer]
		for _, network := range hostname.ReverseNetworks(zone) {
			at := slices.IndexFunc(known, func(a netip.Addr) bool { return network.Contains(a.Unmap()) })
			if at >= 0 {
				d.fail(d.group.Path.Child("dns-cr-intents", dns.Intent), pointer,
					"on %s: %s holds the names of the cluster's Services, of which %s is one: their PTR records would no longer be answered; give zones beside those networks", dns.Cluster, zone, known[at])
				break
			}
		}
	}
}

// zonesOf are the zones that an intent forwards, by their pointers.
func zonesOf(spec intent.DNSCRIntent) map[string]string {
	zones := map[string]string{}
	if spec.PluginConfig != nil {
		for n, plugin := range spec.PluginConfig.ForwardPlugins {
			zones[fmt.Sprintf("/spec/pluginConfig/forwardPlugins/%d/domain", n)] = plugin.Domain
		}
	}
	for n, server := range spec.Servers {
		for m, zone := range server.Zones {
			zones[fmt.Sprintf("/spec/servers/%d/zones/%d", n, m)] = zone
		}
	}
	return zones
}
