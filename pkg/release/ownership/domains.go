package ownership

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// grants are the projects that domains are granted to, by the domain.
type grants map[string][]string

// grants reads what all projects are granted.
func (s *Registry) grants(ctx context.Context) (grants, error) {
	all := grants{}
	err := intent.Each(ctx, s.Documents, intent.ListOptions{Collection: "projects"}, func(doc intent.Document) error {
		project, err := intent.Of[intent.Project](doc)
		for _, domain := range project.Spec.Domains {
			all[domain] = append(all[domain], doc.Path.Name())
		}
		return err
	})
	return all, err
}

// of are the longest granted domain that a name lies in, empty for none, and to
// whom it is granted. A wildcard lies where all names lie that it stands for.
func (all grants) of(name string) (domain string, projects []string) {
	domain = strings.TrimPrefix(name, "*.")
	for domain != "" {
		if projects := all[domain]; len(projects) > 0 {
			return domain, projects
		}
		_, domain, _ = strings.Cut(domain, ".")
	}
	return "", nil
}

// to tells whether the longest domain that a name lies in is granted to a project.
func (all grants) to(project, name string) bool {
	_, projects := all.of(name)
	return slices.Contains(projects, project)
}

// prefer tells whether the longest domain that a name lies in is granted to a project
// and not to another one.
func (all grants) prefer(name, project, other string) bool {
	return all.to(project, name) && !all.to(other, name)
}

// below is a domain whose names a wildcard stands for, too, and that is granted
// to others than a project; empty for none.
func (all grants) below(name, project string) (domain string) {
	rest, wildcard := strings.CutPrefix(name, "*")
	if !wildcard {
		return ""
	}
	for granted, projects := range all {
		if strings.HasSuffix(granted, rest) && !slices.Contains(projects, project) && (domain == "" || granted < domain) {
			domain = granted
		}
	}
	return domain
}

// GrantedToOthers makes a function that tells whether a name lies in a domain that is granted to others than a project.
func (s *Registry) GrantedToOthers(ctx context.Context, project string) (func(name string) bool, error) {
	all, err := s.grants(ctx)
	return func(name string) bool {
		domain, projects := all.of(name)
		return domain != "" && !slices.Contains(projects, project)
	}, err
}

// checkDomains refuses names in domains that are granted to others, and, where
// that is asked for, those in no domain that is granted.
func (s *Registry) checkDomains(ctx context.Context, d *resolve.Draft) error {
	if len(d.Group.Bindings) == 0 {
		return nil
	}
	all, err := s.grants(ctx)
	if err != nil || len(all) == 0 && !s.RequireDomains {
		return err
	}
	asked := d.Asked()
	for _, b := range d.Group.Bindings {
		frozen := d.Records[b.Record].Frozen
		for _, why := range s.reverseOutside(ctx, all, d.Group.Project.Name, externaldns.ReverseZones(asFlags(frozen.Spec))) {
			d.Fail(frozen.Path, atReverse, "%s", why)
		}
		marks := externaldns.Marks(asFlags(frozen.Spec))
		for _, host := range b.Hosts {
			why := s.outsideDomains(ctx, all, d.Group.Project.Name, b.Prefix, host.Name)
			if why == "" {
				why = markedOutside(ctx, all, d.Group.Project.Name, b, host.Name, marks(host.Name))
			}
			if why != "" {
				FailName(d, asked[host.Name], why)
			}
		}
	}
	return nil
}

// asFlags is a record as external-dns is given it.
func asFlags(spec intent.Record) externaldns.Record {
	return externaldns.Record{Provider: spec.Provider, Parameters: spec.Parameters}
}

// MarksOutside refuses an update of a provider by which external-dns would write into
// domains that are granted to others. It would mark names that groups hold there, or make
// PTR records. Existing records there stay: a later grant removes nothing.
func (s *Registry) MarksOutside(ctx context.Context, p *resolve.RecordProposal) ([]intent.Field, error) {
	all, err := s.grants(ctx)
	if err != nil || !p.InUse || len(all) == 0 && !s.RequireDomains {
		return nil, err
	}
	was, is, project := asFlags(p.Before.Record.Spec), asFlags(p.Frozen.Spec), p.Frozen.Project.Name
	var out []intent.Field
	for _, why := range s.reverseOutside(ctx, all, project, added(externaldns.ReverseZones(was), externaldns.ReverseZones(is))) {
		out = append(out, intent.Field{Pointer: string(p.Frozen.Path) + "#" + atReverse, Detail: why})
	}
	if reflect.DeepEqual(was, is) {
		return out, nil
	}
	before, after := externaldns.Marks(was), externaldns.Marks(is)
	err = s.eachHeld(ctx, p.Frozen, func(b plan.Binding, host plan.Host) {
		why := markedOutside(ctx, all, project, b, host.Name, added(before(host.Name), after(host.Name)))
		if why != "" && len(out) < resolve.MostWarnings {
			out = append(out, intent.Field{Pointer: string(p.Frozen.Path) + "#/spec/external-dns-parameters", Detail: why})
		}
	})
	return out, err
}

// added are those of some texts that are not among earlier ones.
func added(was, is []string) []string {
	return slices.DeleteFunc(slices.Clone(is), func(text string) bool { return slices.Contains(was, text) })
}

// eachHeld visits the host names that groups hold through a record: those of their
// releases, and those of earlier ones that clusters may still have.
func (s *Registry) eachHeld(ctx context.Context, record plan.Record, visit func(b plan.Binding, host plan.Host)) error {
	var releases []string
	err := s.EachGroup(ctx, record.Path, func(_ intent.Path, l state.Lifecycle) {
		releases = append(releases, l.PendingRelease...)
		if l.Deployed() {
			releases = append(releases, l.ContextID)
		}
	})
	if err != nil {
		return err
	}
	for ids := range slices.Chunk(releases, kv.MaxOps) {
		found, err := s.LoadReleases(ctx, ids) // without those that others have followed meanwhile
		if err != nil {
			return err
		}
		for _, id := range ids {
			for _, b := range found[id].Group.Bindings {
				if b.Record != record.Name {
					continue
				}
				for _, host := range b.Hosts {
					visit(b, host)
				}
			}
		}
	}
	return nil
}

// markedOutside says why a host name may not be published with its provider's settings.
// The TXT records that mark it would lie in a domain of others. Beside the host name
// itself they may be, because external-dns puts them there by default.
func markedOutside(ctx context.Context, all grants, project string, b plan.Binding, host string, marks []string) string {
	_, parent, _ := strings.Cut(host, ".")
	for _, mark := range marks {
		if _, beside, _ := strings.Cut(mark, "."); beside == parent {
			continue
		}
		for _, name := range externaldns.Names(b.Prefix, mark) {
			domain, projects := all.of(name)
			if domain != "" && !slices.Contains(projects, project) {
				return fmt.Sprintf("external-dns of provider %[2]q would mark %[3]q with a TXT record %[1]s in %[4]s, which is granted to %[5]s; give another name, or give the provider another txt-prefix or txt-suffix",
					name, b.Record, host, domain, grantees(ctx, projects))
			}
		}
	}
	return ""
}

// atReverse is where a record asks for PTR records.
const atReverse = "/spec/external-dns-parameters/create-ptr"

// reverseOutside says in which of some zones external-dns may not make PTR records for a
// project. These lie in domains that are granted to others, and, if that is asked for, in
// no granted domain.
func (s *Registry) reverseOutside(ctx context.Context, all grants, project string, zones []string) []string {
	var out []string
	for _, zone := range zones {
		domain, projects := all.of(zone)
		below := all.below("*."+zone, project)
		fail := func(format string, args ...any) {
			out = append(out, fmt.Sprintf("makes PTR records in "+format+"; remove create-ptr, or narrow the zones of the provider", args...))
		}
		switch {
		case domain != "" && !slices.Contains(projects, project):
			fail("%s, which lies in %s, granted to %s", zone, domain, grantees(ctx, projects))
		case below != "":
			fail("%s, which holds %s, granted to %s", zone, below, grantees(ctx, all[below]))
		case domain == "" && s.RequireDomains:
			fail("%s, which lies in no domain of the project; have an administrator grant one (spec.domains)", zone)
		}
	}
	return out
}

// outsideDomains says why a project may not publish a host name below a key prefix, as
// far as domains are granted; empty: it may. Names that only some resolvers see in its
// place are refused where they are others'.
func (s *Registry) outsideDomains(ctx context.Context, all grants, project, prefix, host string) string {
	for _, name := range externaldns.Names(prefix, host) {
		domain, projects := all.of(name)
		below := all.below(name, project)
		switch {
		case slices.Contains(projects, project):
		case domain == "" && below != "":
			return fmt.Sprintf("%s lies above %s, which is granted to %s, and answers for names in it; choose another host name", resolve.SeenAs(name, prefix, host), below, grantees(ctx, all[below]))
		case domain != "":
			return fmt.Sprintf("%s lies in %s, which is granted to %s; choose another host name", resolve.SeenAs(name, prefix, host), domain, grantees(ctx, projects))
		case s.RequireDomains && name == externaldns.SeenAs(prefix, host).Name:
			return fmt.Sprintf("%s lies in no domain that is granted to the project; have an administrator grant one (spec.domains), or choose another host name", resolve.SeenAs(name, prefix, host))
		}
	}
	return ""
}

// grantees are projects as who asks may know of them.
func grantees(ctx context.Context, projects []string) string {
	known := slices.DeleteFunc(slices.Clone(projects), func(p string) bool { return !intent.By(ctx).Sees(p) })
	return cmp.Or(strings.Join(known, ", "), "another project")
}
