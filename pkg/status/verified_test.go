package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/observed"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/status"
)

// heard has authoritative servers say something of names of the only DNSEndpoint.
func heard(snap *release.Snapshot, names ...observed.NameAnswer) {
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
			assert.Equal(t, got, verifiedOf(t, s.Conditions), "the only name's is the group's")
			assert.Len(t, s.Names[0].Answers, c.answers)
			if c.answers > 0 {
				assert.Equal(t, "192.0.2.53:53 says so", got.Message)
				assert.Equal(t, asked(), got.LastTransitionTime)
			}
		})
	}
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
