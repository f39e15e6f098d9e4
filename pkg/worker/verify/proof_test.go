package verify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
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
		p := proof{began: began, done: c.done, leaving: c.leaving, paused: c.paused}
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
	assert.Equal(t, []string{"203.0.113.10", "203.0.113.20"}, names[nameKey{"www.lab.example", "A"}].all())
	assert.Equal(t, []string{"0 1 80 www.lab.example"}, names[nameKey{"_web._tcp.lab.example", "SRV"}].all(), "as answers are written")
	assert.Empty(t, namesOf(nil), "a DNSEndpoint that is not Signpost's")
}
