package syncer

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const authoritative = "192.0.2.53:53"

// zone is an authoritative server, without the network.
type zone struct {
	mu        sync.Mutex
	answers   map[string][]string // by "name type"
	silent    bool
	questions []verify.Question
	servers   []netip.AddrPort // that were given with the last question
}

// Verify implements Verifier.
func (z *zone) Verify(_ context.Context, q verify.Question, servers []netip.AddrPort) verify.Finding {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.questions, z.servers = append(z.questions, q), servers
	r := verify.Reply{Server: authoritative, At: time.Now().UTC(), Rcode: "NOERROR", Authoritative: true, Values: z.answers[q.Name+" "+q.Type]}
	if z.silent {
		r = verify.Reply{Server: authoritative, Err: context.DeadlineExceeded}
	}
	return verify.Judge(q, []verify.Reply{r})
}

func (z *zone) set(change func()) {
	z.mu.Lock()
	defer z.mu.Unlock()
	change()
}

func (z *zone) answer(name string, targets ...string) {
	z.set(func() { z.answers[name] = targets })
}

func (z *zone) asked() int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return len(z.questions)
}

func (z *zone) last() verify.Question {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.questions[len(z.questions)-1]
}

// proving is a scene with a worker whose clock is hasty, and record lab.
func proving(t *testing.T) (*scene, *zone) {
	t.Helper()
	s := newScene(t, hub)
	s.clock = hasty{time.Now()}
	z := s.proving()
	return s, z
}

// proving starts a worker, and commits record lab.
func (s *scene) proving() *zone {
	z := &zone{answers: map[string][]string{}}
	s.verifier = z
	s.start("a")
	s.commitWith("shop/lab", appcontext.Context{Verify: &appcontext.Verify{
		Servers: []string{authoritative}, InDNS: externaldns.InDNS{Owner: "sp-1"},
	}}, namespace(s.t, hub), definition(s.t, hub), marked(s.t, "apps/v1", "Deployment", "external-dns-lab", ""))
	return z
}

// giving is a DNSEndpoint of record lab that gives targets to www.lab.example.
func giving(t *testing.T, named string, targets ...string) bundle.Object {
	return publishingSpec(t, named, map[string]any{"endpoints": []any{map[string]any{"dnsName": "www.lab.example", "recordType": "A", "targets": targets}}})
}

func publishingSpec(t *testing.T, named string, spec any) bundle.Object {
	t.Helper()
	o, err := bundle.New(hub, "web", map[string]any{
		"apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint", "spec": spec,
		"metadata": map[string]any{"name": named, "namespace": "shop", "labels": map[string]string{
			bundle.LabelProject: "shop", bundle.LabelRecord: "lab", bundle.LabelScope: "public"}},
	})
	require.NoError(t, err)
	o, err = bundle.Stored(o.Cluster, o.App, o.JSON)
	require.NoError(t, err)
	return o
}

func (s *scene) answersOf(named string) *observed.Answers {
	s.t.Helper()
	all, err := s.observed.Answers(s.t.Context(), hub, "shop", named)
	require.NoError(s.t, err)
	a, ok := all[named]
	if !ok {
		return nil
	}
	return &a
}

// judged is the verdict about the first name of a DNSEndpoint.
func (s *scene) judged(named string) string {
	s.t.Helper()
	a := s.answersOf(named)
	if a == nil || len(a.Names) == 0 {
		return ""
	}
	return a.Names[0].Verdict
}

func TestNamesAreAskedForUntilTheyAreAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, z := proving(t)
		s.commit("dig", giving(t, "web", "203.0.113.10"))
		s.until("nothing is there yet", func() bool { return s.judged("web") == "NotThere" })
		z.answer("www.lab.example A", "203.0.113.99")
		s.until("another target is answered", func() bool { return s.judged("web") == "Differs" })
		z.answer("www.lab.example A", "203.0.113.10")
		s.until("the target is answered", func() bool { return s.judged("web") == "Matches" })

		a := s.answersOf("web")
		assert.Equal(t, observed.Answers{
			Project: "shop", Record: "lab", Scope: "public", Revision: a.Revision,
			Names: []observed.NameAnswer{{
				Name: "www.lab.example", Type: "A", Targets: []string{"203.0.113.10"}, Seen: true, Verdict: "Matches",
				Message: authoritative + " answers 203.0.113.10", Since: a.Names[0].Since,
				Answers: []intent.Answer{{Server: authoritative, At: a.Names[0].Answers[0].At, Rcode: "NOERROR", Targets: []string{"203.0.113.10"}}},
			}},
		}, *a)
		assert.Equal(t, verify.Question{
			Name: "www.lab.example", Type: "A", Sets: [][]string{{"203.0.113.10"}}, Owner: "sp-1", TXT: "a-www.lab.example",
		}, z.last())
		z.set(func() { assert.Equal(t, []netip.AddrPort{netip.MustParseAddrPort(authoritative)}, z.servers) })

		asked := z.asked()
		s.until("it is asked again, rarely", func() bool { return z.asked() > asked })
		assert.Equal(t, a.Names[0].Since, s.answersOf("web").Names[0].Since, "the verdict is as old as it is")
		s.commit("dig", giving(t, "web", "203.0.113.20"))
		s.until("a change is asked for at once", func() bool {
			n := s.answersOf("web").Names[0]
			return n.Verdict == "Differs" && slices.Equal(n.Targets, []string{"203.0.113.20"})
		})
	})
}

// TestOtherServersOfARecordAreAskedAtOnce, also of what was right.
func TestOtherServersOfARecordAreAskedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, z := proving(t)
		z.answer("www.lab.example A", "203.0.113.10")
		s.commit("dig", giving(t, "web", "203.0.113.10"))
		s.until("it is there", func() bool { return s.judged("web") == "Matches" })
		z.answer("www.lab.example A")
		s.commitWith("shop/lab", appcontext.Context{Verify: &appcontext.Verify{
			Servers: []string{"192.0.2.54:53"}, InDNS: externaldns.InDNS{Owner: "sp-1"},
		}}, namespace(t, hub), definition(t, hub), marked(t, "apps/v1", "Deployment", "external-dns-lab", ""))
		s.until("the other server has nothing", func() bool { return s.judged("web") == "NotThere" })
		z.set(func() { assert.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("192.0.2.54:53")}, z.servers) })
	})
}

func TestAnAnswerHasWhatAllGiveToAName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, z := proving(t)
		s.commit("dig", giving(t, "web", "203.0.113.10"))
		s.commit("other", giving(t, "shop", "203.0.113.20"))
		z.answer("www.lab.example A", "203.0.113.10")
		s.until("one alone is not all", func() bool { return s.judged("web") == "Differs" && s.judged("shop") == "Differs" })
		z.answer("www.lab.example A", "203.0.113.10", "203.0.113.20")
		s.until("both are", func() bool { return s.judged("web") == "Matches" && s.judged("shop") == "Matches" })
		assert.Equal(t, []string{"203.0.113.20"}, s.answersOf("shop").Names[0].Targets, "each tells of its own")

		s.commit("other")
		s.until("what one gave leaves", func() bool { return s.judged("shop") == "StillThere" })
		assert.Equal(t, [][]string{{"203.0.113.20"}}, z.leaving("www.lab.example").Sets)
		assert.True(t, s.answersOf("shop").Gone.IsZero())
		z.answer("www.lab.example A", "203.0.113.10")
		s.until("it has left, and the other's stays", func() bool { return !s.answersOf("shop").Gone.IsZero() && s.judged("web") == "Matches" })
	})
}

// leaving is the last question about a name that leaves.
func (z *zone) leaving(name string) verify.Question {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, q := range slices.Backward(z.questions) {
		if q.Leaving && q.Name == name {
			return q
		}
	}
	return verify.Question{}
}

func TestSetsAreToldApart(t *testing.T) {
	t.Parallel()
	s, z := proving(t)
	set := func(id, target string) any {
		return map[string]any{"dnsName": "www.lab.example", "recordType": "A", "targets": []string{target}, "setIdentifier": id}
	}
	s.commit("dig", publishingSpec(t, "web", map[string]any{"endpoints": []any{set("edge+berlin", "203.0.113.10"), set("edge+paris", "203.0.113.20")}}))
	z.answer("www.lab.example A", "203.0.113.20")
	s.until("an answer with one of the sets", func() bool { return s.judged("web") == "Matches" })
	assert.Equal(t, [][]string{{"203.0.113.10"}, {"203.0.113.20"}}, z.last().Sets)
}

// TestAServerThatDoesNotAnswerRemovesNothing: what leaves has left once servers
// say so (I6).
func TestAServerThatDoesNotAnswerRemovesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, z := proving(t)
		s.commit("dig", giving(t, "web", "203.0.113.10"))
		z.answer("www.lab.example A", "203.0.113.10")
		s.until("it is there", func() bool { return s.judged("web") == "Matches" })
		z.set(func() { z.silent = true })
		s.commit("dig")
		s.until("the server does not answer", func() bool { return s.judged("web") == "Unreachable" && z.last().Leaving })
		assert.True(t, s.answersOf("web").Gone.IsZero())
		z.set(func() { z.silent = false })
		s.until("it answers the target", func() bool { return s.judged("web") == "StillThere" })
		z.answer("www.lab.example A")
		s.until("it no longer does", func() bool { return !s.answersOf("web").Gone.IsZero() })

		s.commit("dig", giving(t, "web", "203.0.113.10"))
		s.until("it is wanted again, so it has not gone", func() bool { return s.answersOf("web").Gone.IsZero() })
		s.commit("dig")
		s.until("it goes once more", func() bool { return !s.answersOf("web").Gone.IsZero() })
		s.commit("shop/lab", namespace(t, hub))
		s.until("nobody waits for it without an external-dns", func() bool { return s.answersOf("web") == nil })
	})
}

// TestANameThatWasNeverSeenMayStillCome: external-dns may be about to make it
// from what it read before.
func TestANameThatWasNeverSeenMayStillCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, z := proving(t)
		s.commit("dig", giving(t, "web", "203.0.113.10"))
		s.until("it is not there yet", func() bool { return s.judged("web") == "NotThere" })
		s.commit("dig")
		s.until("it is not there after its DNSEndpoint has gone", func() bool { return s.judged("web") == "Gone" })
		assert.True(t, s.answersOf("web").Gone.IsZero(), "that is not known for good")
		z.answer("www.lab.example A", "203.0.113.10")
		s.until("it comes", func() bool { return s.judged("web") == "StillThere" })
		z.answer("www.lab.example A")
		s.until("and goes", func() bool { return !s.answersOf("web").Gone.IsZero() })
	})
}

// TestAnotherWorkerGoesOn: what was found, and what leaves, outlives a worker.
func TestAnotherWorkerGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		s.clock = hasty{time.Now()}
		z := &zone{answers: map[string][]string{"www.lab.example A": {"203.0.113.10"}}}
		s.verifier = z
		_, stop := s.start("a")
		s.commitWith("shop/lab", appcontext.Context{Verify: &appcontext.Verify{}}, namespace(t, hub), definition(t, hub), marked(t, "apps/v1", "Deployment", "external-dns-lab", ""))
		s.commit("dig", giving(t, "web", "203.0.113.10"))
		s.until("it is there", func() bool { return s.judged("web") == "Matches" })
		s.commit("dig")
		s.until("it leaves", func() bool { return s.judged("web") == "StillThere" })
		stop()
		z.set(func() { z.answers, z.questions = nil, nil })
		s.start("b")
		s.until("the other one hears that it has left", func() bool { return !s.answersOf("web").Gone.IsZero() })
		assert.Equal(t, "203.0.113.10", z.leaving("www.lab.example").Sets[0][0])
	})
}

func TestNamesAreAskedForWhileTheirHomeIsUnreachable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, z := proving(t)
		s.commit("dig", giving(t, "web", "203.0.113.10"))
		s.until("it is asked for", func() bool { return s.judged("web") == "NotThere" })
		s.clusters[hub].Down(true)
		z.answer("www.lab.example A", "203.0.113.10")
		s.until("it is answered", func() bool { return s.judged("web") == "Matches" })
	})
}

// TestANameIsAskedForOnceMoreWhenItsDNSEndpointIsWritten: the answer before may be of what was there before. Each DNSEndpoint
// is written when it is, whatever is written beside it.
func TestANameIsAskedForOnceMoreWhenItsDNSEndpointIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		z := s.proving()
		slow, web := giving(t, "slow", "203.0.113.20"), giving(t, "web", "203.0.113.20")
		z.answer("www.lab.example A", "203.0.113.10")
		s.commit("dig", giving(t, "slow", "203.0.113.10"), giving(t, "web", "203.0.113.10"))
		s.until("both are answered", func() bool { return s.judged("slow") == "Matches" && s.judged("web") == "Matches" })
		time.Sleep(5 * time.Second)
		s.clusters[hub].After = func(_ context.Context, _ string, id bundle.ID) error {
			if id == slow.ID {
				time.Sleep(5 * time.Second)
			}
			return nil
		}
		asked := z.asked()
		z.answer("www.lab.example A", "203.0.113.20")
		s.commit("dig", slow, web)
		s.until("both are answered anew", func() bool { return z.asked() == asked+2 })
		require.NotEqual(t, web.Digest(), s.entries(hub)[web.ID].Digest, "neither is written yet")
		s.until("both are written", func() bool { return s.entries(hub)[slow.ID].Digest == slow.Digest() })
		written := func(id bundle.ID) time.Time { return s.entries(hub)[id].Stages.Times().Written }
		require.Greater(t, written(slow.ID).Sub(written(web.ID)), 4*time.Second)
		time.Sleep(5 * time.Second)
		require.Equal(t, asked+3, z.asked(), "the one is asked for again that was asked for before it was written")
	})
}

func TestWhatDoesNotShowIsNotAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			reason  string
			how     appcontext.Verify
			verdict string
			message string
		}{
			{"a proxy", appcontext.Verify{Servers: []string{authoritative}, InDNS: externaldns.InDNS{Hidden: "Cloudflare answers"}}, "Hidden", "Cloudflare answers"},
			{"a private zone", appcontext.Verify{InDNS: externaldns.InDNS{Private: "the record's zones are private"}}, "NoServers", "the record's zones are private: give the authoritative servers in the record's verify.servers"},
		} {
			s, z := proving(t)
			s.commitWith("shop/lab", appcontext.Context{Verify: &c.how}, namespace(t, hub), definition(t, hub), marked(t, "apps/v1", "Deployment", "external-dns-lab", ""))
			s.commit("dig", giving(t, "web", "203.0.113.10"))
			s.until(c.reason, func() bool { return s.judged("web") == c.verdict })
			assert.Equal(t, c.message, s.answersOf("web").Names[0].Message)
			assert.Zero(t, z.asked())
		}
	})
}

// TestHowLongAnAddressTakesIsMeasured: from the observation to the cluster, and
// to the verified answer.
func TestHowLongAnAddressTakesIsMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, z := proving(t)
		first, second := giving(t, "web", "203.0.113.10"), giving(t, "web", "203.0.113.20")
		z.answer("www.lab.example A", "203.0.113.10")
		s.commit("dig", first)
		s.until("it is there", func() bool { return s.judged("web") == "Matches" })
		assert.Zero(t, s.reached("written"), "nobody knows since when it was to be there")

		pointer, err := s.contexts.Current(t.Context(), "dig")
		require.NoError(t, err)
		held, err := s.contexts.Held(t.Context(), pointer.ContextID, []appcontext.Place{{App: "web", ID: first.ID}})
		require.NoError(t, err)
		require.NoError(t, s.contexts.Replace(t.Context(), pointer, held, nil, []bundle.Object{second}, appcontext.Touch{Cause: s.clock.Now().UTC(), Seen: s.clock.Now().UTC()}))
		s.until("the cluster has it", func() bool { return s.reached("written") == 1 })
		s.until("it is not answered yet", func() bool { return s.judged("web") == "Differs" })
		assert.Zero(t, s.reached("answered"))
		assert.EqualValues(t, 1, s.reached("seen"))
		assert.EqualValues(t, 1, s.reached("decided"))
		z.answer("www.lab.example A", "203.0.113.20")
		s.until("it is", func() bool { return s.judged("web") == "Matches" })
		asked := z.asked()
		s.until("it is asked again", func() bool { return z.asked() > asked })
		assert.EqualValues(t, 1, s.reached("answered"), "it is counted once")
	})
}

// reached is how many changes of addresses have come to a stage.
func (s *scene) reached(stage string) uint64 {
	s.t.Helper()
	families, err := s.metrics.Gather()
	require.NoError(s.t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if family.GetName() == "signpost_time_to_answer_seconds" && label.GetName() == "stage" && label.GetValue() == stage {
					return metric.GetHistogram().GetSampleCount()
				}
			}
		}
	}
	return 0
}
