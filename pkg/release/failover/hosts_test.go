package failover

import (
	"fmt"
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
		{"it loses its last address at one provider and moves at another", []intent.FailoverName{row("a.example", "A", intent.LeftNone, true), row("a.example", "A", "", false)}, intent.FailoverHosts{Moved: 1}},
		{"it is about to lose it", []intent.FailoverName{row("b.example", "A", intent.LeftNone, false)}, intent.FailoverHosts{None: 1}},
		{"what cannot move is not waited for", []intent.FailoverName{stays, row("b.example", "A", intent.LeftUnhealthy, true)}, intent.FailoverHosts{Moved: 1, Answered: 1, Unhealthy: 1, Stay: 1}},
	} {
		require.Equal(t, c.want, hostsOf(c.rows), c.reason)
	}
}

// TestAPreviewListsNamesInDangerFirst, also those that are the last of many, and all rows of a name or none.
func TestAPreviewListsNamesInDangerFirst(t *testing.T) {
	t.Parallel()
	row := func(name, kind, left string) intent.MovedName {
		return intent.MovedName{Name: name, Type: kind, Left: left}
	}
	var p proposal
	for n := range mostNames {
		name := fmt.Sprintf("n%04d.example", n)
		p.rows = append(p.rows, row(name, "A", ""), row(name, "AAAA", ""))
	}
	p.rows = append(p.rows, row("one.example", "A", intent.LeftOne), row("two.example", "A", ""), row("two.example", "AAAA", intent.LeftUnhealthy), row("none.example", "A", intent.LeftNone))
	preview, err := p.show(nil)
	require.NoError(t, err)
	require.Equal(t, []intent.MovedName{
		row("none.example", "A", intent.LeftNone), row("two.example", "A", ""), row("two.example", "AAAA", intent.LeftUnhealthy), row("one.example", "A", intent.LeftOne), row("n0000.example", "A", ""),
	}, preview.Names[:5])
	require.Len(t, preview.Names, mostNames)
	require.Equal(t, len(p.rows)-mostNames, preview.NamesLeftOut)
	p.rows = p.rows[1:]
	preview, err = p.show(nil)
	require.NoError(t, err)
	require.Len(t, preview.Names, mostNames-1, "the last name has no room for both of its rows")
	require.Equal(t, len(p.rows)-mostNames+1, preview.NamesLeftOut)
}

// TestAnOlderRecordIsCounted, which was stored without counts of its host names; those of others stay as they are.
func TestAnOlderRecordIsCounted(t *testing.T) {
	t.Parallel()
	for body, moved := range map[string]int{`{"names":[{"name":"a.example"}]}`: 1, `{"names":[{"name":"a.example"}],"hosts":{"moved":7}}`: 7} {
		r, err := decode(intent.Document{Body: []byte(body)})
		require.NoError(t, err)
		require.Equal(t, intent.FailoverHosts{Moved: moved}, r.Hosts)
	}
}
