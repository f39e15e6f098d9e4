package render

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/memory"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// TestInputsAreRememberedOfSoManyNamesOnly: of very many names, those that were stepped last.
func TestInputsAreRememberedOfSoManyNamesOnly(t *testing.T) {
	t.Parallel()
	name := func(n int) intent.Path { return intent.Path(fmt.Sprintf("projects/shop/names/n%d.lab.example", n)) }
	cache := &InputCache{}
	keep := func(n int) {
		cache.Keep(name(n), &Inputs{inputs: []state.Input{{}}, Group: plan.Group{Bindings: []plan.Binding{{Namespace: "shop", Service: "web"}}}}, appcontext.Pointer{})
	}
	for n := range 2 * mostInputs {
		keep(n)
	}
	remembered := 0
	for n := range 2 * mostInputs {
		if cache.following(name(n), "shop/web") != nil {
			remembered++
		}
	}
	require.Equal(t, mostInputs, remembered)
	require.Nil(t, cache.following(name(0), "shop/web"))
	require.NotNil(t, cache.following(name(2*mostInputs-1), "shop/web"))
	keep(0)
	require.NotNil(t, cache.following(name(0), "shop/web"), "it is remembered again after its next step")
	require.Nil(t, cache.following(name(0), "shop/other"))
}

// TestTheInputsOfANameTakeLittle: there are those of very many names, which have nearly all texts in common.
func TestTheInputsOfANameTakeLittle(t *testing.T) {
	const most = 1800 // bytes of each
	cache := &InputCache{}
	keep := func(n int) {
		group := intent.Path(fmt.Sprintf("projects/shop/names/n%06d.lab.example", n))
		on := &Inputs{
			inputs: []state.Input{{Path: group, UID: fmt.Sprint("uid-of-a-name-", n), Revision: 1}, {Path: "lifecycle/projects/shop/dns-update-records/" + intent.Path(text("lab")), UID: text("uid-of-a-provider")}},
			asked:  []intent.Path{group, intent.Path(text(string(state.DrainedPath))), "lifecycle/projects/shop/dns-update-records/" + intent.Path(text("lab"))},
		}
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"installation":"01234567-89ab-cdef-0123-456789abcdef","path":%q,"uid":"uid-of-a-name-%d",
			"project":{"name":"shop","namespace":"shop-dns"},"name":"n%06d.lab.example","clusters":[{"name":"edge+hub","directory":"hub"},{"name":"edge+paris"}],
			"bindings":[{"app":"names","service":"web","namespace":"shop","record":"lab","scope":"public","cluster":"edge+hub","sources":["edge+paris"],
			"hosts":[{"name":"n%06d.lab.example","ttl":30}]}]}`, group, n, n, n), &on.Group))
		cache.Keep(group, on, appcontext.Pointer{Owner: appcontext.Owner(group), ContextID: fmt.Sprint(n)})
	}
	keep(mostInputs)
	before := memory.InUse()
	for n := range mostInputs {
		keep(n)
	}
	each := (memory.InUse() - before) / mostInputs
	t.Logf("%d bytes", each)
	require.Less(t, each, most)
	require.NotNil(t, cache.following("projects/shop/names/n000007.lab.example", "shop/web"))
}

// TestTheInputsOfAGroupTakeLittle: what all its host names have in common is kept once, and is there again for each.
func TestTheInputsOfAGroupTakeLittle(t *testing.T) {
	const hosts, most = 2000, 100 // bytes of each
	list := make([]string, hosts)
	for n := range list {
		ttl := 30 + n/(hosts/2)*30
		list[n] = fmt.Sprintf(`{"name":"n%06d.lab.example","ttl":%d,"types":["A"],"sources":["edge+paris"],"health":{"whenAllUnhealthy":"keep"}}`, n, ttl)
	}
	release := fmt.Sprintf(`{"path":"projects/shop/g","clusters":[{"name":"edge+hub"}],"bindings":[{"service":"web","namespace":"shop","hosts":[%s]}, {"service":"api","namespace":"shop"}]}`, strings.Join(list, ","))
	before := memory.InUse()
	var want plan.Group
	require.NoError(t, json.Unmarshal([]byte(release), &want))
	whole := memory.InUse() - before
	cache := &InputCache{}
	func() {
		on := &Inputs{inputs: []state.Input{{Path: "projects/shop/g"}}}
		require.NoError(t, json.Unmarshal([]byte(release), &on.Group))
		cache.Keep("projects/shop/g", on, appcontext.Pointer{})
		require.Len(t, on.Group.Bindings[0].Hosts, hosts, "others may read these")
	}()
	each := (memory.InUse() - before - whole) / hosts
	runtime.KeepAlive(release)
	t.Logf("%d bytes", each)
	require.Less(t, each, most)
	api := want
	want.Bindings, api.Bindings = want.Bindings[:1], want.Bindings[1:]
	require.Equal(t, want, cache.following("projects/shop/g", "shop/web").Group)
	require.Equal(t, api, cache.following("projects/shop/g", "shop/api").Group, "and no other host of the group")
}

// text is a text in memory of its own.
func text(of string) string { return string([]byte(of)) }
