package access

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Subject is who asks.
type Subject struct {
	Name   string
	Grants []Grant // none: may do nothing
}

// Grant is a role, in a project or in all of them.
type Grant struct {
	Role    Role
	Project string // empty: all there is
}

// AnyProject stands for a project that is not named: a role in one is enough.
const AnyProject = "*"

// covers tells whether the grant is good for a project; empty: for all of them.
func (g Grant) covers(project string) bool {
	return g.Project == "" || g.Project == project || project == AnyProject
}

// Anonymous is everybody, where nobody is asked who they are.
func Anonymous() Subject {
	return Subject{Name: "anonymous", Grants: []Grant{{Role: Admin}}}
}

// Actor is the subject as those see it who do what it asks for.
func (s Subject) Actor() intent.Actor {
	roles := make([]intent.HeldRole, 0, len(s.Grants))
	for _, g := range s.Grants {
		roles = append(roles, intent.HeldRole{Role: g.Role.String(), Project: g.Project})
	}
	return intent.Actor{
		Subject: s.Name, Confined: s.May(Admin, "") != nil, Roles: roles,
		Reads:    func(project string) bool { return s.May(Viewer, project) == nil },
		Operates: func(project string) bool { return s.May(Operator, project) == nil },
	}
}

// May returns nil if the subject has the role in a project (empty: in all of them; AnyProject: in
// one or more). Otherwise it returns an *intent.Error of code Forbidden that says which role is
// missing.
func (s Subject) May(least Role, project string) error {
	best := Role(-1)
	for _, g := range s.Grants {
		if g.covers(project) {
			best = max(best, g.Role)
		}
	}
	switch {
	case best >= least:
		return nil
	case best >= 0:
		return s.lacks(" is " + best.String() + ", but this needs the role " + least.String())
	case len(s.Grants) == 0:
		return s.lacks(" has no role here; the operator of Signpost can grant one in the policy file")
	case project == "":
		return s.lacks(" has rights only on project " + strings.Join(s.projects(), ", "))
	}
	return s.lacks(" has no rights on project " + project)
}

func (s Subject) lacks(what string) error {
	return &intent.Error{Code: intent.Forbidden, Detail: s.Name + what}
}

// projects are those that the grants name.
func (s Subject) projects() []string {
	var all []string
	for _, g := range s.Grants {
		all = append(all, g.Project)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

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
