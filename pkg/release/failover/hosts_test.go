package failover

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestAHostNameCountsOnce for all of its types and providers, and as answered only with all of them.
func TestAHostNameCountsOnce(t *testing.T) {
	t.Parallel()
	at := time.Now()
	row := func(name, kind, left string, answered bool) intent.FailoverName {
		r := intent.FailoverName{MovedName: intent.MovedName{Name: name, Type: kind, Left: left}}
		if answered {
			r.Answered = &at
		}
		return r
	}
	stays := row("a.example", "CNAME", "", false)
	stays.Stays = "its group is suspended"
	for _, c := range []struct {
		reason string
		rows   []intent.FailoverName
		want   intent.FailoverHosts
	}{
		{"there is none", nil, intent.FailoverHosts{}},
		{"one type of two waits", []intent.FailoverName{row("a.example", "A", "", true), row("a.example", "AAAA", "", false)}, intent.FailoverHosts{Moved: 1}},
		{"both are answered", []intent.FailoverName{row("a.example", "A", intent.LeftOne, true), row("a.example", "AAAA", "", true)}, intent.FailoverHosts{Moved: 1, Answered: 1, One: 1}},
		{"one name moves, another loses its last address", []intent.FailoverName{row("a.example", "A", "", true), row("b.example", "A", intent.LeftNone, true)}, intent.FailoverHosts{Moved: 1, Answered: 1, None: 1, Gone: 1}},
		{"it is about to lose it", []intent.FailoverName{row("b.example", "A", intent.LeftNone, false)}, intent.FailoverHosts{None: 1}},
		{"what cannot move is not waited for", []intent.FailoverName{stays, row("b.example", "A", intent.LeftUnhealthy, true)}, intent.FailoverHosts{Moved: 1, Answered: 1, Unhealthy: 1, Stay: 1}},
	} {
		require.Equal(t, c.want, hostsOf(c.rows), c.reason)
	}
}
