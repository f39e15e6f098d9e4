package endpoints

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Services are the SRV records of a host that asks for them. Each named port of its
// Services has a name, "_port._protocol." before the host's, as long as the host itself
// publishes something. If rooted, the host in them has a final dot, as some releases of
// external-dns need it.
func Services(host plan.Host, c address.Choice, rooted bool) []address.Set {
	if !slices.Contains(host.Types, "SRV") || len(Sets(host, c)) == 0 {
		return nil
	}
	at := host.Name
	if rooted {
		at += "."
	}
	targets := map[string][]string{}
	var names []string
	for _, port := range c.Ports {
		name := strings.ToLower(fmt.Sprintf("_%s._%s.%s", port.Name, port.Protocol, host.Name))
		target := fmt.Sprintf("0 0 %d %s", port.Number, at)
		if !slices.Contains(targets[name], target) {
			targets[name] = append(targets[name], target)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	var out []address.Set
	for _, name := range slices.Compact(names) {
		slices.Sort(targets[name])
		out = append(out, address.Set{Name: name, Type: "SRV", Targets: targets[name]})
	}
	return out
}
