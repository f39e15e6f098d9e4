package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStatusShowsTheSetsOfADividedName: each with its share, or its location.
func TestStatusShowsTheSetsOfADividedName(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET "+prod+"/status", 200, "Status", `{"state":"Instantiated","contextID":"1","revision":1,"conditions":[],"clusters":[],"providers":[],
		"names":[{"name":"www.lab.example","type":"A","record":"lab","scope":"public","targets":["203.0.113.10"],"conditions":[],"sources":[],"rejected":[],
			"sets":[{"setIdentifier":"edge+berlin","weight":90,"targets":["203.0.113.10","203.0.113.11"]},
				{"setIdentifier":"continent/EU","weight":0,"location":"continent/EU","targets":["203.0.113.12"]}]}]}`)
	got := signpost(t, f.url, "status", "shop/store/v1/prod")
	require.Equal(t, exitDone, got.code, got.err)
	require.Regexp(t, `SETS OF +TYPE +RECORD +SET +WEIGHT +TARGETS\nwww.lab.example +A +lab +edge\+berlin +90 +203.0.113.10, 203.0.113.11\nwww.lab.example +A +lab +continent/EU +- +203.0.113.12\n`, got.out)
}
