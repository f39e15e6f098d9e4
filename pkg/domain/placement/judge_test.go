package placement_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
)

const infra, master = "node-role.kubernetes.io/infra", "node-role.kubernetes.io/master"

func node(name string, labels map[string]string, taints ...placement.Taint) placement.Node {
	if labels == nil {
		labels = map[string]string{"kubernetes.io/os": "linux"}
	}
	return placement.Node{Name: name, Labels: labels, Taints: taints}
}

func taint(key, value, effect string) placement.Taint {
	return placement.Taint{Key: key, Value: value, Effect: effect}
}

func exists(key, effect string) intent.Toleration {
	return intent.Toleration{Key: key, Operator: "Exists", Effect: effect}
}

func linux(tolerations ...intent.Toleration) placement.Placement {
	return placement.Placement{NodeSelector: map[string]string{"kubernetes.io/os": "linux"}, Tolerations: tolerations}
}

// TestVerdictSaysWhichLabelOrTaintExcludesHowManyNodes has the seed's stories
// and the rules of Kubernetes beside them.
func TestVerdictSaysWhichLabelOrTaintExcludesHowManyNodes(t *testing.T) {
	dnsOnly := taint("dns-only", "", "NoSchedule")
	for _, c := range []struct {
		name      string
		nodes     []placement.Node
		placement placement.Placement
		suitable  int
		excluded  []placement.Exclusion
	}{
		{"no nodes", nil, linux(), 0, nil},
		{"an empty placement takes every node", []placement.Node{node("a", map[string]string{})}, placement.Placement{}, 1, nil},
		{
			"by default, DNS pods run on untainted Linux nodes",
			[]placement.Node{node("a", nil), node("b", nil, dnsOnly), node("c", map[string]string{"kubernetes.io/os": "windows"})},
			linux(), 1,
			[]placement.Exclusion{{"label kubernetes.io/os=linux is missing", 1}, {"taint dns-only:NoSchedule is not tolerated", 1}},
		},
		{
			"nodes with the infra label and taint",
			[]placement.Node{
				node("a", map[string]string{"kubernetes.io/os": "linux", infra: ""}, taint(infra, "", "NoSchedule")),
				node("b", nil), node("c", nil),
			},
			placement.Placement{
				NodeSelector: map[string]string{"kubernetes.io/os": "linux", infra: ""},
				Tolerations:  []intent.Toleration{exists(infra, "NoSchedule")},
			},
			1, []placement.Exclusion{{"label " + infra + "= is missing", 2}},
		},
		{
			"only control-plane nodes, whose taint nobody tolerates",
			[]placement.Node{node("a", map[string]string{"kubernetes.io/os": "linux", master: ""}, taint(master, "", "NoSchedule"))},
			placement.Placement{NodeSelector: map[string]string{"kubernetes.io/os": "linux", master: ""}},
			0, []placement.Exclusion{{"taint " + master + ":NoSchedule is not tolerated", 1}},
		},
		{"a toleration for dns-only", []placement.Node{node("a", nil, dnsOnly)}, linux(exists("dns-only", "NoSchedule")), 1, nil},
		{"Equal is the default", []placement.Node{node("a", nil, taint("k", "v", "NoExecute"))}, linux(intent.Toleration{Key: "k", Value: "v"}), 1, nil},
		{
			"another value is another taint",
			[]placement.Node{node("a", nil, taint("k", "v", "NoExecute"))},
			linux(intent.Toleration{Key: "k", Value: "w"}), 0,
			[]placement.Exclusion{{"taint k=v:NoExecute is not tolerated", 1}},
		},
		{
			"another effect is another taint",
			[]placement.Node{node("a", nil, taint("k", "", "NoExecute"))},
			linux(exists("k", "NoSchedule")), 0,
			[]placement.Exclusion{{"taint k:NoExecute is not tolerated", 1}},
		},
		{"Exists without a key tolerates everything", []placement.Node{node("a", nil, dnsOnly, taint("k", "v", "NoExecute"))}, linux(exists("", "")), 1, nil},
		{"PreferNoSchedule excludes nobody", []placement.Node{node("a", nil, taint("k", "v", "PreferNoSchedule"))}, linux(), 1, nil},
		{"a cordoned node counts", []placement.Node{node("a", nil, taint("node.kubernetes.io/unschedulable", "", "NoSchedule"))}, linux(), 1, nil},
		{
			"a node that is not ready counts once its pods may stay",
			[]placement.Node{
				node("a", nil, taint("node.kubernetes.io/not-ready", "", "NoExecute")),
				node("b", nil, taint("node.kubernetes.io/not-ready", "", "NoSchedule")),
			},
			linux(), 1,
			[]placement.Exclusion{{"taint node.kubernetes.io/not-ready:NoSchedule is not tolerated", 1}},
		},
		{
			"a node without a network does not",
			[]placement.Node{node("a", nil, taint("node.kubernetes.io/network-unavailable", "", "NoSchedule"))}, linux(), 0,
			[]placement.Exclusion{{"taint node.kubernetes.io/network-unavailable:NoSchedule is not tolerated", 1}},
		},
		{
			"each node is counted once, by its first reason; the most common comes first",
			[]placement.Node{
				node("a", map[string]string{"b": "1"}, dnsOnly), node("b", map[string]string{"a": "1"}), node("c", map[string]string{"a": "1"}, dnsOnly),
			},
			placement.Placement{NodeSelector: map[string]string{"b": "1", "a": "1"}}, 0,
			[]placement.Exclusion{{"label b=1 is missing", 2}, {"label a=1 is missing", 1}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := placement.Verdict{Nodes: len(c.nodes), Suitable: c.suitable, Excluded: c.excluded}
			require.Equal(t, want, placement.Judge(c.nodes, c.placement))
		})
	}
}

// tolerates is Kubernetes' rule as its documentation words it.
func tolerates(t intent.Toleration, on placement.Taint) bool {
	if t.Effect != "" && t.Effect != on.Effect {
		return false
	}
	switch t.Operator {
	case "Exists":
		return t.Key == "" || t.Key == on.Key
	case "", "Equal":
		return (t.Key == "" || t.Key == on.Key) && t.Value == on.Value
	}
	return false
}

// daemonTolerates is what the documentation of DaemonSets lists.
func daemonTolerates(on placement.Taint) bool {
	switch on.Effect {
	case "NoExecute":
		return slices.Contains([]string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}, on.Key)
	case "NoSchedule":
		return slices.Contains([]string{
			"node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
			"node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable",
		}, on.Key)
	}
	return true // it does not exclude
}

func suits(n placement.Node, p placement.Placement) bool {
	for key, value := range p.NodeSelector {
		if found, ok := n.Labels[key]; !ok || found != value {
			return false
		}
	}
	for _, on := range n.Taints {
		tolerated := func(t intent.Toleration) bool { return tolerates(t, on) }
		if !daemonTolerates(on) && !slices.ContainsFunc(p.Tolerations, tolerated) {
			return false
		}
	}
	return true
}

func labels() *rapid.Generator[map[string]string] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "kubernetes.io/os"}), rapid.SampledFrom([]string{"", "1", "linux"}), 0, 3)
}

func keys() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"a", "b", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/disk-pressure",
		"node.kubernetes.io/memory-pressure", "node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable", "node.kubernetes.io/network-unavailable",
	})
}

func effects() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"NoSchedule", "PreferNoSchedule", "NoExecute"})
}

func nodes() *rapid.Generator[[]placement.Node] {
	taints := rapid.Custom(func(t *rapid.T) placement.Taint {
		return taint(keys().Draw(t, "key"), rapid.SampledFrom([]string{"", "1"}).Draw(t, "value"), effects().Draw(t, "effect"))
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) placement.Node {
		return node("n", labels().Draw(t, "labels"), rapid.SliceOfN(taints, 0, 3).Draw(t, "taints")...)
	}), 0, 6)
}

func placements() *rapid.Generator[placement.Placement] {
	tolerations := rapid.Custom(func(t *rapid.T) intent.Toleration {
		out := intent.Toleration{
			Key:      rapid.OneOf(keys(), rapid.Just("")).Draw(t, "key"),
			Operator: rapid.SampledFrom([]string{"", "Equal", "Exists"}).Draw(t, "operator"),
			Effect:   rapid.OneOf(effects(), rapid.Just("")).Draw(t, "effect"),
		}
		if out.Key == "" {
			out.Operator = "Exists"
		}
		if out.Operator != "Exists" {
			out.Value = rapid.SampledFrom([]string{"", "1"}).Draw(t, "value")
		}
		if out.Effect == "NoExecute" && rapid.Bool().Draw(t, "for a while") {
			out.TolerationSeconds = new(int64(rapid.IntRange(0, 2).Draw(t, "seconds")))
		}
		return out
	})
	return rapid.Custom(func(t *rapid.T) placement.Placement {
		return placement.Placement{
			NodeSelector: labels().Draw(t, "selector"),
			Tolerations:  rapid.SliceOfN(tolerations, 0, 4).Draw(t, "tolerations"),
		}
	})
}

// TestNodesCountAsTheyDoInKubernetes compares with the rules as the
// documentation of Kubernetes words them.
func TestNodesCountAsTheyDoInKubernetes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, p := nodes().Draw(t, "nodes"), placements().Draw(t, "placement")
		verdict := placement.Judge(all, p)
		suitable, excluded := 0, 0
		for _, n := range all {
			if suits(n, p) {
				suitable++
			}
		}
		for _, e := range verdict.Excluded {
			excluded += e.Nodes
		}
		require.Equal(t, suitable, verdict.Suitable)
		require.Equal(t, len(all), verdict.Nodes)
		require.Equal(t, len(all), suitable+excluded, "each node is suitable, or excluded once")
	})
}

// TestOrderIsOfNoMeaning: nodes come in any order, and so do taints and
// tolerations.
func TestOrderIsOfNoMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, p := nodes().Draw(t, "nodes"), placements().Draw(t, "placement")
		want, key := placement.Judge(all, p), p.Key()
		shuffle(all)
		for i := range all {
			shuffle(all[i].Taints)
		}
		shuffle(p.Tolerations)
		require.Equal(t, want, placement.Judge(all, p))
		require.Equal(t, want, placement.Judge(all, p.Canonical()))
		require.Equal(t, key, p.Key())
	})
}

func shuffle[T any](list []T) {
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// TestKeyStandsForThePlacement: the same for one canonical form, another for
// another, and short.
func TestKeyStandsForThePlacement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := placements().Draw(t, "a"), placements().Draw(t, "b")
		require.Len(t, a.Key(), 16)
		require.Equal(t, a.Canonical(), a.Canonical().Canonical())
		require.Equal(t, a.Key(), a.Canonical().Key())
		same := slices.EqualFunc(a.Canonical().Tolerations, b.Canonical().Tolerations, sameToleration) && sameLabels(a.NodeSelector, b.NodeSelector)
		require.Equal(t, same, a.Key() == b.Key())
	})
	require.Equal(t, placement.Placement{}.Key(), placement.Placement{NodeSelector: map[string]string{}, Tolerations: []intent.Toleration{}}.Key())
	require.Equal(t, linux(intent.Toleration{Key: "k"}).Key(), linux(intent.Toleration{Key: "k", Operator: "Equal"}, intent.Toleration{Key: "k"}).Key())
	require.NotEqual(t, linux(exists("k", "NoExecute")).Key(), linux(intent.Toleration{Key: "k", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(0))}).Key())
}

func sameToleration(a, b intent.Toleration) bool {
	seconds := func(t intent.Toleration) int64 {
		if t.TolerationSeconds == nil {
			return -1
		}
		return *t.TolerationSeconds
	}
	return a.Key == b.Key && a.Operator == b.Operator && a.Value == b.Value && a.Effect == b.Effect && seconds(a) == seconds(b)
}

func sameLabels(a, b map[string]string) bool {
	for key, value := range a {
		if other, ok := b[key]; !ok || other != value {
			return false
		}
	}
	return len(a) == len(b)
}
