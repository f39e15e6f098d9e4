package placement

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAVerdictSaysWhichLabelOrTaintExcludesHowManyNodes(t *testing.T) {
	verdict := Verdict{Nodes: 4, Suitable: 1, Excluded: []Exclusion{
		{Reason: "label disktype=ssd is missing", Nodes: 2}, {Reason: "taint dns-only:NoSchedule is not tolerated", Nodes: 1},
	}}
	assert.Equal(t, "1 of 4 nodes are suitable: label disktype=ssd is missing on 2, taint dns-only:NoSchedule is not tolerated on 1", verdict.String())
	assert.Equal(t, "0 of 0 nodes are suitable", Verdict{}.String())
}
