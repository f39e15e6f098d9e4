package release_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	dnspublisher "github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/release"
)

// zoneHas has the zones of all providers of the world have these sets, ordered by name and type.
func (w *world) zoneHas(sets func(of bundle.Publisher) ([]dnspublisher.Set, error)) {
	w.options.ListZone = func(_ context.Context, _ string, of bundle.Publisher, _ bool) ([]dnspublisher.Set, error) {
		return sets(of)
	}
	w.service = release.New(w.options)
}

func recordSet(name, kind, owner string) dnspublisher.Set {
	return dnspublisher.Set{Name: name, Type: kind, Targets: []string{"192.0.2.1"}, TTL: 60, Mark: dnspublisher.Mark{Owner: owner}}
}

// TestUnmanagedIsWhatNobodyPublishes: not the names of this project, nor those of others or in their domains, nor names
// that the provider does not manage, or that another one of this installation has marked.
func TestUnmanagedIsWhatNobodyPublishes(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put("projects/bank", `{"namespace":"bank-dns","domains":["vault.lab.example"]}`)
	w.put("projects/bank/dns-update-records/lab", record("lab.example", ``))
	w.put("projects/bank/logical-clouds/eu", `{"namespace":"bank","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	w.member("projects/bank/logical-clouds/eu", "berlin")
	w.associate("projects/bank/logical-clouds/eu", "lab")
	w.put("projects/bank/composite-apps/store/v1", `{"compositeAppVersion":"v1"}`)
	const group intent.Path = "projects/bank/composite-apps/store/v1/deployment-intent-groups/prod"
	w.group(group, "web", "money.lab.example")
	w.observe(berlin, "bank/web", "203.0.113.30")
	w.do(intent.Instantiate, group)

	var own string
	w.zoneHas(func(of bundle.Publisher) ([]dnspublisher.Set, error) {
		own = of.OwnerID
		return []dnspublisher.Set{
			recordSet("1.lab.example", "PTR", own), recordSet("elsewhere.example", "A", ""), recordSet("lab.example", "MX", ""),
			recordSet("hub.lab.example", "A", "sp-k7wq2m9x-0ther"), recordSet("left.lab.example", "A", own), recordSet("legacy.lab.example", "A", "legacy"),
			recordSet("money.lab.example", "A", ""), recordSet("money.lab.example", "MX", ""),
			recordSet("vault.lab.example", "A", ""), recordSet("www.lab.example", "A", own), recordSet("www.lab.example", "AAAA", "legacy"),
			recordSet("www.lab.example", "MX", ""), recordSet("www.lab.example", "TXT", own),
		}, nil
	})
	page, err := w.service.Unmanaged(t.Context(), lab, 10, "")
	require.NoError(t, err)
	set := func(name, kind, owner string) intent.UnmanagedSet {
		return intent.UnmanagedSet{Name: name, Type: kind, Values: []string{"192.0.2.1"}, TTL: 60, Owner: owner}
	}
	require.Equal(t, intent.UnmanagedPage{Items: []intent.UnmanagedSet{
		set("1.lab.example", "PTR", own), set("lab.example", "MX", ""), set("left.lab.example", "A", own), set("legacy.lab.example", "A", "legacy"), set("www.lab.example", "MX", ""),
	}}, page)

	w.put(lab, recordWith("lab.example", `"txt-owner-id":"chosen"`))
	chosen, err := w.service.Unmanaged(t.Context(), lab, 10, "")
	require.NoError(t, err)
	require.Equal(t, "chosen", own)
	require.Len(t, chosen.Items, len(page.Items), "the same sets, with the owner id of now")
	page = chosen

	var all []intent.UnmanagedSet
	after := ""
	for {
		part, err := w.service.Unmanaged(t.Context(), lab, 1, after)
		require.NoError(t, err)
		all = append(all, part.Items...)
		if after = part.Continue; after == "" {
			break
		}
	}
	require.Equal(t, page.Items, all, "pages of one have all, in order")
}

// TestUnmanagedLeavesOutNamesOfSingleClusters: a provider with an owner id of its own marks them as it marks public names.
func TestUnmanagedLeavesOutNamesOfSingleClusters(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, recordWith("lab.example", `"txt-owner-id":"chosen"`))
	w.associate(eu)
	w.associate("cluster-providers/edge/clusters/berlin", "lab")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.zoneHas(func(bundle.Publisher) ([]dnspublisher.Set, error) {
		return []dnspublisher.Set{
			recordSet("left.lab.example", "A", "chosen"), recordSet("www.lab.example", "A", "chosen"), recordSet("www.lab.example", "AAAA", "legacy"),
		}, nil
	})
	page, err := w.service.Unmanaged(t.Context(), lab, 10, "")
	require.NoError(t, err)
	var names []string
	for _, set := range page.Items {
		names = append(names, set.Name+" "+set.Type)
	}
	require.Equal(t, []string{"left.lab.example A", "www.lab.example AAAA"}, names)
}

// TestUnmanagedOfAFullZone has more sets than are looked up together.
func TestUnmanagedOfAFullZone(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	const names = 1200
	w.zoneHas(func(bundle.Publisher) ([]dnspublisher.Set, error) {
		var sets []dnspublisher.Set
		for n := range names {
			sets = append(sets, recordSet(fmt.Sprintf("n%04d.lab.example", n), "A", ""))
		}
		return sets, nil
	})
	page, err := w.service.Unmanaged(t.Context(), lab, 1000, "")
	require.NoError(t, err)
	require.Len(t, page.Items, 1000)
	page, err = w.service.Unmanaged(t.Context(), lab, 1000, page.Continue)
	require.NoError(t, err)
	require.Len(t, page.Items, names-1000)
	require.Empty(t, page.Continue)
}

// TestUnmanagedSaysWhyAZoneCannotBeRead, by the code of the error, and what would allow it.
func TestUnmanagedSaysWhyAZoneCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for _, c := range []struct {
		err  error
		code intent.Code
		says string
	}{
		{fault.Errorf(dnspublisher.Invalid, "it has no keys"), intent.Conflict, "the zones of provider lab cannot be read: it has no keys"},
		{fault.Errorf(dnspublisher.Forbidden, "it is not listed"), intent.Conflict, "it is not listed"},
		{fault.Errorf(fault.Refused, "server 192.0.2.1 says no"), intent.Conflict, "server 192.0.2.1 says no"},
		{fault.Errorf(fault.Unreachable, "server 192.0.2.1 is down"), intent.Unavailable, "server 192.0.2.1 is down"},
	} {
		w.zoneHas(func(bundle.Publisher) ([]dnspublisher.Set, error) { return nil, c.err })
		_, err := w.service.Unmanaged(t.Context(), lab, 10, "")
		require.Equal(t, c.code, intent.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, c.says)
	}
	w.put(lab, `{"provider":"rfc2136","credentials":[{"environment":"EXTERNAL_DNS_RFC2136_TSIG_SECRET","secretRef":{"name":"tsig","key":"secret"}}]}`)
	w.zoneHas(func(bundle.Publisher) ([]dnspublisher.Set, error) {
		return nil, fault.Errorf(dnspublisher.Invalid, "a key is missing")
	})
	_, err := w.service.Unmanaged(t.Context(), lab, 10, "")
	require.ErrorContains(t, err, "a key is missing; give the value of EXTERNAL_DNS_RFC2136_TSIG_SECRET here")

	for _, after := range []string{"%", "YQ", "IEE"} {
		_, err = w.service.Unmanaged(t.Context(), lab, 10, after)
		require.Equal(t, intent.Invalid, intent.CodeOf(err), after)
	}
	_, err = w.service.Unmanaged(t.Context(), "projects/shop/dns-update-records/none", 10, "")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	w.zoneHas(func(bundle.Publisher) ([]dnspublisher.Set, error) { return nil, errors.New("broken") })
	_, err = w.service.Unmanaged(t.Context(), lab, 10, "")
	require.EqualError(t, err, "broken")
}
