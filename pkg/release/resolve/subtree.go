package resolve

import (
	"context"
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
)

// Relative is a name that somebody holds above or below a requested one. The CoreDNS of
// their etcd answers the upper one with both.
type Relative struct {
	Request ClaimRequest
	Tree    string // the prefix of the keys of the request
	Key     nameclaim.Key
	Project string
	By      nameclaim.Entry
}

// below tells whether the name that is asked for is the lower one.
func (r Relative) below() bool { return strings.HasSuffix(r.Request.Key.Name, "."+r.Key.Name) }

// Upper and lower are the two names.
func (r Relative) Upper() string {
	if r.below() {
		return r.Key.Name
	}
	return r.Request.Key.Name
}

// Lower is the name that lies below the other.
func (r Relative) Lower() string {
	if r.below() {
		return r.Request.Key.Name
	}
	return r.Key.Name
}

// Judged is the name of a request by which domains judge it.
func (b ClaimRequest) Judged() string {
	return strings.TrimPrefix(externaldns.SeenAs(b.Prefix, b.Host).Name, "*.")
}

// Refusal says why a name cannot be had beside a relative, and which grant would
// change that.
func (r Relative) Refusal(ctx context.Context) string {
	whose := "another project's"
	if intent.By(ctx).Sees(r.Project) {
		whose = fmt.Sprintf("project %q's", r.Project)
	}
	grant := r.Request.Judged()
	if r.below() {
		return fmt.Sprintf("%s lies below %q, which is %s: CoreDNS answers that with all names below it; choose another host name, or have an administrator grant %s to this project alone (spec.domains)", r.Request.Seen(), r.Key.Name, whose, grant)
	}
	return fmt.Sprintf("%s lies above %q, which is %s: CoreDNS would also answer it with that; choose another host name, or have an administrator grant %s to this project alone (spec.domains)", r.Request.Seen(), r.Key.Name, whose, grant)
}

// MostWarnings is how many names a plan warns of one by one.
const MostWarnings = 10

// OwnerNote says to which other project a relative belongs, empty for none.
func (r Relative) OwnerNote(ctx context.Context, project string) string {
	switch {
	case r.Project == project:
		return ""
	case intent.By(ctx).Sees(r.Project):
		return fmt.Sprintf(" (%s belongs to project %q)", r.Key.Name, r.Project)
	}
	return fmt.Sprintf(" (%s belongs to another project)", r.Key.Name)
}
