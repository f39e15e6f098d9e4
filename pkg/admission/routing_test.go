package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// routed is a right intent with a routing, and more fields.
func routed(routing, more string) string {
	return names(`["www.lab.example"]`, `,"routing":`+routing+more)
}

func TestBadRoutingIsRefused(t *testing.T) {
	const order, weights, regions, locations = "/spec/routing/order", "/spec/routing/weights", "/spec/routing/regions", "/spec/routing/locations"
	refused(t, []refusal{
		{reason: "a policy that is none", path: www, spec: routed(`{"policy":"roundrobin"}`, ``),
			errors: map[string]string{"/spec/routing/policy": "multivalue, failover, weighted, latency or geo"}},
		{reason: "an order that is not a list of clusters", path: www, spec: routed(`{"policy":"failover","order":["berlin","edge+berlin+2","+","edge+berlin","edge+berlin"]}`, ``),
			errors: map[string]string{order + "/0": `as in "edge+berlin"`, order + "/1": "not a cluster", order + "/2": "not a cluster", order + "/4": "twice"}},
		{reason: "unknown clusters in an order", path: www, code: intent.Conflict, spec: routed(`{"policy":"failover","order":["edge+berlin","edge+rome"]}`, ``),
			errors: map[string]string{order + "/1": "cluster-providers/edge/clusters/rome, which does not exist; create it first"}},
		{reason: "unknown clusters among weights", path: www, code: intent.Conflict, spec: routed(`{"policy":"weighted","weights":{"edge+rome":1}}`, ``),
			errors: map[string]string{weights + "/edge+rome": "cluster-providers/edge/clusters/rome, which does not exist"}},
		{reason: "weights of what is not a cluster", path: www, spec: routed(`{"policy":"weighted","weights":{"a/b":1}}`, ``),
			errors: map[string]string{weights + "/a~1b": "not a cluster"}},
		{reason: "weights that sum to zero", path: www, spec: routed(`{"policy":"weighted","weights":{"edge+berlin":0,"edge+paris":0}}`, ``),
			errors: map[string]string{weights: "sum to zero"}},
		{reason: "weighted without weights", path: www, spec: routed(`{"policy":"weighted"}`, ``),
			errors: map[string]string{weights: `at least one cluster a positive weight, as in {"edge+berlin":90}`}},
		{reason: "negative and huge weights", path: www, spec: routed(`{"policy":"weighted","weights":{"edge+berlin":-1,"edge+paris":1000001}}`, ``),
			errors: map[string]string{weights + "/edge+berlin": "give 0 to 1000000", weights + "/edge+paris": "give 0 to 1000000"}},
		{reason: "latency without regions", path: www, spec: routed(`{"policy":"latency"}`, ``),
			errors: map[string]string{regions: `as in {"edge+berlin":"eu-central-1"}`}},
		{reason: "regions that are none", path: www, spec: routed(`{"policy":"latency","regions":{"edge+berlin":"Frankfurt","edge+paris":"eu-west"}}`, ``),
			errors: map[string]string{regions + "/edge+berlin": `"Frankfurt" is not an AWS region`, regions + "/edge+paris": "did you mean eu-west-1?"}},
		{reason: "regions that have the form of one", path: www, spec: routed(`{"policy":"latency","regions":{"edge+berlin":"eu-centrall-1","edge+paris":"xx-nowhere-9"}}`, ``),
			errors: map[string]string{regions + "/edge+berlin": "did you mean eu-central-1?", regions + "/edge+paris": "as in eu-central-1"}},
		{reason: "states that are none", path: www, spec: routed(`{"policy":"geo","locations":{"edge+berlin":["country/US/ZZ","country/US/QQ","country/US/PR","country/US/12"]}}`, ``),
			errors: map[string]string{
				locations + "/edge+berlin/0": "did you mean country/US/AZ?", locations + "/edge+berlin/1": "as in country/US/CA",
				locations + "/edge+berlin/2": "give country/PR", locations + "/edge+berlin/3": "as in country/US/CA",
			}},
		{reason: "regions of what is not a cluster", path: www, spec: routed(`{"policy":"latency","regions":{"a/b":"eu-central-1"}}`, ``),
			errors: map[string]string{regions + "/a~1b": "not a cluster"}},
		{reason: "geo without locations", path: www, spec: routed(`{"policy":"geo"}`, ``),
			errors: map[string]string{locations: `as in {"edge+berlin":["continent/EU","default"]}`}},
		{reason: "locations that are none", path: www, spec: routed(`{"policy":"geo","locations":{"edge+berlin":["EU","continent/XX","continent/eu","country/UK","country/EU","country/D","country/DE/BY","country/US/California","default","default"],"edge+paris":[]}}`, ``),
			errors: map[string]string{
				locations + "/edge+berlin/0": "continent as in continent/EU", locations + "/edge+berlin/1": "give one of AF, AN, AS, EU, NA, OC, SA", locations + "/edge+berlin/2": "write continent/EU",
				locations + "/edge+berlin/3": "is country/GB", locations + "/edge+berlin/4": "is continent/EU", locations + "/edge+berlin/5": "two letters, as in country/DE",
				locations + "/edge+berlin/6": "give country/DE", locations + "/edge+berlin/7": "as in country/US/CA", locations + "/edge+berlin/9": "twice", locations + "/edge+paris": "has no location",
			}},
		{reason: "unknown clusters among locations", path: www, code: intent.Conflict, spec: routed(`{"policy":"geo","locations":{"edge+rome":["default"]}}`, ``),
			errors: map[string]string{locations + "/edge+rome": "cluster-providers/edge/clusters/rome, which does not exist"}},
		{reason: "locations where no record has set identifiers", path: www, spec: routed(`{"policy":"geo","locations":{"edge+berlin":["default"]}}`, `,"records":["lab"]`),
			errors: map[string]string{"/spec/routing/policy": "geo needs a DNS provider with set identifiers, and no provider of the intent has them: lab (coredns); external-dns has them for aws and inmemory"}},
		{reason: "regions where no record has set identifiers", path: www, spec: routed(`{"policy":"latency","regions":{"edge+berlin":"eu-central-1"}}`, `,"records":["lab"]`),
			errors: map[string]string{"/spec/routing/policy": "latency needs a DNS provider with set identifiers"}},
		{reason: "weights where no record has set identifiers", path: www, spec: routed(`{"policy":"weighted","weights":{"edge+berlin":90}}`, `,"records":["lab"]`),
			errors: map[string]string{"/spec/routing/policy": "and no provider of the intent has them: lab (coredns); external-dns has them for aws and inmemory"}},
	})
}

// TestWeightsAreJudgedByTheRecordsOfTheLogicalCloud, where the intent names none.
func TestWeightsAreJudgedByTheRecordsOfTheLogicalCloud(t *testing.T) {
	weighted := routed(`{"policy":"weighted","weights":{"edge+berlin":90}}`, ``)
	w := newShop(t)
	associate := func(records string) { w.must(eu.Child("kv-pairs", intent.AssociationName), `{"kv":[`+records+`]}`) }
	put := func(name, provider, domain string) {
		w.must(intent.Join("projects/shop/dns-update-records", name), `{"provider":"`+provider+`","external-dns-parameters":{"domain-filter":["`+domain+`"]}}`)
	}
	_, err := w.admit(www, weighted)
	require.NoError(t, err, "no record serves it yet")
	put("bind", "rfc2136", "lab.example")
	put("corp", "aws", "corp.example")
	put("zone", "aws", "lab.example")
	associate(`{"a":"bind"},{"b":"corp"}`)
	_, err = w.admit(www, weighted)
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
	require.ErrorContains(t, err, "weighted needs a DNS provider with set identifiers, and no provider of the intent has them: bind (rfc2136); external-dns has them for aws and inmemory")
	_, err = w.admit(www, strings.Replace(weighted, `"routing"`, `"scope":"cluster","routing"`, 1))
	require.NoError(t, err, "what is one cluster's has nothing to choose among")
	associate(`{"a":"bind"},{"b":"zone"}`)
	_, err = w.admit(www, weighted)
	require.NoError(t, err)
}

// TestRoutingWithoutEffectIsWarnedOf: it is kept, for the day the policy changes.
func TestRoutingWithoutEffectIsWarnedOf(t *testing.T) {
	for routing, warnings := range map[string]string{
		`{"order":["edge+berlin"]}`: `[{"parameter":"routing/order","message":"has no effect with policy multivalue"}]`,
		`{"policy":"failover","order":["edge+berlin"],"weights":{"edge+berlin":90}}`:                 `[{"parameter":"routing/weights","message":"has no effect with policy failover"}]`,
		`{"policy":"latency","regions":{"edge+berlin":"eu-central-1"},"weights":{"edge+berlin":90}}`: `[{"parameter":"routing/weights","message":"has no effect with policy latency"}]`,
		`{"policy":"geo","locations":{"edge+berlin":["continent/EU"]}}`:                              `[{"parameter":"routing/locations","message":"has no location default, so clients outside of the listed locations get no answer`,
	} {
		w := newShop(t)
		w.must(www, routed(routing, ``))
		require.Contains(t, w.shown(www), `"status":{"warnings":`+warnings)
	}
	for _, routing := range []string{`{"policy":"failover","order":["edge+berlin"]}`, `{"policy":"geo","locations":{"edge+berlin":["continent/EU","default"]}}`} {
		w := newShop(t)
		w.must(www, routed(routing, ``))
		require.NotContains(t, w.shown(www), "warnings")
	}
}

func TestBadHealthIsRefused(t *testing.T) {
	const after, when = "/spec/health/unreachableAfter", "/spec/health/whenAllUnhealthy"
	health := func(text string) string { return names(`["www.lab.example"]`, `,"health":`+text) }
	refused(t, []refusal{
		{reason: "not a duration", path: www, spec: health(`{"unreachableAfter":"soon"}`), errors: map[string]string{after: "of at least 10s, as in 5m"}},
		{reason: "less than a look takes", path: www, spec: health(`{"unreachableAfter":"9s"}`), errors: map[string]string{after: "of at least 10s"}},
		{reason: "a negative duration", path: www, spec: health(`{"unreachableAfter":"-5m"}`), errors: map[string]string{after: "of at least 10s"}},
		{reason: "not a choice", path: www, spec: health(`{"whenAllUnhealthy":"drop"}`), errors: map[string]string{when: "give keep"}},
	})
}

func TestRoutingAndHealthAreStoredAsGiven(t *testing.T) {
	const berlin, paris intent.Path = "cluster-providers/edge/clusters/berlin", "cluster-providers/edge/clusters/paris"
	for reason, more := range map[string]string{
		"failover in order":             `,"routing":{"policy":"failover","order":["edge+paris","edge+berlin"]}`,
		"failover in order of names":    `,"routing":{"policy":"failover"}`,
		"regions":                       `,"routing":{"policy":"latency","regions":{"edge+berlin":"eu-central-1","edge+paris":"us-gov-west-1"}}`,
		"locations":                     `,"routing":{"policy":"geo","locations":{"edge+berlin":["continent/EU","default"],"edge+paris":["country/GB","country/US/CA","country/US/DC","country/PR"]}}`,
		"weights, of which one is zero": `,"routing":{"policy":"weighted","weights":{"edge+berlin":90,"edge+paris":0}}`,
		"the shortest time":             `,"health":{"readyEndpoints":false,"unreachableAfter":"10s","whenAllUnhealthy":"remove"}`,
	} {
		spec := names(`["www.lab.example"]`, more)
		accepted(t, []acceptance{{reason: reason, path: www, spec: spec, stored: spec}})
	}
	w := newShop(t)
	doc := w.must(www, routed(`{"policy":"weighted","weights":{"edge+berlin":90,"edge+paris":0}}`, ``))
	require.Subset(t, doc.Refs, []intent.Path{berlin, paris}, "the clusters that it names cannot go first")
}

// TestOneRecordWithSetIdentifiersWillDo: which of the records serve a name is
// the plan's to say.
func TestOneRecordWithSetIdentifiersWillDo(t *testing.T) {
	w := newShop(t)
	w.must("projects/shop/dns-update-records/route53", `{"provider":"aws","external-dns-parameters":{"domain-filter":["lab.example"]}}`)
	w.must(www, routed(`{"policy":"weighted","weights":{"edge+berlin":90}}`, `,"records":["lab","route53"]`))
}

func TestRecordTypesThatANameCannotHave(t *testing.T) {
	refused(t, []refusal{
		{reason: "a CNAME at an apex", path: www, spec: names(`["www.lab.example","lab.example"]`, `,"recordTypes":["CNAME"],"records":["lab"]`),
			errors: map[string]string{"/spec/hostnames/1": "is the apex of a zone of provider lab, where DNS allows no CNAME; allow A and AAAA in recordTypes"}},
		{reason: "SRV below a wildcard", path: www, spec: names(`["www.lab.example","*.lab.example"]`, `,"recordTypes":["A","SRV"]`),
			errors: map[string]string{"/spec/hostnames/1": "is a wildcard"}},
		{reason: "a TTL out of range", path: www, spec: names(`["www.lab.example"]`, `,"ttl":2147483648`), errors: map[string]string{"/spec/ttl": "1 to 2147483647 seconds"}},
	})
}
