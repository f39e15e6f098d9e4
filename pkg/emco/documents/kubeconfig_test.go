package documents_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// sealed answers each id with a text about it.
type sealed struct{}

// Secret implements emco.Values.
func (sealed) Secret(_ context.Context, id string) ([]byte, error) {
	return []byte("value of " + id), nil
}

func kubeconfigRef(t *testing.T, doc intent.Document) string {
	t.Helper()
	resource, err := intent.Of[intent.Cluster](doc)
	require.NoError(t, err)
	return resource.Spec.KubeconfigRef
}

func TestAKubeconfigIsReadFromCLM(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	values := s.Values(sealed{})
	ref := kubeconfigRef(t, w.get(s, paris))
	plain, err := values.Secret(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, kubeconfig, string(plain))
	plain, err = values.Secret(t.Context(), "ABCDEF")
	require.NoError(t, err)
	require.Equal(t, "value of ABCDEF", string(plain))

	w.say(paris+" as a file", strings.Replace(kubeconfig, "}}]", "]]]", 1))
	changed := w.get(s, paris)
	require.NotEqual(t, ref, kubeconfigRef(t, changed), "connections are made anew")
	require.EqualValues(t, 2, changed.Revision)
	plain, err = values.Secret(t.Context(), ref)
	require.NoError(t, err)
	require.Contains(t, string(plain), "]]]", "the old reference leads to the present one")
	_, err = values.Secret(t.Context(), "emco:edge+rome:digest")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
}

// CLM answers the metadata of a cluster of a Git repository in the place of a
// kubeconfig.
func TestAClusterOfAGitRepositoryIsInventory(t *testing.T) {
	w := newWorld(t)
	const flux = "cluster-providers/edge/clusters/flux"
	body := `{"metadata":{"name":"flux"},"spec":{"gitOps":{"gitOpsType":"fluxcd"}}}`
	w.say(flux, body)
	w.say(flux+" as a file", body)
	require.Empty(t, kubeconfigRef(t, w.get(w.store(), flux)))
}

func TestNoKubeconfigIsStored(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	w.get(s, paris)
	w.names(s, "cluster-providers/edge/clusters")
	_, err := s.Put(t.Context(), intent.Write{Path: lab, Body: []byte(`{}`), Refs: []intent.Path{paris}})
	require.NoError(t, err)
	items, _, err := w.data.Range(t.Context(), kv.Range{Prefix: "/"})
	require.NoError(t, err)
	require.NotEmpty(t, items)
	for _, item := range items {
		require.NotContains(t, string(item.Value), "s3cr3t")
		require.NotContains(t, string(item.Value), "Config")
	}
}
