package index

import (
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// concern is what all pointers say of one cluster.
type concern struct {
	owners     map[appcontext.Owner]bool
	services   map[string]int    // how many owners name each
	namespaces map[string]int    // how many services are in each
	placements map[string]placed // by their keys
}

// placed is a placement, and how many owners have it.
type placed struct {
	placement placement.Placement
	owners    int
}

func newConcern() *concern {
	return &concern{owners: map[appcontext.Owner]bool{}, services: map[string]int{}, namespaces: map[string]int{}, placements: map[string]placed{}}
}

// all are the owners of a cluster; none of one without a concern.
func (c *concern) all() map[appcontext.Owner]bool {
	if c == nil {
		return nil
	}
	return c.owners
}

func (c *concern) add(p appcontext.Pointer, cluster string) {
	c.owners[p.Owner] = true
	for _, service := range p.Services[cluster] {
		c.services[service]++
		if c.services[service] == 1 {
			c.namespaces[namespaceOf(service)]++
		}
	}
	for _, of := range p.Placements[cluster] {
		key := of.Key()
		c.placements[key] = placed{of, c.placements[key].owners + 1}
	}
}

// remove undoes add.
func (c *concern) remove(p appcontext.Pointer, cluster string) {
	delete(c.owners, p.Owner)
	for _, service := range p.Services[cluster] {
		c.services[service]--
		if c.services[service] > 0 {
			continue
		}
		delete(c.services, service)
		namespace := namespaceOf(service)
		c.namespaces[namespace]--
		if c.namespaces[namespace] == 0 {
			delete(c.namespaces, namespace)
		}
	}
	for _, of := range p.Placements[cluster] {
		key := of.Key()
		if rest := c.placements[key].owners - 1; rest > 0 {
			c.placements[key] = placed{of, rest}
		} else {
			delete(c.placements, key)
		}
	}
}

// namespaceOf is that of a Service, "namespace/name".
func namespaceOf(service string) string {
	namespace, _, _ := strings.Cut(service, "/")
	return namespace
}

// mostRecent is how many changes of a cluster are remembered at least, once there are as
// many. A reader that has missed more of them reads all owners.
const mostRecent = 128

// move notes that an owner has changed in a cluster.
func (x *Index) move(cluster string, owner appcontext.Owner) {
	x.moves[cluster]++
	recent := x.recent[cluster]
	if len(recent) == 2*mostRecent { // half of them go at a time
		recent = append(recent[:0], recent[mostRecent:]...)
	}
	x.recent[cluster] = append(recent, owner)
}
