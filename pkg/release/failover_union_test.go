package release_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// geo has geo.lab.example given by two intents: of an app in Europe, and of one in America.
// They are in one group, or in two.
func geo(t *testing.T, groups ...intent.Path) *world {
	w := continents(t)
	w.put(eu, `{"namespace":"shop","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	for _, cluster := range []string{"berlin", "paris", "boston", "dallas"} {
		w.member(eu, cluster)
	}
	w.associate(eu, "lab")
	w.put("projects/shop/composite-apps/store/v1", `{"compositeAppVersion":"v1"}`)
	apps := map[intent.Path]string{}
	for n, region := range []string{"eu", "us"} {
		group := groups[n%len(groups)]
		if apps[group] != "" {
			apps[group] += ","
		}
		apps[group] += fmt.Sprintf(`{"name":"geo-%[1]s","clusterLabels":{"region":%[1]q}}`, region)
	}
	for group, list := range apps {
		w.put(group, `{"logicalCloud":"eu","apps":[`+list+`]}`, eu)
		w.put(group.Child("traffic-group-intents", "front"), `{}`)
	}
	for n, region := range []string{"eu", "us"} {
		w.put(groups[n%len(groups)].Child("traffic-group-intents", "front").Child("dns-intents", "geo-"+region),
			fmt.Sprintf(`{"app":"geo-%[1]s","serviceName":"geo-%[1]s","hostnames":["geo.lab.example"],"ttl":60}`, region))
	}
	w.observe(berlin, "shop/geo-eu", "203.0.113.90")
	w.observe(paris, "shop/geo-eu", "203.0.113.90")
	w.observe("edge+boston", "shop/geo-us", "203.0.113.91")
	w.observe("edge+dallas", "shop/geo-us", "203.0.113.91")
	for _, group := range groups {
		w.do(intent.Instantiate, group)
	}
	w.settle(groups...)
	w.answer(groups...)
	return w
}

// TestAFailoverCountsAllIntentsOfAName, of one group and of two: in its preview, its rules, and
// its record.
func TestAFailoverCountsAllIntentsOfAName(t *testing.T) {
	t.Parallel()
	for name, groups := range map[string][]intent.Path{"one group": {prod}, "two groups": {prod, test}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := geo(t, groups...)
			spec := intent.FailoverSpec{Drain: europe}
			preview := w.preview(spec)
			require.Empty(t, preview.Refusals)
			require.Equal(t, []intent.MovedName{{
				Name: "geo.lab.example", Type: "A", Project: "shop", Owner: prod, Record: "lab", TTL: 60, Homes: []string{hub},
				Before: []string{"203.0.113.90", "203.0.113.91"}, After: []string{"203.0.113.91"}, Left: intent.LeftOne,
				ClustersBefore: []string{berlin, "edge+boston", "edge+dallas", paris}, ClustersAfter: []string{"edge+boston", "edge+dallas"},
			}}, preview.Names)
			require.Equal(t, intent.FailoverCounts{Names: 1, One: 1}, preview.Counts)

			done, err := w.failOver(spec, intent.FailoverOptions{Confirm: preview.Token})
			require.NoError(t, err)
			require.Equal(t, "its old targets are still published", w.follow(done.ID).Names[0].Message)
			w.settle(groups...)
			is := w.follow(done.ID)
			require.NotNil(t, is.Names[0].Published)
			require.Equal(t, "the authoritative servers were seen to answer old targets, and not yet to have stopped", is.Names[0].Message)
			w.answer(groups...)
			require.Equal(t, intent.FailoverDone, w.follow(done.ID).State)

			both := w.preview(intent.FailoverSpec{Drain: america})
			require.Equal(t, intent.FailoverCounts{Names: 1, None: 1}, both.Counts)
			require.Contains(t, both.Refusals[0].Detail, "geo.lab.example would be left without any address")
			back, err := w.service.PreviewRevert(t.Context(), done.ID, intent.FailoverOptions{})
			require.NoError(t, err)
			require.Equal(t, []string{"203.0.113.91"}, back.Names[0].Before)
			require.Equal(t, []string{"203.0.113.90", "203.0.113.91"}, back.Names[0].After)
		})
	}
}

// TestSafetyRulesCountAllIntentsOfAName: the clusters of both intents serve it.
func TestSafetyRulesCountAllIntentsOfAName(t *testing.T) {
	t.Parallel()
	for name, groups := range map[string][]intent.Path{"one group": {prod}, "two groups": {prod, test}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := geo(t, groups...)
			require.NoError(t, w.service.PutSafetyRules(t.Context(), intent.SafetyRules{MinClusters: 2}, "ann"))
			require.Empty(t, w.preview(intent.FailoverSpec{Drain: europe}).Refusals)
			require.NoError(t, w.drain(berlin, false))
			require.NoError(t, w.service.PutSafetyRules(t.Context(), intent.SafetyRules{MinClusters: 3}, "ann"))
			require.ErrorContains(t, w.drain(paris, false), "fewer than 3 clusters would serve geo.lab.example")
			refused := w.preview(intent.FailoverSpec{Drain: europe}).Refusals
			require.Len(t, refused, 1)
			require.Equal(t, intent.MinClusters, refused[0].Rule)
		})
	}
}

// TestANameThatKeepsItsAddressesIsNotMoved: another intent gives the same address.
func TestANameThatKeepsItsAddressesIsNotMoved(t *testing.T) {
	t.Parallel()
	w := geo(t, prod, test)
	w.observe("edge+boston", "shop/geo-us", "203.0.113.90")
	w.observe("edge+dallas", "shop/geo-us", "203.0.113.90")
	w.settle(prod, test)
	preview := w.preview(intent.FailoverSpec{Drain: europe})
	require.Empty(t, preview.Names)
	require.Empty(t, preview.Refusals)
	require.Equal(t, intent.FailoverCounts{Kept: 1}, preview.Counts)
	require.NoError(t, w.drain(berlin, false))
	require.Equal(t, intent.FailoverCounts{Kept: 1}, w.preview(intent.FailoverSpec{Drain: europe}).Counts, "paris is left")
	require.NoError(t, w.drain(paris, false))
	require.Zero(t, w.preview(intent.FailoverSpec{Drain: europe}).Counts)
}

// TestAPreviewNamesAliasesThatLeadToNothing: it asks for them only if a name is left without an address.
func TestAPreviewNamesAliasesThatLeadToNothing(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	var asked [][]string
	known := map[string]string{"docs.lab.example": "www.lab.example"}
	w.service.Aliases = func(hosts []string) (map[string]string, error) {
		asked = append(asked, hosts)
		return known, nil
	}
	rest := intent.FailoverSpec{Drain: europe}
	require.Empty(t, w.preview(rest).Warnings)
	require.Empty(t, asked, "no name is left without an address")
	require.NoError(t, w.drain("edge+boston", false))
	require.NoError(t, w.drain("edge+dallas", false))
	require.Equal(t, []string{"CNAMEs of names that would be left without any address lead to nothing: docs.lab.example (of www.lab.example)"}, w.preview(rest).Warnings)
	require.Equal(t, [][]string{{"www.lab.example"}}, asked)
	w.service.Aliases = func([]string) (map[string]string, error) { return nil, intent.ErrNotFound("") }
	require.Contains(t, w.preview(rest).Warnings[0], "are not known")
}

// TestAPreviewTellsOfLocationsWithoutAnAnswer: of those that lose their last cluster, of names without the
// location default.
func TestAPreviewTellsOfLocationsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for last, want := range map[string][]string{
		"continent/NA": {"clients of continent/EU would get no answer from api.lab.example, unless a location around theirs answers; add default to the locations of a cluster"},
		"default":      {},
	} {
		t.Run(last, func(t *testing.T) {
			t.Parallel()
			w := continents(t)
			w.put(lab, `{"provider":"aws","external-dns-parameters":{"aws-zone-type":"public","domain-filter":["lab.example"],"policy":"sync"},"deployOn":{"clusterProvider":"edge","cluster":"hub"}}`)
			api := w.everywhere("api.lab.example", `,"routing":{"policy":"geo","locations":{"edge/berlin":["continent/EU"],"edge/paris":["continent/EU"],"edge/boston":["continent/NA"],"edge/dallas":["`+last+`"]}}`)
			w.settle(api)
			require.Equal(t, want, w.preview(intent.FailoverSpec{Drain: europe}).Warnings)
			require.Empty(t, w.preview(intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{berlin}}}).Warnings, "paris answers there")
		})
	}
}

// TestANameInSeveralSetsIsAnswered: the servers are asked for the targets of all its sets at
// once. The failover of the name ends, and the next one has nothing to warn of.
func TestANameInSeveralSetsIsAnswered(t *testing.T) {
	t.Parallel()
	for policy, routing := range map[string]string{
		intent.Weighted: `"weights":{"edge/berlin":50,"edge/paris":20,"edge/boston":20,"edge/dallas":10}`,
		intent.Latency:  `"regions":{"edge/berlin":"eu-central-1","edge/paris":"eu-west-3","edge/boston":"us-east-1","edge/dallas":"us-east-1"}`,
		intent.Geo:      `"locations":{"edge/berlin":["continent/EU"],"edge/paris":["country/FR"],"edge/boston":["continent/NA"],"edge/dallas":["default"]}`,
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			w := continents(t)
			w.put(lab, `{"provider":"aws","external-dns-parameters":{"aws-zone-type":"public","domain-filter":["lab.example"],"policy":"sync"},"deployOn":{"clusterProvider":"edge","cluster":"hub"}}`)
			api := w.everywhere("api.lab.example", `,"routing":{"policy":"`+policy+`",`+routing+`}`)
			w.settle(api)
			w.answer(api)
			require.Greater(t, len(w.published(api)), 1, "it is in several sets")

			spec := intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{berlin}}}
			preview := w.preview(spec)
			require.Len(t, preview.Names, 1)
			done, err := w.failOver(spec, intent.FailoverOptions{Confirm: preview.Token})
			require.NoError(t, err)
			w.settle(api)
			require.Equal(t, intent.FailoverMoving, w.follow(done.ID).State, "answers about other targets say nothing of the new ones")
			w.answer(api)
			is := w.follow(done.ID)
			require.Equal(t, intent.FailoverDone, is.State, is.Names[0].Message)
			require.NotNil(t, is.Names[0].Answered)
			require.Empty(t, w.preview(intent.FailoverSpec{Drain: america}).Warnings)
		})
	}
}
