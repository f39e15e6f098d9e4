package verify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	dnsverify "github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

func TestQuestionsGetRarer(t *testing.T) {
	t.Parallel()
	began := time.Unix(1000, 0)
	for _, c := range []struct {
		reason      string
		asked       time.Duration // after the change
		done        bool
		leaving     bool
		paused      bool
		after, want time.Duration
	}{
		{"at first soon", -1, false, false, false, 0, time.Second},
		{"soon after a change", 2 * time.Second, false, false, false, 0, time.Second},
		{"later, less often", 40 * time.Second, false, false, false, 0, 10 * time.Second},
		{"and never rarely", 10 * time.Hour, false, false, false, 0, verifyRarely},
		{"what is right, rarely", 10 * time.Second, true, false, false, time.Minute, 4 * time.Minute},
		{"its turn has come", 40 * time.Second, false, false, false, time.Minute, 0},
		{"what has left, never", 10 * time.Second, true, true, false, time.Hour, verifyRarely},
		{"what is being deleted, not now", -1, false, false, true, time.Hour, verifyRarely},
	} {
		p := proof{began: began, done: c.done, leaving: c.leaving, presence: presence{paused: c.paused}}
		now := began.Add(c.after)
		if c.asked >= 0 {
			p.asked = began.Add(c.asked)
			now = p.asked.Add(c.after)
		}
		assert.Equal(t, c.want, p.due(now), c.reason)
	}
}

func TestNamesOfADNSEndpoint(t *testing.T) {
	t.Parallel()
	names := namesOf(&bundle.Published{Names: []bundle.PublishedName{
		{Name: "www.lab.example", Type: "A", Targets: []string{"203.0.113.20", "203.0.113.10"}},
		{Name: "_web._tcp.lab.example", Type: "SRV", Targets: []string{"0 1 80 www.lab.example."}},
	}})
	assert.Equal(t, []string{"203.0.113.10", "203.0.113.20"}, names.get(nameKey{"www.lab.example", "A"}).all())
	assert.Equal(t, []string{"0 1 80 www.lab.example"}, names.get(nameKey{"_web._tcp.lab.example", "SRV"}).all(), "as answers are written")
	assert.Empty(t, namesOf(nil), "a DNSEndpoint that is not Signpost's")
}

// TestATargetThatComesBackIsAnsweredAnew, though nobody has asked between.
func TestATargetThatComesBackIsAnsweredAnew(t *testing.T) {
	t.Parallel()
	www, other := nameKey{"www.lab.example", "A"}, nameKey{"api.lab.example", "A"}
	began := time.Unix(1000, 0).UTC()
	p := proof{way: &way{}}
	publish := func(target string, at time.Time) {
		p.recalled = given{}.with(www, "", target).with(other, "", "203.0.113.9")
		p.updateQuestions(false, p.recalled, p.recalled, at)
	}
	ask := func(at time.Time) map[string]time.Time {
		found, since := &observed.Answers{}, map[string]time.Time{}
		for _, q := range p.questions(p.recalled, p.recalled) {
			n := p.nameAnswer(q, dnsverify.Finding{Verdict: dnsverify.Matches}, q.Sets[0], at)
			found.Names, since[n.Name] = append(found.Names, n), n.Since
		}
		p.answers, p.renewed = found, nil
		return since
	}
	publish("203.0.113.1", began)
	assert.Equal(t, began, ask(began)[www.name])
	publish("203.0.113.2", began.Add(time.Second))
	publish("203.0.113.1", began.Add(2*time.Second))
	since := ask(began.Add(3 * time.Second))
	assert.Equal(t, began.Add(3*time.Second), since[www.name])
	assert.Equal(t, began, since[other.name], "it has not changed")
	assert.Equal(t, began.Add(3*time.Second), ask(began.Add(time.Minute))[www.name])
}
