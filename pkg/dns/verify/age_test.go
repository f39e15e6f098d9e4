package verify_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestAVerdictIsOfBeforeIfAServerWasAskedBeforeTheChange, or if it is about a name that was leaving.
func TestAVerdictIsOfBeforeIfAServerWasAskedBeforeTheChange(t *testing.T) {
	changed := time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)
	before, after := intent.Answer{At: changed.Add(-time.Second)}, intent.Answer{At: changed.Add(time.Second)}
	for _, c := range []struct {
		reason  string
		verdict verify.Verdict
		changed time.Time
		said    []intent.Answer
		want    bool
	}{
		{"it was leaving", verify.Gone, changed, []intent.Answer{after}, true},
		{"it was leaving, and servers had it", verify.StillThere, time.Time{}, nil, true},
		{"it was missing", verify.NotThere, changed, []intent.Answer{before}, true},
		{"one of two servers was asked before", verify.Differs, changed, []intent.Answer{after, before}, true},
		{"it is missing", verify.NotThere, changed, []intent.Answer{after}, false},
		{"it is right still", verify.Matches, changed, []intent.Answer{before}, false},
		{"the change is not known", verify.NotThere, time.Time{}, []intent.Answer{before}, false},
		{"nobody was asked", verify.NoServers, changed, nil, false},
		{"the time of the question is not known", verify.NotThere, changed, []intent.Answer{{}}, false},
	} {
		require.Equal(t, c.want, c.verdict.OfBefore(c.changed, c.said), c.reason)
	}
}
