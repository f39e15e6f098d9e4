package scale

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAHundredNamesAreMeasured runs all of the benchmark at its smallest. A restart writes nothing again, and calls take
// little more than today: so many requests to the store, with the steps that follow.
func TestAHundredNamesAreMeasured(t *testing.T) {
	t.Parallel()
	most := map[string]map[string]float64{
		"groups": {"accept": 64, "plan": 13, "status": 8},
		"names":  {"accept": 23, "plan": 8, "status": 8},
	}
	for _, s := range []shape{groups(), single()} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			w.fill(100)
			r := w.measure(2 * time.Second)
			require.Zero(t, r.values["restart: redundant writes-files"])
			for call, requests := range most[s.name] {
				require.LessOrEqual(t, r.values[call+" of the last-requests"], requests, call)
			}
			t.Log(r.values)
		})
	}
}
