package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// The prefixes of subjects and groups. They keep subjects of one kind apart from those of
// another kind, and of the token file.
const (
	ofIssuer      = "oidc:" // a claim of an issuer's token follows
	ofCertificate = "cert:" // a name of a client's certificate follows
)

// policy says which roles the subjects of an issuer's tokens and of certificates
// have.
type policy struct {
	Claims bool         `json:"claims"` // roles in tokens count, too
	Grants []policyRule `json:"grants"`
}

// policyRule grants a role to all whom it names.
type policyRule struct {
	Role     string       `json:"role"`
	Projects ruleProjects `json:"projects"`
	Subjects []string     `json:"subjects"`
	Groups   []string     `json:"groups"`

	grants []Grant
}

// ruleProjects are those that a rule grants its role in: all of them where it does
// not say.
type ruleProjects struct {
	said  bool // also with nothing in it
	names []string
}

// UnmarshalJSON reads a list of names. A list of which nothing is left, null, is
// none of all.
func (p *ruleProjects) UnmarshalJSON(text []byte) error {
	p.said = true
	return json.Unmarshal(text, &p.names)
}

// parsePolicy reads a policy file. Its errors name the field by its JSON
// pointer.
func parsePolicy(content []byte) (*policy, error) {
	text, err := safeyaml.ToJSON(content)
	if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	p := &policy{}
	unknown, err := kjson.UnmarshalStrict(text, p)
	if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf(": %w", unknownFields(unknown))
	}
	if len(p.Grants) == 0 && !p.Claims {
		return nil, errors.New(": /grants: there is no grant; give items with role, subjects or groups, and optionally projects")
	}
	for i := range p.Grants {
		if field, err := p.Grants[i].complete(); err != nil {
			return nil, fmt.Errorf(": /grants/%d%s: %w", i, field, err)
		}
	}
	return p, nil
}

// unknownFields says where fields are that a policy does not have.
func unknownFields(found []error) error {
	pointer := strings.NewReplacer(".", "/", "[", "/", "]", "")
	told := make([]string, len(found))
	for i, err := range found {
		told[i] = err.Error()
		if at, ok := errors.AsType[kjson.FieldError](err); ok {
			told[i] = "/" + pointer.Replace(at.FieldPath()) + ": unknown field"
		}
	}
	return errors.New(strings.Join(told, "; "))
}

// complete checks the rule and makes its grants. field is the one that is wrong.
func (r *policyRule) complete() (field string, err error) {
	role, ok := ParseRole(r.Role)
	switch {
	case !ok:
		return "/role", fmt.Errorf("%q is not a role; want one of %s", r.Role, strings.Join(RoleNames(), ", "))
	case len(r.Subjects)+len(r.Groups) == 0:
		return "", errors.New("names neither subjects nor groups")
	case !r.Projects.said:
		r.grants = []Grant{{Role: role}}
	case len(r.Projects.names) == 0:
		return "/projects", errors.New("is empty; leave it out to grant the role in all projects")
	default:
		for i, project := range r.Projects.names {
			if err := checkProject(project); err != nil {
				return fmt.Sprintf("/projects/%d", i), err
			}
			r.grants = append(r.grants, Grant{Role: role, Project: project})
		}
	}
	for i, name := range r.Subjects {
		if err := checkName(name); err != nil {
			return fmt.Sprintf("/subjects/%d", i), err
		}
	}
	for i, name := range r.Groups {
		if err := checkName(name); err != nil {
			return fmt.Sprintf("/groups/%d", i), err
		}
	}
	return "", nil
}

// projectName is what projects may be called: a Name of openapi.yaml.
var projectName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)

// checkProject refuses what no project can be called, as a pattern.
func checkProject(name string) error {
	if !projectName.MatchString(name) {
		return fmt.Errorf("%q is not a name of a project; for all projects leave them out", name)
	}
	return nil
}

// checkName refuses the name of a subject or a group that nobody can have.
func checkName(name string) error {
	for _, kind := range []string{ofIssuer, ofCertificate} {
		if rest, ok := strings.CutPrefix(name, kind); ok && rest != "" {
			return nil
		}
	}
	return fmt.Errorf("%q must begin with %s, as names of an issuer's tokens do, or with %s, as those of certificates do", name, ofIssuer, ofCertificate)
}

// grantsOf are those of a subject and its groups.
func (p *policy) grantsOf(subject string, groups []string) []Grant {
	var granted []Grant
	for _, rule := range p.Grants {
		inGroup := func(name string) bool { return slices.Contains(groups, name) }
		if slices.Contains(rule.Subjects, subject) || slices.ContainsFunc(rule.Groups, inGroup) {
			granted = append(granted, rule.grants...)
		}
	}
	return granted
}
