package nameindex

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// conditions are the worst of the DNSEndpoints that decide on a row, and which ones these are.
func (t *tables) conditions(r *row) (published, verified string, decisive []*endpoint) {
	decisive = t.decisive(r)
	published, verified = worst(r.host, decisive)
	return published, verified, decisive
}

// decisive are the DNSEndpoints that decide how a host name does. An owner that has no address for a name does no
// harm to it. If others give the name in the same cluster, what they give decides, however it does.
func (t *tables) decisive(r *row) []*endpoint {
	if r.of.state != intent.Instantiated || !slices.ContainsFunc(r.from, (*endpoint).idle) {
		return r.from
	}
	given := t.given(r)
	var decisive []*endpoint
	for _, e := range r.from {
		if !e.idle() {
			decisive = append(decisive, e)
			continue
		}
		before := len(decisive)
		for _, other := range given {
			if other.at == e.at {
				decisive = append(decisive, other)
			}
		}
		if len(decisive) == before {
			return r.from
		}
	}
	return decisive
}

// worst are the worst conditions of DNSEndpoints that give a host name.
func worst(host string, of []*endpoint) (published, verified string) {
	published, verified = yes, yes
	for _, e := range of {
		published, verified = worse(published, e.publishedAs(host)), worse(verified, e.verifiedAs(host))
	}
	return published, verified
}

// idle tells that a DNSEndpoint is not in its home nor on its way there, and that nothing stands in its way.
func (e *endpoint) idle() bool { return !e.here && e.refused == "" }

// given are the DNSEndpoints in their homes that give the host name of a row at the same provider. The rows are
// in order.
func (t *tables) given(r *row) []*endpoint {
	begin, _ := slices.BinarySearchFunc(t.rows, r.host, func(o *row, host string) int { return strings.Compare(o.host, host) })
	var all []*endpoint
	for _, o := range t.rows[begin:] {
		if o.host != r.host {
			break
		}
		if !o.gone && o.of.project == r.of.project && o.provider == r.provider && o.scope == r.scope {
			all = append(all, o.from...)
		}
	}
	return slices.DeleteFunc(all, (*endpoint).idle)
}

// aliasOf is the fixed host name that a host name is a CNAME of; empty: it is none.
func aliasOf(host plan.Host) string {
	if len(host.Targets) != 1 {
		return ""
	}
	if _, err := netip.ParseAddr(host.Targets[0]); err == nil {
		return ""
	}
	return host.Targets[0]
}

// Aliases are the public names that are CNAMEs of host names, or of such CNAMEs, with their targets. The error
// is as of FindNames.
func (x *Index) Aliases(hosts []string) (map[string]string, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if err := x.fresh(); err != nil {
		return nil, err
	}
	targets := map[string]bool{}
	for _, host := range hosts {
		targets[host] = true
	}
	var aliases []*row
	for _, rows := range [][]*row{x.tables.rows, x.tables.added} {
		for _, r := range rows {
			if r.alias != "" && !r.gone && r.scope == intent.Public {
				aliases = append(aliases, r)
			}
		}
	}
	found := map[string]string{}
	for more := true; more; {
		more = false
		for _, r := range aliases {
			if _, known := found[r.host]; !known && targets[r.alias] {
				found[r.host], more = r.alias, true
			}
		}
		for name := range maps.Keys(found) {
			targets[name] = true
		}
	}
	return found, nil
}
