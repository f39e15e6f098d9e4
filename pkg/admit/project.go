package admit

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/hostname"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// project admits a project. Its namespace is reserved when it is stored.
func (a *Admitter) project(ctx context.Context, r *review, in, old *intent.Project) error {
	const at = spec + "/namespace"
	name := r.path.Name()
	r.domains(in)
	r.grantedNamespaces(in.Namespaces)
	r.grantedAccounts(in.ServiceAccounts)
	if err := bounded(ctx, name, in, old); err != nil {
		return err
	}
	if old != nil {
		if in.Namespace == "" || in.Namespace == old.Namespace {
			in.Namespace = old.Namespace
			return a.keepReservation(ctx, r, in)
		}
		if err := a.fixedOnceUsed(ctx, r, old.Namespace); err != nil {
			return err
		}
	}
	candidates := []string{in.Namespace}
	if in.Namespace == "" {
		candidates = defaultNamespaces(name)
	} else if !r.projectNamespace(at, in.Namespace) {
		return nil
	}
	free, err := a.freeNamespaces(ctx, r, at, candidates)
	if err != nil || len(free) == 0 {
		return err
	}
	in.Namespace = free[0]
	a.claim(r, in, free)
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
	refused := &intent.Error{Code: intent.Forbidden, Detail: who.Subject + " has rights on single projects; this takes the role admin in all of them"}
	for _, granted := range []struct {
		field    pointer
		was, now []string
	}{{"/domains", was.Domains, in.Domains}, {"/namespaces", was.Namespaces, in.Namespaces}, {"/serviceAccounts", was.ServiceAccounts, in.ServiceAccounts}} {
		if !slices.Equal(granted.was, granted.now) {
			refused.Fields = append(refused.Fields, intent.Field{Pointer: string(spec + granted.field), Detail: "says what the project is granted; leave it as it is"})
		}
	}
	if in.Namespace != "" && in.Namespace != was.Namespace && !slices.Contains(defaultNamespaces(name), in.Namespace) {
		refused.Fields = append(refused.Fields, intent.Field{Pointer: string(spec + "/namespace"), Detail: "counts as granted to the project; leave it out"})
	}
	if !reflect.DeepEqual(in.Quotas, was.Quotas) {
		refused.Fields = append(refused.Fields, intent.Field{Pointer: string(spec + "/quotas"), Detail: "says how much the project may have; leave it as it is"})
	}
	if refused.Fields == nil {
		return nil
	}
	return refused
}

// unbound refuses to have those delete a project whose rights end with it, and
// whom it bounds: they could create it anew, without its bounds.
func unbound(ctx context.Context, doc intent.Document) error {
	project, err := intent.Of[intent.Project](doc)
	if err != nil {
		return err
	}
	return bounded(ctx, doc.Path.Name(), &intent.Project{}, &project.Spec)
}

// domains brings the domains that are granted to a project into canonical form.
func (r *review) domains(in *intent.Project) {
	at := spec + "/domains"
	for n, text := range in.Domains {
		zone, err := hostname.Zone(text)
		if err != nil {
			r.refusef(at.index(n), "%s %s", quote(text), err)
			continue
		}
		if slices.Contains(in.Domains[:n], zone) {
			r.refusef(at.index(n), "%s is given twice; leave one out", quote(text))
		}
		in.Domains[n] = zone
	}
}

// claim has the namespace reserved when the project is stored.
func (a *Admitter) claim(r *review, in *intent.Project, candidates []string) {
	r.claim = &claim{candidates: candidates, chosen: func(namespace string) { in.Namespace = namespace }}
	if r.old != nil {
		r.claim.previous = reservation(r.old.Refs)
	}
}

// keepReservation keeps the reservation that the old document refers to.
func (a *Admitter) keepReservation(_ context.Context, r *review, in *intent.Project) error {
	if kept := reservation(r.old.Refs); kept != "" {
		r.refer(kept)
		return nil
	}
	a.claim(r, in, []string{in.Namespace})
	return nil
}

// defaultNamespaces are what a project gets that asks for none: the first, or
// where another has it the second, which is its own.
func defaultNamespaces(name string) []string {
	const prefix, hashed = "signpost-", 9
	plain := prefix + slug(name, longestLabel-len(prefix))
	unique := prefix + slug(name, longestLabel-len(prefix)-hashed) + "-" + hash(name)
	if plain == reservedNamespace {
		return []string{unique}
	}
	return []string{plain, unique}
}

// OwnNamespace is the namespace of a project that is kept where nobody chooses
// it: the first default for a name that is a DNS label, else the second, so
// that no two projects have the same.
func OwnNamespace(project string) string {
	names := defaultNamespaces(project)
	if names[0] == "signpost-"+project {
		return names[0]
	}
	return names[len(names)-1]
}

// projectNamespace checks the name of a project's namespace.
func (r *review) projectNamespace(at pointer, namespace string) bool {
	if !r.namespaceName(at, namespace) {
		return false
	}
	if namespace == "default" || namespace == reservedNamespace {
		r.refusef(at, "%s is shared by many; choose a namespace that is the project's alone, such as signpost-%s", quote(namespace), slug(r.path.Name(), longestLabel))
		return false
	}
	return true
}

// fixedOnceUsed refuses another namespace where something of the project was
// ever instantiated.
func (a *Admitter) fixedOnceUsed(ctx context.Context, r *review, namespace string) error {
	page, err := a.store.List(ctx, intent.ListOptions{
		Collection: intent.LifecycleCollection, NamePrefix: string(r.path) + "/", Limit: 1,
	})
	if err != nil || len(page.Items) == 0 {
		return err
	}
	r.conflictf(spec+"/namespace", "is in use by %s and stays %s", page.Items[0].Path.Name(), quote(namespace))
	return nil
}

// freeNamespaces are the candidates that no project has, no logical cloud of
// another project, and nothing that another project has released. When there is
// none, it says why.
func (a *Admitter) freeNamespaces(ctx context.Context, r *review, at pointer, candidates []string) ([]string, error) {
	tenants, err := a.tenantsOf(ctx, candidates, r.path)
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
		if tenant == "" && a.rules.NamespaceTenant != nil {
			if _, tenant, err = a.rules.NamespaceTenant(ctx, namespace, r.path.Name()); err != nil {
				return nil, err
			}
		}
		switch {
		case holder != "" && holder != r.path.Name():
			why = append(why, quote(namespace)+" is the namespace of "+intent.By(ctx).Project(holder)+"; choose another")
		case tenant != "":
			why = append(why, quote(namespace)+" is in use by "+intent.By(ctx).Names(tenant)+"; choose another")
		default:
			free = append(free, namespace)
		}
	}
	if len(free) == 0 {
		r.conflictf(at, "%s", why[len(why)-1])
	}
	return free, nil
}

// tenantsOf finds, for each of the namespaces, a logical cloud of another
// project that uses it. It reads several projects at once: there may be thousands.
func (a *Admitter) tenantsOf(ctx context.Context, namespaces []string, but intent.Path) (map[string]intent.Path, error) {
	const atOnce = 16
	var mu sync.Mutex
	found := map[string]intent.Path{}
	reads, reading := errgroup.WithContext(ctx)
	reads.SetLimit(atOnce)
	err := a.each(reading, "projects", func(project intent.Document) error {
		if project.Path == but {
			return nil
		}
		reads.Go(func() error {
			return a.each(reading, string(project.Path)+"/logical-clouds", func(doc intent.Document) error {
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
