package release_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// answers has the authoritative servers of the world answer so.
func (w *world) answers(name string, held verify.Holding) {
	before := w.service.LookupExisting
	w.service.LookupExisting = func(ctx context.Context, asked string, marks externaldns.InDNS, servers []netip.AddrPort) (verify.Holding, error) {
		if asked == name {
			return held, nil
		}
		if before == nil {
			return verify.Holding{}, nil
		}
		return before(ctx, asked, marks, servers)
	}
}

// about are the texts of a list that tell of a name.
func about(name string, texts []string) (out []string) {
	for _, text := range texts {
		if strings.Contains(text, name+" exists already") {
			out = append(out, text)
		}
	}
	return out
}

// TestThePlanOfANameWarnsThatItExistsAlready, and is confirmed as it is without the warning.
func TestThePlanOfANameWarnsThatItExistsAlready(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.answers("bakery.lab.example", verify.Holding{Types: []string{"A"}, Owner: "legacy"})
	p, err := w.service.PlanName(ann(bakery), bakery, w.request(bakery, ofFront))
	require.NoError(t, err)
	require.Len(t, about("bakery.lab.example", p.Warnings), 1)
	require.Contains(t, about("bakery.lab.example", p.Warnings)[0], `owner id "legacy"; provider lab leaves it alone`)
	request := w.request(bakery, ofFront)
	request.Confirm = p.Token
	_, err = w.service.PublishName(ann(bakery), bakery, request)
	require.NoError(t, err)
	w.settle(bakery)
	p, err = w.service.PlanName(ann(bakery), bakery, w.request(bakery, strings.Replace(ofFront, `"provider"`, `"ttl":60,"provider"`, 1)))
	require.NoError(t, err)
	require.Empty(t, about("bakery.lab.example", p.Warnings), "what is published is not created")
}

// TestAPlanWarnsOfNamesThatExistAlready, with their owner: external-dns leaves
// them alone. What it has published itself is no stranger.
func TestAPlanWarnsOfNamesThatExistAlready(t *testing.T) {
	t.Parallel()
	const orBelow = "; or the answer comes from names below it, which a deleted provider left in the etcd: delete keys without an owner there"
	w := newShop(t)
	for _, c := range []struct {
		held verify.Holding
		want []string
	}{
		{held: verify.Holding{}},
		{
			held: verify.Holding{Types: []string{"A", "AAAA"}, Owner: "legacy"},
			want: []string{`www.lab.example exists already (A, AAAA), and belongs to the external-dns with owner id "legacy"; provider lab leaves it alone` + orBelow},
		},
		{
			held: verify.Holding{Types: []string{"CNAME"}},
			want: []string{`www.lab.example exists already (CNAME) without a mark of external-dns; provider lab leaves it alone; delete it at the DNS provider to have it published` + orBelow},
		},
	} {
		w.answers("www.lab.example", c.held)
		p := w.plan(prod, intent.Instantiate)
		require.Equal(t, c.want, about("www.lab.example", p.Warnings))
		require.Empty(t, p.Errors, "a warning refuses nothing")
		require.Empty(t, w.plan(prod, intent.Terminate).Errors)
	}
	w.answers("www.lab.example", verify.Holding{AbsentFor: 5 * time.Minute})
	require.Equal(t, "5m0s", w.plan(prod, intent.Instantiate).Names[0].AbsentFor, "a resolver may have asked before")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Empty(t, about("www.lab.example", w.plan(prod, intent.Update).Warnings), "what is published is not created")
	require.Empty(t, w.plan(prod, intent.Update).Names[0].AbsentFor)

	w = newShop(t)
	doc, err := w.documents.Get(t.Context(), lab)
	require.NoError(t, err)
	w.answers("www.lab.example", verify.Holding{Types: []string{"A"}, Owner: plan.OwnerID("k7wq2m9xhdr4", doc.UID)})
	require.Empty(t, about("www.lab.example", w.plan(prod, intent.Instantiate).Warnings), "its own, of an earlier life")
	w.put(lab, `{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"],"registry":"noop","policy":"upsert-only"}}`)
	w.answers("www.lab.example", verify.Holding{Types: []string{"A"}})
	require.Contains(t, about("www.lab.example", w.plan(prod, intent.Instantiate).Warnings)[0], "and may change it")
}

// TestWhatCannotBeAskedIsNotSaid, and holds no plan up.
func TestWhatCannotBeAskedIsNotSaid(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	names := make([]string, 200)
	for n := range names {
		names[n] = fmt.Sprintf("n%d.lab.example", n)
	}
	w.put(intent.Path(string(prod)+"/traffic-group-intents/front/dns-intents/www"),
		`{"app":"web","serviceName":"web","hostnames":["`+strings.Join(names, `","`)+`"]}`)
	var asked atomic.Int32
	w.service.LookupExisting = func(context.Context, string, externaldns.InDNS, []netip.AddrPort) (verify.Holding, error) {
		asked.Add(1)
		return verify.Holding{Types: []string{"A"}}, errors.New("nobody answers")
	}
	require.Empty(t, w.plan(prod, intent.Instantiate).Errors)
	require.EqualValues(t, 50, asked.Load())

	w.service.LookupExisting = func(ctx context.Context, _ string, _ externaldns.InDNS, _ []netip.AddrPort) (verify.Holding, error) {
		deadline, has := ctx.Deadline()
		require.True(t, has)
		require.LessOrEqual(t, time.Until(deadline), 3*time.Second)
		return verify.Holding{}, ctx.Err()
	}
	w.plan(prod, intent.Instantiate)

	w.service.LookupExisting = func(context.Context, string, externaldns.InDNS, []netip.AddrPort) (verify.Holding, error) {
		t.Error("servers of private zones are not those of the public ones")
		return verify.Holding{}, nil
	}
	w.put(lab, `{"provider":"aws","external-dns-parameters":{"domain-filter":["lab.example"],"aws-zone-type":"private","zone-id-filter":"/hostedzone/Z1","policy":"upsert-only"}}`)
	w.plan(prod, intent.Instantiate)
}

// TestAnOwnerIDOfSomebodyElseInTheZoneIsRefused: with it, external-dns would take
// that one's names for its own. One that the record had before is its own.
func TestAnOwnerIDOfSomebodyElseInTheZoneIsRefused(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, ownerID("lab.example", "legacy"))
	w.answers("www.lab.example", verify.Holding{Types: []string{"A"}, Owner: "legacy"})
	want := []intent.Field{{
		Pointer: string(lab) + "#/spec/external-dns-parameters/txt-owner-id",
		Detail:  `www.lab.example already belongs to an external-dns with owner id "legacy", which is not the one of this provider; it would take over all names of the other; remove txt-owner-id`,
	}}
	require.Equal(t, want, w.plan(prod, intent.Instantiate).Errors)
	w.refuses(intent.Instantiate, prod, "txt-owner-id", "www.lab.example already belongs to an external-dns")

	w.answers("www.lab.example", verify.Holding{Types: []string{"A"}, Owner: "another"})
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.answers("www.lab.example", verify.Holding{Types: []string{"A"}, Owner: "legacy"})
	w.put(intent.Path(string(eu)+"/kv-pairs/other"), `{"kv":[]}`)
	require.Empty(t, w.plan(prod, intent.Update).Errors, "by now the id is the record's own")
}
