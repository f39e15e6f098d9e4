package inputs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// TestDifferencesOfInputs between a release and the documents now.
func TestDifferencesOfInputs(t *testing.T) {
	t.Parallel()
	const (
		shop   intent.Path = "projects/shop"
		cloud  intent.Path = "projects/shop/logical-clouds/eu"
		lab    intent.Path = "projects/shop/dns-update-records/lab"
		berlin intent.Path = "cluster-providers/edge/clusters/berlin"
		pairs  intent.Path = "cluster-providers/edge/clusters/berlin/kv-pairs/dns-update-record-list"
	)
	at := func(path intent.Path, revision int64) state.Input {
		return state.Input{Path: path, UID: "one", Revision: revision}
	}
	again := state.Input{Path: lab, UID: "two", Revision: 1}
	for _, c := range []struct {
		reason          string
		frozen, present []state.Input
		want            []intent.UndeployedDocument
	}{
		{"nothing", nil, nil, nil},
		{"the same", []state.Input{at(shop, 1), at(cloud, 2)}, []state.Input{at(cloud, 2), at(shop, 1)}, nil},
		{"another revision", []state.Input{at(cloud, 2)}, []state.Input{at(cloud, 4)}, []intent.UndeployedDocument{{Path: cloud, Change: intent.InputChanged, Revision: 2, Current: 4}}},
		{"an earlier one, after a rollback", []state.Input{at(cloud, 4)}, []state.Input{at(cloud, 2)}, []intent.UndeployedDocument{{Path: cloud, Change: intent.InputChanged, Revision: 4, Current: 2}}},
		{"added", nil, []state.Input{at(cloud, 1)}, []intent.UndeployedDocument{{Path: cloud, Change: intent.InputAdded, Current: 1}}},
		{"removed", []state.Input{at(cloud, 3)}, nil, []intent.UndeployedDocument{{Path: cloud, Change: intent.InputRemoved, Revision: 3}}},
		{"a settled document has another revision", []state.Input{at(shop, 1)}, []state.Input{at(shop, 9)}, nil},
		{"a settled document was created again", []state.Input{at(lab, 1)}, []state.Input{again}, []intent.UndeployedDocument{{Path: lab, Change: intent.InputChanged, Revision: 1, Current: 1}}},
		{"a settled document is added: it serves other groups", nil, []state.Input{at(lab, 1)}, []intent.UndeployedDocument{{Path: lab, Change: intent.InputAdded, Current: 1}}},
		{"clusters in any way, because their credentials are renewed", []state.Input{at(berlin, 1), at(berlin+"2", 1)}, []state.Input{at(berlin, 2), at(berlin+"3", 1)}, nil},
		{"internal documents in any way", []state.Input{at(state.LifecyclePath(lab), 1)}, []state.Input{at(state.LifecyclePath(lab), 2), at(state.LifecyclePath(cloud), 2)}, nil},
		{"but a document below a cluster counts", []state.Input{at(pairs, 1)}, []state.Input{at(pairs, 2)}, []intent.UndeployedDocument{{Path: pairs, Change: intent.InputChanged, Revision: 1, Current: 2}}},
		{
			"several, in order of paths", []state.Input{at(lab, 1), at(cloud, 1)}, []state.Input{at(pairs, 1), at(cloud, 2)},
			[]intent.UndeployedDocument{
				{Path: pairs, Change: intent.InputAdded, Current: 1}, {Path: lab, Change: intent.InputRemoved, Revision: 1}, {Path: cloud, Change: intent.InputChanged, Revision: 1, Current: 2},
			},
		},
	} {
		require.Equal(t, c.want, differences(c.frozen, c.present, map[intent.Path]bool{shop: true, lab: true}), c.reason)
	}
}
