package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// grants are the projects that domains are granted to, by the domain.
type grants map[string][]string

// grants reads what all projects are granted.
func (s *Service) grants(ctx context.Context) (grants, error) {
	page, err := s.Documents.List(ctx, intent.ListOptions{Collection: "projects"})
	if err != nil {
		return nil, err
	}
	all := grants{}
	for _, doc := range page.Items {
		project, err := intent.Of[intent.Project](doc)
		if err != nil {
			return nil, err
		}
		for _, domain := range project.Spec.Domains {
			all[domain] = append(all[domain], doc.Path.Name())
		}
	}
	return all, nil
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

// checkDomains refuses names in domains that are granted to others, and, where
// that is asked for, those in no domain that is granted.
func (s *Service) checkDomains(ctx context.Context, d *draft) error {
	if len(d.group.Bindings) == 0 {
		return nil
	}
	all, err := s.grants(ctx)
	if err != nil || len(all) == 0 && !s.RequireDomains {
		return err
	}
	asked := d.asked()
	for _, b := range d.group.Bindings {
		spec := d.records[b.Record].frozen.Spec
		record := externaldns.Record{Provider: spec.Provider, Parameters: spec.Parameters}
		s.checkReverse(ctx, d, all, b.Record, externaldns.ReverseZones(record))
		marks := externaldns.Marks(record)
		for _, host := range b.Hosts {
			why := s.outsideDomains(ctx, all, d.group.Project.Name, b.Prefix, host.Name)
			if why == "" {
				why = markedOutside(ctx, all, d.group.Project.Name, b, host.Name, marks(host.Name))
			}
			if why != "" {
				d.failName(asked[host.Name], why)
			}
		}
	}
	return nil
}

// markedOutside says why a host name may not be published as its record is: the TXT
// records by which external-dns marks it as its own would lie in a domain of others.
// Beside the host name itself they may be: there external-dns puts them by default.
func markedOutside(ctx context.Context, all grants, project string, b plan.Binding, host string, marks []string) string {
	_, parent, _ := strings.Cut(host, ".")
	for _, mark := range marks {
		if _, beside, _ := strings.Cut(mark, "."); beside == parent {
			continue
		}
		for _, name := range externaldns.Names(b.Prefix, mark) {
			domain, projects := all.of(name)
			if domain != "" && !slices.Contains(projects, project) {
				return fmt.Sprintf("the TXT record %s by which external-dns of record %q would mark %q as its own lies in %s, which is granted to %s; give another name, or the record another txt-prefix or txt-suffix",
					name, b.Record, host, domain, grantees(ctx, projects))
			}
		}
	}
	return ""
}

// checkReverse refuses a record by which external-dns makes PTR records in domains
// that are granted to others, and, where that is asked for, in none that is granted.
func (s *Service) checkReverse(ctx context.Context, d *draft, all grants, record string, zones []string) {
	path, project := d.records[record].frozen.Path, d.group.Project.Name
	for _, zone := range zones {
		domain, projects := all.of(zone)
		below := all.below("*."+zone, project)
		fail := func(format string, args ...any) {
			d.fail(path, "/spec/external-dns-parameters/create-ptr", "makes PTR records in "+format+"; leave it out, or narrow the zones of the record", args...)
		}
		switch {
		case domain != "" && !slices.Contains(projects, project):
			fail("%s, which lies in %s, granted to %s", zone, domain, grantees(ctx, projects))
		case below != "":
			fail("%s, which holds %s, granted to %s", zone, below, grantees(ctx, all[below]))
		case domain == "" && s.RequireDomains:
			fail("%s, which lies in no domain that is granted to the project: have an administrator grant it (spec.domains)", zone)
		}
	}
}

// outsideDomains says why a project may not publish a host name below a key prefix, as
// far as domains are granted; empty: it may. Names that only some resolvers see in its
// place are refused where they are others'.
func (s *Service) outsideDomains(ctx context.Context, all grants, project, prefix, host string) string {
	for _, name := range externaldns.Names(prefix, host) {
		domain, projects := all.of(name)
		below := all.below(name, project)
		switch {
		case slices.Contains(projects, project):
		case domain == "" && below != "":
			return fmt.Sprintf("%s lies above %s, which is granted to %s, and stands for names in there; give the intent another name", seenAs(name, prefix, host), below, grantees(ctx, all[below]))
		case domain != "":
			return fmt.Sprintf("%s lies in %s, which is granted to %s; give the intent another name", seenAs(name, prefix, host), domain, grantees(ctx, projects))
		case s.RequireDomains && name == externaldns.SeenAs(prefix, host).Name:
			return fmt.Sprintf("%s lies in no domain that is granted to the project; have an administrator grant it one (spec.domains), or give the intent another name", seenAs(name, prefix, host))
		}
	}
	return ""
}

// grantees are projects as who asks may know of them.
func grantees(ctx context.Context, projects []string) string {
	known := slices.DeleteFunc(slices.Clone(projects), func(p string) bool { return !intent.By(ctx).Sees(p) })
	return cmp.Or(strings.Join(known, ", "), "another project")
}
