package admission_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/projects"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// A body for a document that is kept elsewhere is not judged: whatever is wrong
// with it, it has to be written there.
func TestDocumentsThatAreKeptElsewhereAreRefusedFirst(t *testing.T) {
	w := newShop(t)
	refusal := &intent.Error{Code: intent.Conflict, Detail: "write it there"}
	admitter := admission.New(w.store, review.Rules{ExternallyManaged: func(path intent.Path) error {
		if path.Collection() == "projects" {
			return refusal
		}
		return nil
	}})
	_, err := admitter.Admit(t.Context(), "projects/new", body("projects/new", `{"namespace":"kube-system"}`), nil)
	require.ErrorIs(t, err, refusal)
	_, err = admitter.Admit(t.Context(), eu, body(eu, `{"namespace":"shop"}`), w.old(eu))
	require.NoError(t, err)
}

// The pods of a group that is kept elsewhere are changed in the app contexts that
// its orchestrator writes.
func TestAppsOfGroupsThatAreKeptElsewhereNeedNoManifests(t *testing.T) {
	w := newShop(t)
	w.must(podDNS, pods("Default", `{}`))
	require.Contains(t, w.shown(podDNS), "has no manifests")
	w.admitter = admission.New(w.store, review.Rules{ExternallyManaged: func(path intent.Path) error {
		if path == prod {
			return &intent.Error{Code: intent.Conflict, Detail: "write it there"}
		}
		return nil
	}})
	require.NotContains(t, w.shown(podDNS), "has no manifests")
}

func TestNamespacesOfProjectsThatAreKeptElsewhereAreTheirs(t *testing.T) {
	w := newShop(t)
	admitter := admission.New(w.store, review.Rules{NamespaceHolder: func(_ context.Context, namespace string) (string, error) {
		return strings.TrimPrefix(namespace, "of-"), nil
	}})
	_, err := admitter.Admit(t.Context(), eu, body(eu, `{"namespace":"of-other"}`), w.old(eu))
	assertFields(t, err, intent.Conflict, map[string]string{"/spec/namespace": "is the namespace of another project"})
	_, err = admitter.Admit(t.Context(), eu, body(eu, `{"namespace":"of-shop"}`), w.old(eu))
	require.NoError(t, err)
}

func TestOwnNamespaces(t *testing.T) {
	long := strings.Repeat("x", 63)
	seen := map[string]string{}
	for name, want := range map[string]string{
		"shop": "^signpost-shop$", "shop-2": "^signpost-shop-2$", "Shop": "^signpost-shop-[0-9a-f]{8}$", "a.b": "^signpost-a-b-[0-9a-f]{8}$",
		"a_b": "^signpost-a-b-[0-9a-f]{8}$", "a--b": "^signpost-a-b-[0-9a-f]{8}$", "dns": "^signpost-dns-[0-9a-f]{8}$", long: "^signpost-x+-[0-9a-f]{8}$", long[1:] + "y": "^signpost-x+-[0-9a-f]{8}$",
	} {
		namespace := projects.OwnNamespace(name)
		assert.Regexp(t, want, namespace, name)
		assert.LessOrEqual(t, len(namespace), 63, name)
		assert.Empty(t, seen[namespace], "%s and %s", name, seen[namespace])
		seen[namespace] = name
	}
}
