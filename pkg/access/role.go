package access

import "slices"

// Role is what somebody may do: each role may do what those before it may.
// openapi.yaml tells which operation needs which.
type Role int

// The roles.
const (
	Viewer   Role = iota // reads
	Editor               // also writes the documents of projects
	Operator             // also plans, instantiates, updates, rolls back and terminates
	Admin                // also writes projects, clusters and their KV pairs
)

// RoleNames lists the names of the roles, in their order.
func RoleNames() []string { return []string{"viewer", "editor", "operator", "admin"} }

// ParseRole answers the role of a name, and whether there is one.
func ParseRole(name string) (Role, bool) {
	place := slices.Index(RoleNames(), name)
	return Role(place), place >= 0
}

// String is the role's name.
func (r Role) String() string { return RoleNames()[r] }
