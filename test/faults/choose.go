package faults

import (
	"os"
	"strconv"
	"testing"
)

// killsVariable is the environment variable that says how many of all moments
// are tried, evenly spread: a number, or "all".
const killsVariable = "SIGNPOST_KILLS"

// Choose chooses some of all moments to kill at, evenly: as many as usual, or as
// SIGNPOST_KILLS says.
func Choose[M any](t testing.TB, all []M, usual int) []M {
	t.Helper()
	n := usual
	switch text := os.Getenv(killsVariable); text {
	case "":
	case "all":
		n = len(all)
	default:
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", killsVariable, err)
		}
	}
	n = min(n, len(all))
	chosen := make([]M, n)
	for i := range chosen {
		chosen[i] = all[i*len(all)/n]
	}
	return chosen
}
