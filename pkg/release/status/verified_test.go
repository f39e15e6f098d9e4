package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// heard has authoritative servers say something of names of the only DNSEndpoint.
func heard(snap *query.Snapshot, names ...observed.NameAnswer) {
	snap.Providers[0].Answers = map[string]observed.Answers{
		endpoints.Name(snap.Group, snap.Group.Bindings[0]): {Names: names},
	}
}

func asked() time.Time { return settled().Add(time.Minute) }

func answered(kind, verdict string, targets ...string) observed.NameAnswer {
	return observed.NameAnswer{
		Name: "www.lab.example", Type: kind, Targets: targets, Verdict: verdict, Message: "192.0.2.53:53 says so", Since: asked(),
		Answers: []intent.Answer{{Server: "192.0.2.53:53", At: asked(), Rcode: "NOERROR", Targets: targets}},
	}
}

// TestVerifiedTellsWhatAuthoritativeServersAnswer, and which of them, and when;
// never of other targets than those of now (I6).
func TestVerifiedTellsWhatAuthoritativeServersAnswer(t *testing.T) {
	for _, c := range []struct {
		reason  string
		heard   []observed.NameAnswer
		want    string
		answers int
	}{
		{"nothing yet", nil, "Unknown/NotAsked", 0},
		{"the targets", []observed.NameAnswer{answered("A", "Matches", "203.0.113.10")}, "True/Matches", 1},
		{"other targets", []observed.NameAnswer{answered("A", "Differs", "203.0.113.10")}, "False/Differs", 1},
		{"a name that is not there", []observed.NameAnswer{answered("A", "NotThere", "203.0.113.10")}, "False/NotThere", 1},
		{"somebody else's name", []observed.NameAnswer{answered("A", "Foreign", "203.0.113.10")}, "False/Foreign", 1},
		{"a server that does not answer", []observed.NameAnswer{answered("A", "Unreachable", "203.0.113.10")}, "Unknown/Unreachable", 1},
		{"nobody to ask", []observed.NameAnswer{answered("A", "NoServers", "203.0.113.10")}, "Unknown/NoServers", 1},
		{"a proxy", []observed.NameAnswer{answered("A", "Hidden", "203.0.113.10")}, "Unknown/Hidden", 1},
		{"of targets that were given before", []observed.NameAnswer{answered("A", "Matches", "203.0.113.99")}, "Unknown/NotAsked", 0},
		{"of another type", []observed.NameAnswer{answered("AAAA", "Matches", "203.0.113.10")}, "Unknown/NotAsked", 0},
	} {
		t.Run(c.reason, func(t *testing.T) {
			snap := running(t)
			heard(snap, c.heard...)
			s := status.Of(*snap)
			require.Len(t, s.Names, 1)
			got := verifiedOf(t, s.Names[0].Conditions)
			assert.Equal(t, c.want, got.Status+"/"+got.Reason)
			group := got
			if got.Status != "True" {
				group.Message = "www.lab.example A: " + got.Message
			}
			assert.Equal(t, group, verifiedOf(t, s.Conditions), "the only name's is the group's, which names it")
			assert.Len(t, s.Names[0].Answers, c.answers)
			if c.answers > 0 {
				assert.Equal(t, "192.0.2.53:53 says so", got.Message)
				assert.Equal(t, asked(), got.LastTransitionTime)
			}
		})
	}
}

// TestAnAnswerOfBeforeTheLastChangeIsNoVerdict, as after a cluster was drained and undrained: the same targets are wanted
// as before, and the servers are asked again.
func TestAnAnswerOfBeforeTheLastChangeIsNoVerdict(t *testing.T) {
	for _, c := range []struct {
		name, verdict string
		after         time.Duration // since the change, that the servers were asked
		want          string
	}{
		{"it was leaving, and comes back", "Gone", -time.Minute, "Unknown/NotAsked"},
		{"it was leaving, at whatever time", "StillThere", time.Minute, "Unknown/NotAsked"},
		{"it was missing before", "NotThere", -time.Minute, "Unknown/NotAsked"},
		{"no server answered before", "Unreachable", -time.Minute, "Unknown/NotAsked"},
		{"it is missing now", "NotThere", time.Minute, "False/NotThere"},
		{"it is as it was", "Matches", -time.Minute, "True/Matches"},
	} {
		t.Run(c.name, func(t *testing.T) {
			snap := running(t)
			changed := asked().Add(-c.after)
			edit(snap.Clusters[hub], "DNSEndpoint", func(e *ledger.Entry) {
				stages := ledger.StagesOf(intent.Stages{Observed: changed.Add(-time.Second), Written: changed})
				e.Stages = &stages
			})
			heard(snap, answered("A", c.verdict, "203.0.113.10"))
			name := status.Of(*snap).Names[0]
			got := verifiedOf(t, name.Conditions)
			require.Equal(t, c.want, got.Status+"/"+got.Reason)
			if got.Reason == "NotAsked" {
				require.Equal(t, verify.AskedAgain, got.Message)
				require.Equal(t, changed, got.LastTransitionTime)
				require.Empty(t, name.Answers, "they are not of the present")
			}
		})
	}
}

// TestStagesTellHowFarTheLastChangeHasCome by what the ledger, the publisher and the servers have told.
func TestStagesTellHowFarTheLastChangeHasCome(t *testing.T) {
	snap := running(t)
	require.Nil(t, status.Of(*snap).Names[0].Stages, "an earlier version wrote the DNSEndpoint")
	b := snap.Group.Bindings[0]
	id := endpoints.ID(snap.Group, b)
	entry := snap.Clusters[b.Cluster].Entries[id]
	written := intent.Stages{Observed: settled(), Seen: settled(), Decided: settled(), Written: settled().Add(time.Second)}
	stages := ledger.StagesOf(written)
	entry.Stages = &stages
	snap.Clusters[b.Cluster].Entries[id] = entry
	snap.Providers[0].Published = map[string]observed.Published{id.Name: {UID: entry.UID, Generation: entry.Generation, At: settled()}}
	want := written
	want.Published = written.Written
	require.Equal(t, &want, status.Of(*snap).Names[0].Stages)
	heard(snap, answered("A", "Differs", "203.0.113.10"))
	require.Equal(t, &want, status.Of(*snap).Names[0].Stages)
	heard(snap, answered("A", "Matches", "203.0.113.10"))
	want.Answered = asked()
	require.Equal(t, &want, status.Of(*snap).Names[0].Stages)
}

func verifiedOf(t *testing.T, conditions []intent.StatusCondition) intent.StatusCondition {
	t.Helper()
	for _, c := range conditions {
		if c.Type == "Verified" {
			return c
		}
	}
	t.Fatal("there is no condition Verified")
	return intent.StatusCondition{}
}

func TestAnSRVRecordIsVerifiedWhateverItsFinalDot(t *testing.T) {
	const name, target = "_https._tcp.www.lab.example", "0 0 443 www.lab.example"
	snap := running(t)
	snap.Group.Bindings[0].Hosts[0].Types = []string{"A", "SRV"}
	snap.Choices[0][0].Sets = append(snap.Choices[0][0].Sets, address.Set{Name: name, Type: "SRV", Targets: []string{target + "."}})
	answer := answered("SRV", "Matches", target)
	answer.Name = name
	heard(snap, answer)
	for _, n := range status.Of(*snap).Names {
		if n.Type == "SRV" {
			assert.Equal(t, "True", verifiedOf(t, n.Conditions).Status)
			return
		}
	}
	t.Fatal("there is no SRV record")
}

// TestEachTypeIsVerifiedByItself: the answer to one says nothing of the other.
func TestEachTypeIsVerifiedByItself(t *testing.T) {
	snap := running(t)
	choose(t, snap, "203.0.113.10", "2001:4860::10")
	heard(snap, answered("A", "Matches", "203.0.113.10"), answered("AAAA", "NotThere", "2001:4860::10"))
	s := status.Of(*snap)
	require.Len(t, s.Names, 2)
	assert.Equal(t, "True", verifiedOf(t, s.Names[0].Conditions).Status)
	assert.Equal(t, "NotThere", verifiedOf(t, s.Names[1].Conditions).Reason)
	assert.Equal(t, "NotThere", verifiedOf(t, s.Conditions).Reason, "the worst of the names is the group's")
	assert.Len(t, s.Names[0].Conditions, 5)
}

// TestTheGroupsVerifiedIsThatOfItsWorstName: False before Unknown before True, and
// of False what no waiting cures first. It holds since that reason does.
func TestTheGroupsVerifiedIsThatOfItsWorstName(t *testing.T) {
	for _, c := range []struct {
		a, aaaa string // the verdicts, the later one being that of AAAA
		want    string
		message string
		late    bool
	}{
		{"Foreign", "Differs", "False/Foreign", "www.lab.example A: 192.0.2.53:53 says so", false},
		{"Differs", "Foreign", "False/Foreign", "www.lab.example AAAA: 192.0.2.53:53 says so", true},
		{"NotThere", "Foreign", "False/Foreign", "www.lab.example AAAA: 192.0.2.53:53 says so", true},
		{"NotThere", "Differs", "False/Differs", "www.lab.example AAAA: 192.0.2.53:53 says so", true},
		{"Differs", "NotThere", "False/Differs", "www.lab.example A: 192.0.2.53:53 says so", false},
		{"Unreachable", "NotThere", "False/NotThere", "www.lab.example AAAA: 192.0.2.53:53 says so", true},
		{"Matches", "Unreachable", "Unknown/Unreachable", "www.lab.example AAAA: 192.0.2.53:53 says so", true},
		{"NotThere", "NotThere", "False/NotThere", "www.lab.example A: 192.0.2.53:53 says so", false},
		{"Matches", "Matches", "True/Matches", "192.0.2.53:53 says so", true},
	} {
		snap := running(t)
		choose(t, snap, "203.0.113.10", "2001:4860::10")
		a, aaaa := answered("A", c.a, "203.0.113.10"), answered("AAAA", c.aaaa, "2001:4860::10")
		aaaa.Since = asked().Add(time.Second)
		heard(snap, a, aaaa)
		got := condition(t, status.Of(*snap), "Verified")
		assert.Equal(t, c.want, got.Status+"/"+got.Reason, "%s and %s", c.a, c.aaaa)
		assert.Equal(t, c.message, got.Message)
		since := a.Since
		if c.late {
			since = aaaa.Since
		}
		assert.Equal(t, since, got.LastTransitionTime, "%s and %s", c.a, c.aaaa)
	}
}

// TestVerifiedIsNoOlderThanWhatItSpeaksOf: once the name that was wrong is given
// up, the others, which were right before, have not been all there is.
func TestVerifiedIsNoOlderThanWhatItSpeaksOf(t *testing.T) {
	snap := running(t)
	choose(t, snap, "203.0.113.10", "2001:4860::10")
	a, aaaa := answered("A", "Matches", "203.0.113.10"), answered("AAAA", "Foreign", "2001:4860::10")
	aaaa.Since = asked().Add(time.Minute)
	heard(snap, a, aaaa)
	require.Equal(t, aaaa.Since, condition(t, status.Of(*snap), "Verified").LastTransitionTime)

	choose(t, snap, "203.0.113.10")
	snap.Current = aaaa.Since.Add(time.Minute)
	got := status.Of(*snap)
	assert.Equal(t, "True", condition(t, got, "Verified").Status)
	assert.Equal(t, snap.Current, condition(t, got, "Verified").LastTransitionTime)
	assert.Equal(t, a.Since, verifiedOf(t, got.Names[0].Conditions).LastTransitionTime, "the name itself was right all the time")

	heard(snap)
	assert.Equal(t, snap.Current, condition(t, status.Of(*snap), "Verified").LastTransitionTime, "nobody was asked since these are the targets")
}

// TestANameIsNotVerifiedBeforeAllOfItsClustersWereLookedAt: what the servers answer is right
// and not all. A cluster that cannot be reached is not waited for.
func TestANameIsNotVerifiedBeforeAllOfItsClustersWereLookedAt(t *testing.T) {
	const paris = "edge+paris"
	snap := running(t)
	heard(snap, answered("A", "Matches", "203.0.113.10"))
	require.Equal(t, "True", status.OfName(*snap).Verified)
	snap.Choices[0][0].Unknown = []string{paris}
	snap.Clusters[paris] = reachable()
	of := status.OfName(*snap)
	require.Equal(t, []string{"Unknown", "Unknown"}, []string{of.Published, of.Verified})
	require.Equal(t, "the addresses of Service shop/web on edge+paris are not known yet", of.Message)
	for reason, is := range map[string]observed.Reachability{"unreachable": {}, "forbids": {Reachable: true, Message: "not everything can be watched"}} {
		snap.Clusters[paris] = query.ClusterReport{Reachability: &is}
		require.Equal(t, "True", status.OfName(*snap).Verified, reason)
	}
	snap.Clusters[paris] = query.ClusterReport{}
	require.Equal(t, "Unknown", status.OfName(*snap).Verified, "nobody has tried yet")
	snap.Group.Clusters = append(snap.Group.Clusters, plan.Cluster{Name: paris, Inventory: true})
	require.Equal(t, "True", status.OfName(*snap).Verified, "nobody watches it")
}
