package nameclaim

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// ofProject is what the paths of a claim's project begin with.
func (c Claim) ofProject() string { return "projects/" + c.Project + "/" }

// ownName is the name as a resource that a project publishes under a key.
func (c Claim) ownName(key Key) intent.Path {
	return intent.Path(c.ofProject() + intent.NamesCollection + "/" + key.Name)
}

// short is a claim as it is stored under a key: paths are relative to its project. The path
// of the name as a resource is left out.
func (c Claim) short(key Key) Claim {
	c.Entries = slices.Clone(c.Entries)
	for n := range c.Entries {
		e := &c.Entries[n]
		if e.Group == c.ownName(key) && !e.Stays {
			e.Group = ""
		}
		e.Group, e.Through = c.relative(e.Group), c.relative(e.Through)
	}
	return c
}

func (c Claim) relative(path intent.Path) intent.Path {
	rest, inside := strings.CutPrefix(string(path), c.ofProject())
	if !inside || rest == "" || strings.HasPrefix(rest, "projects/") {
		return path
	}
	return intent.Path(rest)
}

// whole is a claim of short as it was.
func (c Claim) whole(key Key) Claim {
	for n := range c.Entries {
		e := &c.Entries[n]
		e.Group, e.Through = c.absolute(e.Group), c.absolute(e.Through)
		if e.Group == "" && !e.Stays {
			e.Group = c.ownName(key)
		}
	}
	return c
}

func (c Claim) absolute(path intent.Path) intent.Path {
	if path == "" || strings.HasPrefix(string(path), "projects/") {
		return path
	}
	return intent.Path(c.ofProject()) + path
}
