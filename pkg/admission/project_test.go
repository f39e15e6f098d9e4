package admission_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

const newProject intent.Path = "projects/new"

func TestProjectNamespacesAreRefused(t *testing.T) {
	const at = "/spec/namespace"
	refused(t, []refusal{
		{reason: "Kubernetes' own", path: newProject, spec: `{"namespace":"kube-system"}`, errors: map[string]string{at: "belongs to Kubernetes"}},
		{reason: "Signpost's namespace", path: newProject, spec: `{"namespace":"signpost"}`, errors: map[string]string{at: "is the namespace of Signpost with its ServiceAccounts"}},
		{reason: "everybody's", path: newProject, spec: `{"namespace":"default"}`, errors: map[string]string{at: "shared namespace"}},
		{reason: "the cluster DNS'", path: newProject, spec: `{"namespace":"signpost-dns"}`, errors: map[string]string{at: "shared namespace"}},
		{reason: "not a label", path: newProject, spec: `{"namespace":"Not.A.Label"}`, errors: map[string]string{at: "lower-case"}},
		{reason: "a path", path: newProject, spec: `{"namespace":"a/b"}`, errors: map[string]string{at: "not a namespace"}},
		{reason: "another project's", path: newProject, code: intent.Conflict, spec: `{"namespace":"shop-dns"}`, errors: map[string]string{at: "the namespace of another project"}},
		{reason: "in use by another project's logical cloud", path: newProject, code: intent.Conflict, spec: `{"namespace":"shop"}`,
			errors: map[string]string{at: "in use by another project"}},
	})
}

func TestGrantsOfProjectsAreRefused(t *testing.T) {
	refused(t, []refusal{
		{reason: "namespaces", path: newProject, spec: `{"namespaces":["flux-system","openshift-*","_","team-*","team-*"]}`,
			errors: map[string]string{"/spec/namespaces/2": "is not a namespace", "/spec/namespaces/4": "twice"}},
		{reason: "ServiceAccounts", path: newProject, spec: `{"serviceAccounts":["shop/builder","shop/*","shop/a*","builder","*/builder","shop/","shop/builder"]}`,
			errors: map[string]string{
				"/spec/serviceAccounts/3": "is not a ServiceAccount", "/spec/serviceAccounts/4": "is not a ServiceAccount",
				"/spec/serviceAccounts/5": "is not a ServiceAccount", "/spec/serviceAccounts/6": "twice",
			}},
	})
}

// TestAProjectsOwnAdminChoosesNoNamespace: it counts as granted.
func TestAProjectsOwnAdminChoosesNoNamespace(t *testing.T) {
	own := intent.As(t.Context(), intent.Actor{Subject: "petra", Confined: true})
	w := newShop(t)
	_, err := w.admitter.Admit(own, newProject, body(newProject, `{"namespace":"team"}`), nil)
	assertFields(t, err, intent.Forbidden, map[string]string{"/spec/namespace": "may be chosen by an administrator of all projects alone; remove it"})
	_, err = w.admitter.Admit(own, shop, body(shop, `{"namespace":"team"}`), w.old(shop))
	assertFields(t, err, intent.Forbidden, map[string]string{"/spec/namespace": "may be chosen by an administrator"})
	for _, spec := range []string{`{}`, `{"namespace":"signpost-new"}`} {
		_, err = w.admitter.Admit(own, newProject, body(newProject, spec), nil)
		require.NoError(t, err)
	}
	_, err = w.admitter.Admit(own, shop, body(shop, `{"namespace":"shop-dns"}`), w.old(shop))
	require.NoError(t, err, "as it is")
}

func TestProjectsWithoutANamespaceGetOneOfTheirOwn(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ reason, name, namespace string }{
		{"the slug of the name", "shop", "signpost-shop"},
		{"the slug and a hash where another has the slug", "Shop", "signpost-shop-0278eb25"},
		{"odd characters become dashes", "a._b--C", "signpost-a-b-c"},
		{"the cluster DNS keeps its namespace", "dns", "signpost-dns-" + "d0c46fc8"},
		{"a long name is cut", "x123456789-123456789-123456789-123456789-123456789-123456789-1", "signpost-x123456789-123456789-123456789-123456789-123456789-123"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			path := intent.Join("projects", c.name)
			w.must(path, `{}`)
			got, _ := w.spec(path)["namespace"].(string)
			if c.name == "Shop" || c.name == "dns" {
				assert.Regexp(t, "^"+c.namespace[:len(c.namespace)-8]+"[0-9a-f]{8}$", got)
				return
			}
			assert.Equal(t, c.namespace, got)
			assert.LessOrEqual(t, len(got), 63)
		})
	}
}

func TestAProjectsNamespaceIsFixedOnceUsed(t *testing.T) {
	w := newShop(t)
	w.must(shop, `{"namespace":"moved"}`)
	holder, err := w.admitter.NamespaceHolder(t.Context(), "moved")
	require.NoError(t, err)
	assert.Equal(t, "shop", holder)
	w.must(newProject, `{"namespace":"shop-dns"}`) // the old one is free again
	_, err = w.store.Put(t.Context(), intent.Write{Path: intent.Join(intent.LifecycleCollection, string(prod)), Body: []byte(`{}`)})
	require.NoError(t, err)
	_, err = w.admit(shop, `{"namespace":"elsewhere"}`)
	assertFields(t, err, intent.Conflict, map[string]string{"/spec/namespace": "in use by " + string(prod)})
	w.must(shop, `{}`)
	assert.Equal(t, "moved", w.spec(shop)["namespace"], "a PUT without a namespace keeps it")
	w.must(newProject, `{"namespace":"elsewhere"}`) // another project's use does not matter
}

func TestADeletedProjectsNamespaceIsFree(t *testing.T) {
	w := newWorld(t)
	w.must(shop, `{"namespace":"dns"}`)
	require.NoError(t, w.admitter.Delete(t.Context(), shop, intent.Always()))
	holder, err := w.admitter.NamespaceHolder(t.Context(), "dns")
	require.NoError(t, err)
	assert.Empty(t, holder)
	w.must(newProject, `{"namespace":"dns"}`)
	assert.Equal(t, intent.NotFound, intent.CodeOf(w.admitter.Delete(t.Context(), shop, intent.Always())))
}

func TestAProjectThatIsNotStoredLeavesNoReservation(t *testing.T) {
	w := newWorld(t)
	write, err := w.admit(shop, `{"namespace":"dns"}`)
	require.NoError(t, err)
	w.must(shop, `{"namespace":"first"}`)
	_, err = w.admitter.Put(t.Context(), write)
	assert.Equal(t, intent.Conflict, intent.CodeOf(err))
	w.must(newProject, `{"namespace":"dns"}`)
}

// Many requests, for few projects, want one namespace; some are cut off at any
// step of their way. Whatever happens, at most one project has it, and in the
// end it can be had.
func TestNoTwoProjectsEverHaveOneNamespace(t *testing.T) {
	const rounds, writers = 30, 6
	for round := range rounds {
		fake := kvtest.NewFake()
		var requests atomic.Int64
		fake.After = func(string, string) error {
			if n := requests.Add(1); n%7 == int64(round%7) && n < 120 {
				return &intent.Error{Code: intent.Unavailable, Detail: "the connection broke"}
			}
			return nil
		}
		documents := etcd.New(fake)
		admitter := admission.New(documents, review.Rules{})
		var wait sync.WaitGroup
		for i := range writers {
			wait.Go(func() {
				path := intent.Join("projects", fmt.Sprintf("p%d", i))
				for range 3 {
					if write, err := admitter.Admit(t.Context(), path, body(path, `{"namespace":"dns"}`), nil); err == nil {
						_, _ = admitter.Put(t.Context(), write)
					}
					if i%2 == 0 {
						_ = admitter.Delete(t.Context(), path, intent.Always())
					}
				}
			})
		}
		wait.Wait()
		fake.After = nil
		page, err := documents.List(t.Context(), intent.ListOptions{Collection: "projects"})
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Items), 1)
		for _, doc := range page.Items {
			require.NoError(t, admitter.Delete(t.Context(), doc.Path, intent.Always()))
		}
		write, err := admitter.Admit(t.Context(), newProject, body(newProject, `{"namespace":"dns"}`), nil)
		require.NoError(t, err)
		_, err = admitter.Put(t.Context(), write)
		require.NoError(t, err)
	}
}

func TestARaceForTheDefaultNamespaceEndsWithTwo(t *testing.T) {
	w := newWorld(t)
	lower, err := w.admit("projects/shop", `{}`)
	require.NoError(t, err)
	upper, err := w.admit("projects/SHOP", `{}`)
	require.NoError(t, err)
	w.put(lower)
	w.put(upper)
	assert.Equal(t, "signpost-shop", w.spec("projects/shop")["namespace"])
	assert.Regexp(t, "^signpost-shop-[0-9a-f]{8}$", w.spec("projects/SHOP")["namespace"])
}

// TestAConflictNamesOnlyWhatTheCallerMayKnow: another project's name is told to
// those who may read that project.
func TestAConflictNamesOnlyWhatTheCallerMayKnow(t *testing.T) {
	w := newShop(t)
	for _, c := range []struct{ namespace, blind, sees string }{
		{"shop-dns", "the namespace of another project", "the namespace of project shop"},
		{"shop", "in use by another project", "in use by projects/shop/logical-clouds/eu"},
	} {
		spec := body(newProject, `{"namespace":"`+c.namespace+`"}`)
		_, err := w.admitter.Admit(t.Context(), newProject, spec, nil)
		assertFields(t, err, intent.Conflict, map[string]string{"/spec/namespace": c.blind})
		assert.NotContains(t, err.Error(), "project shop")
		who := intent.Actor{Subject: "anna", Reads: func(project string) bool { return project == "shop" }}
		_, err = w.admitter.Admit(intent.As(t.Context(), who), newProject, spec, nil)
		assertFields(t, err, intent.Conflict, map[string]string{"/spec/namespace": c.sees})
	}
}

// TestAProjectsOwnAdminDoesNotGrantItDomainsOrQuotas: both are bounds that others
// have set.
func TestAProjectsOwnAdminDoesNotGrantItDomainsOrQuotas(t *testing.T) {
	own := intent.As(t.Context(), intent.Actor{Subject: "petra", Confined: true})
	w := newShop(t)
	w.must(shop, `{"domains":["shop.example"],"quotas":{"records":5}}`)
	for _, c := range []struct{ reason, spec, pointer string }{
		{"another domain", `{"domains":["shop.example","bank.example"],"quotas":{"records":5}}`, "/spec/domains"},
		{"not a domain", `{"quotas":{"records":5}}`, "/spec/domains"},
		{"more records", `{"domains":["shop.example"],"quotas":{"records":6}}`, "/spec/quotas"},
		{"as many as the server allows", `{"domains":["shop.example"]}`, "/spec/quotas"},
	} {
		_, err := w.admitter.Admit(own, shop, body(shop, c.spec), w.old(shop))
		assertFields(t, err, intent.Forbidden, map[string]string{c.pointer: "leave it as it is"})
	}
	_, err := w.admitter.Admit(own, shop, body(shop, `{"domains":["Shop.Example."],"quotas":{"records":5}}`), w.old(shop))
	require.NoError(t, err, "the same in other letters")
	_, err = w.admitter.Admit(own, newProject, body(newProject, `{"domains":["bank.example"]}`), nil)
	assertFields(t, err, intent.Forbidden, map[string]string{"/spec/domains": "leave it as it is"})
}

// TestAProjectsOwnAdminDoesNotLiftItsBounds by making it anew.
func TestAProjectsOwnAdminDoesNotLiftItsBounds(t *testing.T) {
	own := intent.As(t.Context(), intent.Actor{Subject: "petra", Confined: true})
	for _, c := range []struct{ bounds, pointer, detail string }{
		{`{"quotas":{"records":5}}`, "/spec/quotas", "changes the quotas of the project; leave it as it is"},
		{`{"domains":["shop.example"]}`, "/spec/domains", "changes the grants of the project; leave it as it is"},
		{`{"namespaces":["team"]}`, "/spec/namespaces", "changes the grants of the project; leave it as it is"},
		{`{"serviceAccounts":["team/builder"]}`, "/spec/serviceAccounts", "changes the grants of the project; leave it as it is"},
	} {
		w := newWorld(t)
		w.must(shop, c.bounds)
		assertFields(t, w.admitter.Delete(own, shop, intent.Always()), intent.Forbidden, map[string]string{c.pointer: c.detail})
		_, err := w.admitter.Admit(own, newProject, body(newProject, c.bounds), nil)
		assertFields(t, err, intent.Forbidden, map[string]string{c.pointer: "leave it as it is"})
		require.Equal(t, intent.PreconditionFailed, intent.CodeOf(w.admitter.Delete(own, shop, intent.IfRevision(1<<40))), "as for anybody")

		w.must(shop, `{}`)
		require.NoError(t, w.admitter.Delete(own, shop, intent.Always()), "it has none any more")
		w.must(shop, c.bounds)
		require.NoError(t, w.admitter.Delete(t.Context(), shop, intent.Always()), "who is not confined may")
	}
}

// TestAProjectGetsNoNamespaceInWhichOthersRun, whatever their documents say since.
func TestAProjectGetsNoNamespaceInWhichOthersRun(t *testing.T) {
	w := newWorld(t)
	squat := intent.Path("projects/evil/logical-clouds/squat")
	w.admitter = admission.New(w.store, review.Rules{NamespaceTenant: func(_ context.Context, namespace, but string) (string, intent.Path, error) {
		if namespace == "signpost-acme" && but != "evil" {
			return "evil", squat, nil
		}
		return "", "", nil
	}})
	acme, evil := intent.Path("projects/acme"), intent.Path("projects/evil")
	_, err := w.admit(acme, `{"namespace":"signpost-acme"}`)
	assertFields(t, err, intent.Conflict, map[string]string{"/spec/namespace": "in use by another project"})
	w.must(acme, `{}`)
	assert.Regexp(t, "^signpost-acme-[0-9a-f]{8}$", w.spec(acme)["namespace"])
	w.must(evil, `{"namespace":"signpost-acme"}`)
}

// TestSafetyRulesOfAProjectCanHold beside those of the installation.
func TestSafetyRulesOfAProjectCanHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.store.Put(t.Context(), intent.Write{Path: intent.SafetyPath, Body: []byte(`{"window":{"from":"09:00","to":"17:00"}}`)})
	require.NoError(t, err)
	_, err = w.admit("projects/bank", `{"safety":{"minClusters":99,"window":{"from":"18:00","to":"20:00"}}}`)
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
	require.ErrorContains(t, err, "/spec/safety/minClusters: asks for 99 clusters")
	require.ErrorContains(t, err, "/spec/safety/window: never meets the other window")
	_, err = w.admit("projects/bank", `{"safety":{"window":{"from":"16:00","to":"20:00"}}}`)
	require.NoError(t, err)
}
