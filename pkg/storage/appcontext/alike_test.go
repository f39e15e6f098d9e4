package appcontext

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/memory"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// TestAPointerOfOneNameTakesLittle: each single name has a pointer, which several parts remember. What they say of clusters
// is shared.
func TestAPointerOfOneNameTakesLittle(t *testing.T) {
	const many, most = 5000, 700 // bytes of each
	var a alike
	read := func(n int) Pointer {
		p, err := a.pointer(kv.Item{ModRevision: int64(n), Key: fmt.Sprintf("/signpost/current/projects/shop/names/n%06d.lab.example", n), Value: fmt.Appendf(nil,
			`{"contextID":"%019d","seq":1,"since":"2026-11-28T08:00:00Z","clusters":{"edge+hub":["names"]},"services":{"edge+paris":["shop/shared-%d"]}}`, n, n/100)})
		require.NoError(t, err)
		return p
	}
	before, pointers := memory.InUse(), make([]*Pointer, many)
	for n := range many {
		p := read(n)
		pointers[n] = &p
	}
	each := (memory.InUse() - before) / many
	t.Logf("%d bytes", each)
	require.Less(t, each, most)
	p := pointers[many-1]
	require.Equal(t, map[string][]string{"edge+hub": {"names"}}, p.Clusters)
	require.Equal(t, map[string][]string{"edge+paris": {"shop/shared-49"}}, p.Services)
	require.Equal(t, int64(many-1), p.Revision())
}

// TestPointersAreReadAsBefore: of pointers that name nothing, and of those that are none.
func TestPointersAreReadAsBefore(t *testing.T) {
	t.Parallel()
	var a alike
	p, err := a.pointer(kv.Item{Key: "/signpost/current/o", Value: []byte(`{"contextID":"","seq":3,"clusters":null,"withdrawn":{"edge+hub":["web"]}}`)})
	require.NoError(t, err)
	require.Equal(t, Pointer{Owner: "o", Seq: 3, Withdrawn: map[string][]string{"edge+hub": {"web"}}}, p)
	for _, text := range []string{`{`, `{"clusters":[]}`, `{"services":{"a":1}}`} {
		_, err := a.pointer(kv.Item{Value: []byte(text)})
		require.Error(t, err, text)
	}
}
