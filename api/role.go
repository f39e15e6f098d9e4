package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// role is what a token may do: its place among roleNames.
type role int

// roleNames lists the roles, each of which may do what those before it may.
// openapi.yaml tells which operation needs which.
func roleNames() []string { return []string{"viewer", "editor", "operator", "admin"} }

func parseRole(name string) (role, bool) {
	place := slices.Index(roleNames(), name)
	return role(place), place >= 0
}

func (r role) String() string { return roleNames()[r] }

// subject is who a token stands for.
type subject struct {
	name    string
	role    role
	project string // the only project that it may touch; empty: all there is
}

// authorize answers who asks, or why they may not. project is the one in the
// path, empty for none.
func (e *edge) authorize(r *http.Request, op *operation, project string) (string, error) {
	if op.public || e.Tokens == nil {
		return "anonymous", nil
	}
	return e.Tokens.authorize(r.Header.Get("Authorization"), op.role, project)
}

// Operator answers who sends an Authorization header, or why they may not do
// what takes the role operator in all projects. Its errors are *intent.Error
// values: Unauthenticated or Forbidden.
func (t *Tokens) Operator(authorization string) (string, error) {
	operator, _ := parseRole("operator")
	return t.authorize(authorization, operator, "")
}

// authorize answers who sends an Authorization header, or why they may not do
// what takes a role in a project; empty: in all of them.
func (t *Tokens) authorize(authorization string, least role, project string) (string, error) {
	scheme, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", &intent.Error{Code: intent.Unauthenticated, Detail: "send a token, as in Authorization: Bearer TOKEN"}
	}
	who, ok := t.find(strings.TrimSpace(token))
	switch {
	case !ok:
		return "", &intent.Error{Code: intent.Unauthenticated, Detail: "the token is not known"}
	case who.project != "" && project == "":
		return "", &intent.Error{Code: intent.Forbidden, Detail: who.name + " has rights on project " + who.project + " alone"}
	case who.project != "" && who.project != project:
		return "", &intent.Error{Code: intent.Forbidden, Detail: who.name + " has no rights on project " + project}
	case who.role < least:
		return "", &intent.Error{
			Code:   intent.Forbidden,
			Detail: who.name + " is " + who.role.String() + ", but this needs the role " + least.String(),
		}
	}
	return who.name, nil
}
