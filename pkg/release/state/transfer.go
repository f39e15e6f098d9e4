package state

import (
	"crypto/sha256"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Transfer are names of a group's release that another group has taken over. Of
// 10,000 long names it is small enough for a document.
type Transfer struct {
	To    intent.Path `json:"to"`
	Names []byte      `json:"names"` // their digests, one behind the other
}

// Digest stands for a name of a binding, of any cluster.
type Digest [16]byte

// DigestOf is the digest of a name of a binding.
func DigestOf(b plan.Binding, name string) Digest {
	sum := sha256.Sum256([]byte(string(b.Scope) + "\n" + b.Record + "\n" + name))
	return Digest(sum[:len(Digest{})])
}

// Takers are the groups that have taken names over.
func Takers(yielded []Transfer) map[Digest]intent.Path {
	all := map[Digest]intent.Path{}
	for _, y := range yielded {
		for octets := range slices.Chunk(y.Names, len(Digest{})) {
			var name Digest
			copy(name[:], octets)
			all[name] = y.To
		}
	}
	return all
}

// WithoutTransferred is a group without the names that it has handed over.
func WithoutTransferred(g plan.Group, yielded []Transfer) plan.Group {
	if len(yielded) == 0 {
		return g
	}
	taken := Takers(yielded)
	var bindings []plan.Binding
	for _, b := range g.Bindings {
		b.Hosts = slices.DeleteFunc(slices.Clone(b.Hosts), func(h plan.Host) bool { return taken[DigestOf(b, h.Name)] != "" })
		if len(b.Hosts) > 0 {
			bindings = append(bindings, b)
		}
	}
	g.Bindings = bindings
	return g
}
