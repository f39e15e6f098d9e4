package verify

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	dnsverify "github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// TestServersThatTheRecordNoLongerNamesDoNotCount: what they answered is forgotten
// at once, and the new ones are asked; whatever comes of it.
func TestServersThatTheRecordNoLongerNamesDoNotCount(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	key, m := "shop/web", state.Mark{Namespace: "shop", Project: "shop", Record: "lab", Scope: "public"}
	questionsWith := func(server string) *state.Questions {
		how := &appcontext.Verify{Servers: []string{server}}
		want := &state.Wanted{Object: giving(t, "203.0.113.10"), Digest: "1", Marks: cluster.Marks{Labels: m.Labels()}}
		return &state.Questions{
			Changed: map[string]state.Asked{key: {Want: want, There: true}},
			How:     map[state.Mark]*appcontext.Verify{m: how}, Servers: map[state.Mark][]netip.AddrPort{m: state.ServersOf(how)},
		}
	}
	z := zone{"www.lab.example A": {"203.0.113.10"}}
	p := following(&state.Cluster{})
	p.follow(questionsWith(authoritative), now)
	one := p.proofs[key]
	one.ask(t.Context(), one.names(), p.questions(one), z, stopped{now})
	require.Equal(t, "Matches", one.answers.Names[0].Verdict)
	require.Greater(t, one.due(now.Add(time.Minute)), time.Minute, "nothing else is expected")

	now = now.Add(time.Minute)
	before := one.answers
	p.follow(questionsWith(authoritative), now)
	require.Same(t, before, one.answers, "the servers are the same")
	p.follow(questionsWith("192.0.2.54:53"), now)
	require.Equal(t, []observed.NameAnswer{{
		Name: "www.lab.example", Type: "A", Targets: []string{"203.0.113.10"}, Verdict: "NotAsked", Since: now,
		Message: "the record's servers have changed, and were not asked yet",
	}}, one.answers.Names)
	require.Equal(t, "Matches", before.Names[0].Verdict, "what was handed over stays as it is")
	require.LessOrEqual(t, one.due(now), verifySoonest)

	gone := questionsWith("192.0.2.54:53")
	gone.Changed = map[string]state.Asked{key: {}}
	p.follow(gone, now)
	clear(z)
	one.ask(t.Context(), one.names(), p.questions(one), z, stopped{now})
	require.Equal(t, "Gone", one.answers.Names[0].Verdict)
	require.True(t, one.answers.Gone.IsZero(), "these servers were never seen to answer it, so it may still come")
}

// TestANameThatTheBuiltInPublisherHasRemovedIsGone although no server was seen to answer it, and only when the servers
// do not.
func TestANameThatTheBuiltInPublisherHasRemovedIsGone(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	key, m := "shop/web", state.Mark{Namespace: "shop", Project: "shop", Record: "lab", Scope: "public"}
	how := &appcontext.Verify{Servers: []string{authoritative}}
	there := state.Questions{
		Changed: map[string]state.Asked{key: {Want: &state.Wanted{Object: giving(t, "203.0.113.10"), Digest: "1", Marks: cluster.Marks{Labels: m.Labels()}}, There: true}},
		How:     map[state.Mark]*appcontext.Verify{m: how}, Servers: map[state.Mark][]netip.AddrPort{m: state.ServersOf(how)},
	}
	gone := there
	gone.Changed = map[string]state.Asked{key: {}}
	publisher, z := &removing{}, zone{}
	of := &state.Cluster{Name: "_publisher.shop+lab"}
	of.SetWatches(publisher, nil)
	p := following(of)
	look := func(q *state.Questions) *proof {
		p.follow(q, now)
		p.confirm(now)
		one := p.proofs[key]
		one.ask(t.Context(), one.names(), p.questions(one), z, stopped{now})
		return one
	}
	look(&there)
	require.True(t, look(&gone).answers.Gone.IsZero(), "it may still come")
	require.Equal(t, bundle.EndpointID(of.Name, "shop", "web"), publisher.asked)

	publisher.names = []string{"www.lab.example"}
	require.Equal(t, now, look(&gone).answers.Gone)

	publisher.names = nil
	look(&there)
	require.True(t, look(&gone).answers.Gone.IsZero(), "what is published anew is to be removed anew")

	publisher.names = []string{"www.lab.example"}
	z["www.lab.example A"] = []string{"203.0.113.10"}
	require.True(t, look(&gone).answers.Gone.IsZero(), "a server still answers it")
}

// TestNamesOfADNSEndpointThatWasNotSeenAreAskedFor when it has come and gone between two looks.
func TestNamesOfADNSEndpointThatWasNotSeenAreAskedFor(t *testing.T) {
	t.Parallel()
	m := state.Mark{Namespace: "shop", Project: "shop", Record: "lab", Scope: "public"}
	how := map[state.Mark]*appcontext.Verify{m: {Servers: []string{authoritative}}}
	want := &state.Wanted{Object: giving(t, "203.0.113.10"), Digest: "1", Marks: cluster.Marks{Labels: m.Labels()}}
	of := &state.Cluster{Name: "_publisher.shop+lab", Clock: stopped{time.Now()}}
	p := following(of)
	of.SetQuestions(nil, how)
	p.step(t.Context())
	of.SetQuestions(map[string]state.Asked{"shop/web": {Want: want, There: true}}, how)
	of.SetQuestions(map[string]state.Asked{"shop/web": {Going: true}}, how)
	of.SetQuestions(map[string]state.Asked{"shop/web": {}}, how)
	p.step(t.Context())
	require.Contains(t, p.proofs, "shop/web")
	require.True(t, p.proofs["shop/web"].leaving)
	require.Equal(t, []string{"www.lab.example"}, p.proofs["shop/web"].hosts())

	delete(p.proofs, "shop/web")
	of.SetQuestions(map[string]state.Asked{"shop/other": {Going: true}}, how)
	p.step(t.Context())
	require.Empty(t, p.proofs, "what was taken up is not told again")
}

// following are Names of a cluster of which nothing was stored.
func following(of *state.Cluster) *Names {
	p := New(of, nil, nil)
	p.proofs = map[string]*proof{}
	return p
}

// removing is a built-in publisher that has removed some names.
type removing struct {
	cluster.Watches
	names []string
	asked bundle.ID
}

func (r *removing) Publishing() cluster.Publishing { return cluster.Publishing{} }

func (r *removing) Published(bundle.ID) (cluster.Published, bool) { return cluster.Published{}, false }

func (r *removing) Removed(endpoint bundle.ID, names []string) bool {
	r.asked = endpoint
	return slices.Equal(r.names, names)
}

const authoritative = "192.0.2.53:53"

// zone is what an authoritative server answers, by "name type", without the network.
type zone map[string][]string

// Verify implements Verifier.
func (z zone) Verify(_ context.Context, q dnsverify.Question, _ []netip.AddrPort) dnsverify.Finding {
	return dnsverify.Judge(q, []dnsverify.Reply{{Server: authoritative, Rcode: "NOERROR", Authoritative: true, Values: z[q.Name+" "+q.Type]}})
}

// stopped is a clock that stands still.
type stopped struct{ now time.Time }

func (s stopped) Now() time.Time                       { return s.now }
func (s stopped) After(time.Duration) <-chan time.Time { return nil }

// giving is a DNSEndpoint that gives targets to www.lab.example.
func giving(t *testing.T, targets ...string) bundle.Object {
	t.Helper()
	o, err := bundle.New("edge+hub", "web", map[string]any{
		"apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint",
		"metadata": map[string]any{"name": "web", "namespace": "shop", "labels": map[string]string{
			bundle.LabelProject: "shop", bundle.LabelRecord: "lab", bundle.LabelScope: "public"}},
		"spec": map[string]any{"endpoints": []any{map[string]any{"dnsName": "www.lab.example", "recordType": "A", "targets": targets}}},
	})
	require.NoError(t, err)
	o, err = bundle.Stored(o.Cluster, o.App, o.JSON)
	require.NoError(t, err)
	return o
}
