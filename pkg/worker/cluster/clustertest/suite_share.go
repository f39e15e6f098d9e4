package clustertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// shared is a ConfigMap of somebody else's in which a key is ours.
func (f Fixture) shared(t *testing.T, name, key, value string) bundle.Object {
	t.Helper()
	return Object(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]string{key: value},
		"metadata": map[string]any{
			"name": name, "namespace": f.Namespace, "annotations": map[string]string{bundle.AnnotationKeys: bundle.OwnKeys},
		},
	})
}

// testShare puts a key into somebody else's object, changes it, and takes it out. The
// other key and the marks stay as they are (I4).
func testShare(t *testing.T, f Fixture) {
	ctx := t.Context()
	foreign := f.object(t, "coredns-custom", "theirs", false)
	f.Plant(t, foreign)
	o := f.shared(t, "coredns-custom", "ours.server", "one")
	if f.Directory {
		_, err := f.Target.Share(ctx, o)
		assert.Equal(t, fault.Refused, fault.Of(err))
		require.NoError(t, f.Target.Unshare(ctx, o.ID))
		return
	}
	before, err := f.Target.Get(ctx, o.ID)
	require.NoError(t, err)
	first, err := f.Target.Share(ctx, o)
	require.NoError(t, err)
	assert.Equal(t, before.UID, first.UID)
	assert.Equal(t, map[string]string{"key": "theirs", "ours.server": "one"}, f.Data(t, o.ID))

	again, err := f.Target.Share(ctx, o)
	require.NoError(t, err)
	assert.Equal(t, first.Version, again.Version, "sharing what is there already changes nothing")

	_, err = f.Target.Share(ctx, f.shared(t, "coredns-custom", "renamed.server", "two"))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"key": "theirs", "renamed.server": "two"}, f.Data(t, o.ID))

	for range 2 {
		require.NoError(t, f.Target.Unshare(ctx, o.ID))
		assert.Equal(t, map[string]string{"key": "theirs"}, f.Data(t, o.ID))
	}
	after, err := f.Target.Get(ctx, o.ID)
	require.NoError(t, err)
	assert.Equal(t, before.Labels, after.Labels)
	assert.Equal(t, before.Annotations, after.Annotations)
}

// testShareAbsent shares an object that nobody has made yet. It stays for
// others when our keys go.
func testShareAbsent(t *testing.T, f Fixture) {
	ctx := t.Context()
	o := f.shared(t, "absent", "ours.server", "one")
	require.NoError(t, f.Target.Unshare(ctx, o.ID))
	live, err := f.Target.Share(ctx, o)
	require.NoError(t, err)
	assert.False(t, live.Ours(f.Installation), "it is nobody's")
	assert.Equal(t, map[string]string{"ours.server": "one"}, f.Data(t, o.ID))
	require.NoError(t, f.Target.Unshare(ctx, o.ID))
	assert.Empty(t, f.Data(t, o.ID))

	homeless := Object(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]string{"a": "b"},
		"metadata": map[string]any{"name": "absent", "namespace": "nowhere"},
	})
	_, err = f.Target.Share(ctx, homeless)
	assert.Equal(t, cluster.NoNamespace, fault.Of(err))
}
