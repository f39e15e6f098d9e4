package verify

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/memory"
	dnsverify "github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

func markOf(provider string) state.Mark {
	return state.Mark{Namespace: "shop", Project: "shop", Record: provider, Scope: "public"}
}

// endpointOf is a DNSEndpoint of a provider that gives one target to each of some names.
func endpointOf(provider, key, target string, names ...string) state.Asked {
	published := &bundle.Published{}
	for _, name := range names {
		published.Names = append(published.Names, bundle.PublishedName{Name: name, Type: "A", Targets: []string{target}})
	}
	object := bundle.Object{ID: bundle.EndpointID("edge+hub", "shop", key), Published: published}
	return state.Asked{There: true, Want: &state.Wanted{
		Object: object, Digest: fmt.Sprint(provider, key, target, names), Marks: cluster.Marks{Labels: markOf(provider).Labels()},
	}}
}

func ways(providers ...string) (map[state.Mark]*appcontext.Verify, map[state.Mark][]netip.AddrPort) {
	how, servers := map[state.Mark]*appcontext.Verify{}, map[state.Mark][]netip.AddrPort{}
	for _, provider := range providers {
		how[markOf(provider)] = &appcontext.Verify{Servers: []string{authoritative}}
		servers[markOf(provider)] = state.ServersOf(how[markOf(provider)])
	}
	return how, servers
}

// TestQuestionsFollowFromWhatThereIsNow: however DNSEndpoints with names in common came and went, the questions are those of
// somebody who is told of all of them at once.
func TestQuestionsFollowFromWhatThereIsNow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	at := time.Unix(1000, 0)
	p, there, ever := following(&state.Cluster{}), map[string]state.Asked{}, map[string]state.Asked{}
	for step := range 2000 {
		key := fmt.Sprintf("shop/e%d", random.IntN(4))
		var names []string
		for n := range 3 {
			if random.IntN(2) == 0 {
				names = append(names, fmt.Sprintf("n%d.lab.example", n))
			}
		}
		asked := endpointOf([]string{"lab", "dev"}[random.IntN(2)], key[5:], fmt.Sprintf("192.0.2.%d", random.IntN(3)), names...)
		switch random.IntN(4) {
		case 0:
			asked = state.Asked{}
		case 1:
			asked = state.Asked{Going: true}
		default:
			ever[key] = asked
		}
		there[key] = asked
		how, servers := ways([][]string{{"lab", "dev"}, {"lab"}, {"lab", "dev"}}[random.IntN(3)]...)
		now := &state.Questions{Changed: map[string]state.Asked{key: asked}, How: how, Servers: servers}
		p.follow(now, at)
		require.Equal(t, len(p.proofs), len(p.schedule.later)+len(p.schedule.ready))

		anew := following(&state.Cluster{})
		all := map[string]state.Asked{}
		for key, is := range there {
			is.Want = ever[key].Want
			all[key] = is
		}
		anew.follow(&state.Questions{Changed: all, How: how, Servers: servers}, at)
		require.Len(t, p.proofs, len(anew.proofs))
		for key, want := range anew.proofs {
			is := p.proofs[key]
			questions := p.questions(is)
			require.Equal(t, anew.questions(want), questions, "step %d, %s", step, key)
			require.Len(t, is.asks, len(questions))
			for n, q := range questions {
				require.Equal(t, hashOf(q), is.asks[n], "step %d, %s: what is asked is what was followed", step, key)
			}
			require.Equal(t, []any{want.mark, want.there, want.going, want.leaving, want.paused, want.orphan}, []any{is.mark, is.there, is.going, is.leaving, is.paused, is.orphan}, "step %d, %s", step, key)
			require.Equal(t, want.there, p.gone[key] == nil)
		}
	}
}

// TestADNSEndpointThatChangesIsAskedForAnew, also if the questions stay: answers of before the change do not count.
func TestADNSEndpointThatChangesIsAskedForAnew(t *testing.T) {
	t.Parallel()
	how, servers := ways("lab")
	p, asked := following(&state.Cluster{}), endpointOf("lab", "e", "192.0.2.1", "www.lab.example")
	changed := func(to state.Asked, at time.Time) {
		p.follow(&state.Questions{Changed: map[string]state.Asked{"shop/e": to}, How: how, Servers: servers}, at)
	}
	first, later := time.Unix(1000, 0), time.Unix(2000, 0)
	changed(asked, first)
	one := p.proofs["shop/e"]
	one.done, one.asked = true, first
	changed(asked, later)
	require.Equal(t, first, one.began)
	other := *asked.Want
	other.Digest = "another TTL"
	changed(state.Asked{There: true, Want: &other}, later)
	require.Equal(t, later, one.began)
	require.False(t, one.done)
}

// TestAnAnswerOfBeforeIsTakenBack if the targets went and came back before anybody asked, whether both changes were taken up
// one by one or together. What has not changed, and what is asked for other targets, keeps its answer.
func TestAnAnswerOfBeforeIsTakenBack(t *testing.T) {
	t.Parallel()
	how, servers := ways("lab")
	decided := func(of state.Asked, at int64) state.Asked {
		want := *of.Want
		want.Stages = ledger.DecisionOf(intent.Stages{Decided: time.Unix(at, 0)})
		return state.Asked{There: true, Want: &want}
	}
	one, two := endpointOf("lab", "e", "192.0.2.1", "www.lab.example"), endpointOf("lab", "e", "192.0.2.2", "www.lab.example")
	for reason, changes := range map[string][]state.Asked{
		"one by one": {decided(two, 2000), decided(one, 3000)},
		"together":   {decided(one, 3000)},
		"it left":    {{}, decided(one, 3000)},
	} {
		p := following(&state.Cluster{})
		take := func(to state.Asked, at time.Time) *proof {
			p.follow(&state.Questions{Changed: map[string]state.Asked{"shop/e": to}, How: how, Servers: servers}, at)
			return p.proofs["shop/e"]
		}
		ask := func(of *proof, at time.Time) observed.NameAnswer {
			of.ask(t.Context(), of.names(), p.questions(of), zone{"www.lab.example A": {"192.0.2.1"}}, stopped{at})
			return of.answers.Names[0]
		}
		of := take(decided(one, 1000), time.Unix(1000, 0))
		require.Equal(t, "Matches", ask(of, time.Unix(1001, 0)).Verdict)
		before := of.answers
		take(decided(one, 1000), time.Unix(1500, 0))
		require.Same(t, before, of.answers, "nothing has changed")
		for _, change := range changes {
			require.Same(t, before, of.answers, "%s: the answer is about what is not published now", reason)
			take(change, time.Unix(3000, 0))
		}
		answer := of.answers.Names[0]
		require.Equal(t, []any{"NotAsked", dnsverify.AskedAgain, true}, []any{answer.Verdict, answer.Message, answer.Seen}, reason)
		require.Empty(t, answer.Answers, reason)
		require.LessOrEqual(t, of.due(time.Unix(3000, 0)), verifySoonest, reason)
		require.Equal(t, time.Unix(3001, 0).UTC(), ask(of, time.Unix(3001, 0)).Since, reason)
		require.Equal(t, "Matches", before.Names[0].Verdict, "what was handed over stays as it is")
	}
}

// TestADNSEndpointIsAskedForOnceMoreWhenItIsWritten after it was asked: the answer may be of before.
func TestADNSEndpointIsAskedForOnceMoreWhenItIsWritten(t *testing.T) {
	t.Parallel()
	how, servers := ways("lab")
	asked := endpointOf("lab", "e", "192.0.2.1", "www.lab.example")
	p := following(&state.Cluster{})
	due := func(written, at int64) time.Duration {
		asked.Written = time.Unix(written, 0)
		p.follow(&state.Questions{Changed: map[string]state.Asked{"shop/e": asked}, How: how, Servers: servers}, time.Unix(at, 0))
		return p.proofs["shop/e"].due(time.Unix(at, 0))
	}
	ask := func(at int64) {
		of := p.proofs["shop/e"]
		of.ask(t.Context(), of.names(), p.questions(of), zone{"www.lab.example A": {"192.0.2.1"}}, stopped{time.Unix(at, 0)})
		of.answers.Names[0].Answers = []intent.Answer{{At: time.Unix(at, 0)}}
	}
	require.Equal(t, verifySoonest, due(0, 1000))
	ask(1001)
	require.Equal(t, verifyRarely-time.Second, due(0, 1002), "it is not there yet")
	require.Equal(t, verifySoonest, due(1003, 1003))
	ask(1004)
	require.Equal(t, verifyRarely-time.Second, due(1003, 1005))
}

// TestOneChangedDNSEndpointCostsTheSameAmongMany: a change is followed, and looked for what is due, at the same cost beside 10
// DNSEndpoints and beside 300.
func TestOneChangedDNSEndpointCostsTheSameAmongMany(t *testing.T) {
	costs := map[int]float64{}
	for _, others := range []int{10, 300} {
		of := &state.Cluster{Clock: stopped{time.Unix(1000, 0)}, Signals: state.NewSignals()}
		how, _ := ways("lab")
		p, all := following(of), map[string]state.Asked{}
		p.verifier = zone{}
		for n := range others {
			all[fmt.Sprintf("shop/e%d", n)] = endpointOf("lab", fmt.Sprintf("e%d", n), "192.0.2.1", fmt.Sprintf("n%d.lab.example", n))
		}
		of.SetQuestions(all, how)
		require.Equal(t, verifySoonest, p.step(t.Context()))
		require.Len(t, p.proofs, others)
		turn := 0
		costs[others] = testing.AllocsPerRun(100, func() {
			turn++
			of.SetQuestions(map[string]state.Asked{"shop/e1": endpointOf("lab", "e1", fmt.Sprintf("192.0.2.%d", 1+turn%2), "n1.lab.example")}, how)
			p.step(t.Context())
			of.TakeAnswers()
		})
	}
	require.InDelta(t, costs[10], costs[300], 3)
}

// TestAnAnswerIsHandedOverOnce: the observer gets what has changed, and is told of answers that are to be forgotten.
func TestAnAnswerIsHandedOverOnce(t *testing.T) {
	t.Parallel()
	clock := &moving{time.Unix(1000, 0)}
	of := &state.Cluster{Clock: clock, Signals: state.NewSignals()}
	how, _ := ways("lab")
	p := following(of)
	p.verifier = zone{"www.lab.example A": {"192.0.2.1"}}
	of.SetQuestions(map[string]state.Asked{"shop/web": endpointOf("lab", "web", "192.0.2.1", "www.lab.example")}, how)
	p.step(t.Context())
	require.Empty(t, of.TakeAnswers())
	clock.now = clock.now.Add(verifySoonest)
	p.step(t.Context())
	heard := of.TakeAnswers()
	require.Equal(t, "Matches", heard["shop/web"].Names[0].Verdict)
	p.step(t.Context())
	require.Empty(t, of.TakeAnswers())

	of.SetQuestions(map[string]state.Asked{"shop/web": {}}, nil)
	p.step(t.Context())
	require.Equal(t, map[string]*observed.Answers{"shop/web": nil}, of.TakeAnswers(), "nobody publishes it any more")
	require.Empty(t, p.proofs)
	require.Empty(t, p.sharers.first)
	require.Empty(t, p.sharers.more)
	require.Empty(t, p.schedule.later)
	require.Equal(t, verifyRarely, p.step(t.Context()))
}

// moving is a clock that a test sets.
type moving struct{ now time.Time }

func (m *moving) Now() time.Time                       { return m.now }
func (m *moving) After(time.Duration) <-chan time.Time { return nil }

// TestSetsOfANameAreJoined: a name may have several sets, and several DNSEndpoints may give targets to each.
func TestSetsOfANameAreJoined(t *testing.T) {
	t.Parallel()
	www, api := nameKey{"www.lab.example", "A"}, nameKey{"api.lab.example", "A"}
	names := given{}.with(www, "b", "2").with(api, "", "9").with(www, "a", "1").with(www, "b", "3")
	require.Equal(t, given{{api, sets{{"", []string{"9"}}}}, {www, sets{{"a", []string{"1"}}, {"b", []string{"2", "3"}}}}}, names)
	require.Equal(t, []string{"1", "2", "3"}, names.get(www).all())
	require.Empty(t, names.get(nameKey{"www.lab.example", "AAAA"}).all())
}

// TestAVerifiedNameTakesLittle: most DNSEndpoints give one name, and there may be very many of them.
func TestAVerifiedNameTakesLittle(t *testing.T) {
	const many, most = 2000, 400 // bytes of each
	how, servers := ways("lab")
	all := map[string]state.Asked{}
	for n := range many {
		key := fmt.Sprintf("e%d", n)
		all["shop/"+key] = endpointOf("lab", key, "192.0.2.1", fmt.Sprintf("n%d.lab.example", n))
	}
	before := memory.InUse()
	p := following(&state.Cluster{})
	p.follow(&state.Questions{Changed: all, How: how, Servers: servers}, time.Unix(1000, 0))
	each := (memory.InUse() - before) / many
	require.Len(t, p.proofs, many)
	runtime.KeepAlive(all)
	t.Logf("%d bytes", each)
	require.Less(t, each, most)
}

// questions are those about a proof.
func (p *Names) questions(of *proof) []dnsverify.Question {
	names := of.names()
	return of.questions(names, p.published(of, names))
}
