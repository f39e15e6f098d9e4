package index

import (
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// concern is what all pointers say of one cluster.
type concern struct {
	owners     map[appcontext.Owner]bool
	services   map[string]map[string]int // by namespace and name, how many owners name each
	placements map[string]placed         // by their keys
}

// placed is a placement, and how many owners have it.
type placed struct {
	placement placement.Placement
	owners    int
}

func newConcern() *concern {
	return &concern{owners: map[appcontext.Owner]bool{}, services: map[string]map[string]int{}, placements: map[string]placed{}}
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
		namespace, name, _ := strings.Cut(service, "/")
		if c.services[namespace] == nil {
			c.services[namespace] = map[string]int{}
		}
		c.services[namespace][name]++
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
		namespace, name, _ := strings.Cut(service, "/")
		of := c.services[namespace]
		of[name]--
		if of[name] == 0 {
			delete(of, name)
		}
		if len(of) == 0 {
			delete(c.services, namespace)
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

// within adds the Services of a namespace to a set.
func (c *concern) within(namespace string, set map[string]bool) {
	for name := range c.services[namespace] {
		set[namespace+"/"+name] = true
	}
}

// mostRecent is how many changes of a cluster are remembered at least, once there are as
// many. A reader that has missed more of them reads all owners.
const mostRecent = 128

// move is a change of an owner in a cluster.
type move struct {
	owner    appcontext.Owner
	services []string // that it named before, and names no longer, or names since then
}

// move notes a change of an owner in a cluster.
func (x *Index) move(cluster string, of move) {
	x.moves[cluster]++
	recent := x.recent[cluster]
	if len(recent) == 2*mostRecent { // half of them go at a time
		recent = append(recent[:0], recent[mostRecent:]...)
	}
	x.recent[cluster] = append(recent, of)
}
