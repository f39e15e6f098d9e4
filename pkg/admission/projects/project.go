// Package projects judges projects, their namespaces and what is granted to them.
package projects

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckProject admits a project. Its namespace is reserved when it is stored.
func CheckProject(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.Project) error {
	const at = review.Spec + "/namespace"
	name := r.Path.Name()
	checkDomains(r, in)
	CheckGrantedNamespaces(r, in.Namespaces)
	checkGrantedAccounts(r, in.ServiceAccounts)
	if err := checkSafety(ctx, a, r, in, old); err != nil {
		return err
	}
	if err := bounded(ctx, name, in, old); err != nil {
		return err
	}
	if old != nil {
		if in.Namespace == "" || in.Namespace == old.Namespace {
			in.Namespace = old.Namespace
			return keepReservation(r, in)
		}
		if err := fixedOnceUsed(ctx, a, r, old.Namespace); err != nil {
			return err
		}
	}
	candidates := []string{in.Namespace}
	if in.Namespace == "" {
		candidates = defaultNamespaces(name)
	} else if !checkProjectNamespace(r, at, in.Namespace) {
		return nil
	}
	free, err := freeNamespaces(ctx, a, r, at, candidates)
	if err != nil || len(free) == 0 {
		return err
	}
	in.Namespace = free[0]
	claimNamespace(r, in, free)
	return nil
}

// bounded refuses to have those change what their project is granted, and how
// much it may have, whose rights end with it.
func bounded(ctx context.Context, name string, in, old *intent.Project) error {
	who := intent.By(ctx)
	if !who.Confined {
		return nil
	}
	var was intent.Project
	if old != nil {
		was = *old
	}
	refused := &intent.Error{Code: intent.Forbidden, Detail: who.Subject + " has rights only on single projects; this needs the role admin in all projects"}
	for _, granted := range []struct {
		field    review.Pointer
		was, now []string
	}{{"/domains", was.Domains, in.Domains}, {"/namespaces", was.Namespaces, in.Namespaces}, {"/serviceAccounts", was.ServiceAccounts, in.ServiceAccounts}} {
		if !slices.Equal(granted.was, granted.now) {
			refused.Fields = append(refused.Fields, intent.Field{Pointer: string(review.Spec + granted.field), Detail: "changes the grants of the project; leave it as it is"})
		}
	}
	if in.Namespace != "" && in.Namespace != was.Namespace && !slices.Contains(defaultNamespaces(name), in.Namespace) {
		refused.Fields = append(refused.Fields, intent.Field{Pointer: string(review.Spec + "/namespace"), Detail: "may be chosen by an administrator of all projects alone; remove it"})
	}
	if !reflect.DeepEqual(in.Quotas, was.Quotas) {
		refused.Fields = append(refused.Fields, intent.Field{Pointer: string(review.Spec + "/quotas"), Detail: "changes the quotas of the project; leave it as it is"})
	}
	if refused.Fields == nil {
		return nil
	}
	return refused
}

// Unbound refuses to have those delete a project whose rights end with it, and
// whom it bounds: they could create it anew, without its bounds.
func Unbound(ctx context.Context, doc intent.Document) error {
	project, err := intent.Of[intent.Project](doc)
	if err != nil {
		return err
	}
	return bounded(ctx, doc.Path.Name(), &intent.Project{}, &project.Spec)
}

// checkDomains brings the domains that are granted to a project into canonical form.
func checkDomains(r *review.Review, in *intent.Project) {
	at := review.Spec + "/domains"
	for n, text := range in.Domains {
		zone, err := hostname.Zone(text)
		if err != nil {
			r.Refusef(at.Index(n), "%s %s", review.Quote(text), err)
			continue
		}
		if slices.Contains(in.Domains[:n], zone) {
			r.Refusef(at.Index(n), "%s is given twice; leave one out", review.Quote(text))
		}
		in.Domains[n] = zone
	}
}

// claimNamespace has the namespace reserved when the project is stored.
func claimNamespace(r *review.Review, in *intent.Project, candidates []string) {
	r.Claim = &review.Claim{Candidates: candidates, Chosen: func(namespace string) { in.Namespace = namespace }}
	if r.Old != nil {
		r.Claim.Previous = Reservation(r.Old.Refs)
	}
}

// keepReservation keeps the reservation that the old document refers to.
func keepReservation(r *review.Review, in *intent.Project) error {
	if kept := Reservation(r.Old.Refs); kept != "" {
		r.Refer(kept)
		return nil
	}
	claimNamespace(r, in, []string{in.Namespace})
	return nil
}

// defaultNamespaces are what a project gets that asks for none: the first, or
// where another has it the second, which is its own.
func defaultNamespaces(name string) []string {
	const prefix, hashed = "signpost-", 9
	plain := prefix + review.Slug(name, review.LongestLabel-len(prefix))
	unique := prefix + review.Slug(name, review.LongestLabel-len(prefix)-hashed) + "-" + review.Hash(name)
	if plain == ReservedNamespace {
		return []string{unique}
	}
	return []string{plain, unique}
}

// OwnNamespace is the namespace of a project for which nobody can choose one. It is the
// first default for a name that is a DNS label, else the second, so that no two projects
// have the same.
func OwnNamespace(project string) string {
	names := defaultNamespaces(project)
	if names[0] == "signpost-"+project {
		return names[0]
	}
	return names[len(names)-1]
}

// checkProjectNamespace checks the name of a project's namespace.
func checkProjectNamespace(r *review.Review, at review.Pointer, namespace string) bool {
	if !checkNamespaceName(r, at, namespace) {
		return false
	}
	if namespace == "default" || namespace == ReservedNamespace {
		r.Refusef(at, "%s is a shared namespace; choose one that only the project uses, such as signpost-%s", review.Quote(namespace), review.Slug(r.Path.Name(), review.LongestLabel))
		return false
	}
	return true
}

// fixedOnceUsed refuses another namespace where something of the project was
// ever instantiated.
func fixedOnceUsed(ctx context.Context, a *review.Checker, r *review.Review, namespace string) error {
	page, err := a.Store.List(ctx, intent.ListOptions{
		Collection: intent.LifecycleCollection, NamePrefix: string(r.Path) + "/", Limit: 1,
	})
	if err != nil || len(page.Items) == 0 {
		return err
	}
	r.Conflictf(review.Spec+"/namespace", "is in use by %s and stays %s; give that one again", page.Items[0].Path.Name(), review.Quote(namespace))
	return nil
}

// freeNamespaces are the candidates that no project has, no logical cloud of
// another project, and nothing that another project has released. When there is
// none, it says why.
func freeNamespaces(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, candidates []string) ([]string, error) {
	tenants, err := tenantsOf(ctx, a, candidates, r.Path)
	if err != nil {
		return nil, err
	}
	var free []string
	var why []string
	for _, namespace := range candidates {
		holder, err := a.NamespaceHolder(ctx, namespace)
		if err != nil {
			return nil, err
		}
		tenant := tenants[namespace]
		if tenant == "" && a.Rules.NamespaceTenant != nil {
			if _, tenant, err = a.Rules.NamespaceTenant(ctx, namespace, r.Path.Name()); err != nil {
				return nil, err
			}
		}
		switch {
		case holder != "" && holder != r.Path.Name():
			why = append(why, review.Quote(namespace)+" is the namespace of "+intent.By(ctx).Project(holder)+"; choose another")
		case tenant != "":
			why = append(why, review.Quote(namespace)+" is in use by "+intent.By(ctx).Names(tenant)+"; choose another")
		default:
			free = append(free, namespace)
		}
	}
	if len(free) == 0 {
		r.Conflictf(at, "%s", why[len(why)-1])
	}
	return free, nil
}

// tenantsOf finds, for each of the namespaces, a logical cloud of another
// project that uses it. It reads several projects at once: there may be thousands.
func tenantsOf(ctx context.Context, a *review.Checker, namespaces []string, but intent.Path) (map[string]intent.Path, error) {
	const atOnce = 16
	var mu sync.Mutex
	found := map[string]intent.Path{}
	reads, reading := errgroup.WithContext(ctx)
	reads.SetLimit(atOnce)
	err := a.Each(reading, "projects", func(project intent.Document) error {
		if project.Path == but {
			return nil
		}
		reads.Go(func() error {
			return a.Each(reading, string(project.Path)+"/logical-clouds", func(doc intent.Document) error {
				cloud, err := intent.Of[intent.LogicalCloud](doc)
				if err != nil || !slices.Contains(namespaces, cloud.Spec.Namespace) {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				found[cloud.Spec.Namespace] = doc.Path
				return nil
			})
		})
		return nil
	})
	return found, cmp.Or(reads.Wait(), err)
}
