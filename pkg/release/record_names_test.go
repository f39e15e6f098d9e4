package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestTheRecordsPlanTellsNameByName which addresses its filter takes away, and
// what it removes is what the update then takes away.
func TestTheRecordsPlanTellsNameByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, filter string
		want           []intent.NameChange
		warns          string
	}{
		{"one address", `{"deny":["203.0.113.10/32"]}`, []intent.NameChange{
			{Name: "www.lab.example", Type: "A", Record: "lab", Action: "update", Targets: []string{"203.0.113.20"}, Before: []string{"203.0.113.10", "203.0.113.20"}, AnsweredWithin: "6s", ClientsWithin: "5m7s"},
		}, ""},
		{"all addresses", `{"deny":["0.0.0.0/0","::/0"]}`, []intent.NameChange{
			{Name: "www.lab.example", Type: "A", Record: "lab", Action: "delete", Targets: []string{"203.0.113.10", "203.0.113.20"}, Before: []string{"203.0.113.10", "203.0.113.20"}},
		}, "no address of www.lab.example A"},
		{"none", `{"deny":["192.0.2.0/24"]}`, []intent.NameChange{}, ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.put(lab, record("lab.example", `,"targetFilter":`+c.filter))
			plan, err := w.service.PlanRecord(t.Context(), lab, "")
			require.NoError(t, err)
			require.Equal(t, c.want, plan.Names)
			require.Contains(t, strings.Join(plan.Warnings, "\n"), c.warns)
			require.Equal(t, []string{"203.0.113.10", "203.0.113.20"}, w.snapshot(prod).Choices[0][0].Targets("A"), "a plan changes nothing")

			w.updateRecord(lab)
			w.settle(prod)
			for _, name := range c.want {
				kept := name.Targets
				if name.Action == "delete" {
					kept = nil
				}
				require.Equal(t, kept, w.snapshot(prod).Choices[0][0].Targets("A"))
			}
		})
	}
}

// TestTheRecordsPlanLeavesSuspendedGroupsOut: nobody writes their names.
func TestTheRecordsPlanLeavesSuspendedGroupsOut(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.suspend(prod, true)
	w.put(lab, record("lab.example", `,"targetFilter":{"deny":["0.0.0.0/0"]}`))
	plan, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	require.Empty(t, plan.Names)
}
