package release_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// ask has prod's intent ask for more than its name.
func (w *world) ask(more string) {
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]`+more+`}`)
}

// host is the name of prod as it was frozen.
func (w *world) host() plan.Host {
	w.Helper()
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	bindings := w.snapshot(prod).Group.Bindings
	require.Len(w, bindings, 1)
	require.Len(w, bindings[0].Hosts, 1)
	return bindings[0].Hosts[0]
}

// on53 has the record of the name be one of a provider with set identifiers.
func (w *world) on53() {
	w.put(lab, `{"provider":"aws","external-dns-parameters":{"aws-zone-type":"public","domain-filter":["lab.example"],"policy":"sync"}}`)
}

func TestAReleaseFreezesRoutingAndHealthWithTheirDefaults(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	defaults := intent.Health{ReadyEndpoints: &yes, UnreachableAfter: "5m", WhenAllUnhealthy: intent.Keep}
	for _, c := range []struct {
		reason, more string
		routing      intent.Routing
		health       intent.Health
	}{
		{"nothing was asked for", ``, intent.Routing{}, defaults},
		{"an order has all clusters", `,"routing":{"policy":"failover","order":["edge+paris"]}`,
			intent.Routing{Policy: intent.Failover, Order: []string{paris, berlin}}, defaults},
		{"an order of names", `,"routing":{"policy":"failover"}`,
			intent.Routing{Policy: intent.Failover, Order: []string{berlin, paris}}, defaults},
		{"who is not listed has weight 0", `,"routing":{"policy":"weighted","weights":{"edge+berlin":90}}`,
			intent.Routing{Policy: intent.Weighted, Weights: map[string]int64{berlin: 90, paris: 0}}, defaults},
		{"regions as they were asked for", `,"routing":{"policy":"latency","regions":{"edge+berlin":"eu-central-1"}}`,
			intent.Routing{Policy: intent.Latency, Regions: map[string]string{berlin: "eu-central-1"}}, defaults},
		{"locations as they were asked for", `,"routing":{"policy":"geo","locations":{"edge+berlin":["continent/EU"],"edge+paris":["default"]}}`,
			intent.Routing{Policy: intent.Geo, Locations: map[string][]string{berlin: {"continent/EU"}, paris: {"default"}}}, defaults},
		{"health as it was asked for", `,"health":{"readyEndpoints":false,"unreachableAfter":"90s","whenAllUnhealthy":"remove"}`,
			intent.Routing{}, intent.Health{ReadyEndpoints: &no, UnreachableAfter: "90s", WhenAllUnhealthy: intent.Remove}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			w.on53()
			w.ask(c.more)
			host := w.host()
			require.Equal(t, c.routing, host.Routing)
			require.Equal(t, &c.health, host.Health)
		})
	}
}

// TestANameThatMovesHasAShortTTL unless its intent or its provider says otherwise. Clients leave an unhealthy cluster
// when their resolvers ask anew.
func TestANameThatMovesHasAShortTTL(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]int64{
		``:                                    0,
		`,"health":{"readyEndpoints":true}`:   0, // as it is anyway
		`,"routing":{"policy":"failover"}`:    60,
		`,"health":{"unreachableAfter":"1m"}`: 60,
		`,"routing":{"policy":"failover"},"ttl":600`:                                  600,
		`,"routing":{"policy":"weighted","weights":{"edge+berlin":1,"edge+paris":1}}`: 0,
	} {
		w := newShop(t)
		w.on53()
		w.ask(more)
		require.Equal(t, want, w.host().TTL, more)
	}
	w := newShop(t)
	w.put(lab, `{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"],"min-ttl":"20s"},"version":"v0.22.0"}`)
	w.ask(`,"routing":{"policy":"failover"}`)
	require.Zero(t, w.host().TTL, "that of the provider is shorter")
}

// TestAPlanTellsWhenClientsFollow as the sum of all that they wait for. An answer of before may be cached for its own TTL.
func TestAPlanTellsWhenClientsFollow(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, record("lab.example", builtIn))
	clients := func(action intent.Action) string { return w.plan(prod, action).Names[0].ClientsWithin }
	require.Equal(t, "5m2s", clients(intent.Instantiate), "the provider says no TTL")
	w.ask(`,"ttl":120`)
	require.Equal(t, "2m2s", clients(intent.Instantiate))
	w.host()
	require.Empty(t, clients(intent.Update), "nothing changes")
	w.ask(`,"ttl":30`)
	w.observe(berlin, "shop/web", "203.0.113.11")
	require.Equal(t, "2m2s", clients(intent.Update))
}

func TestOneClustersOwnRecordHasNothingToChooseAmong(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.associate(eu)
	w.associate("cluster-providers/edge/clusters/berlin", "lab")
	w.ask(`,"routing":{"policy":"weighted","weights":{"edge+berlin":90}}`)
	require.Equal(t, intent.Routing{}, w.host().Routing, "so coredns will do")
}

func TestPlansWarnOfWhatRoutingLeavesOutOrDoesNotRead(t *testing.T) {
	t.Parallel()
	for more, says := range map[string]string{
		`,"routing":{"order":["edge+paris"]}`: ": its routing/order has no effect with policy multivalue",
		`,"routing":{"policy":"failover","order":["edge+paris","edge+berlin"],"weights":{"edge+paris":1}}`:     ": its routing/weights has no effect with policy failover",
		`,"routing":{"policy":"failover","order":["edge+paris"]}`:                                              ": clusters that its order does not list come last, by name: edge+paris, edge+berlin",
		`,"routing":{"policy":"failover"}`:                                                                     "by name: edge+berlin, edge+paris",
		`,"routing":{"policy":"weighted","weights":{"edge+berlin":90}}`:                                        "clusters that its weights do not list have weight 0 and get answers only while no other is healthy: edge+paris",
		`,"routing":{"policy":"failover","order":["edge+paris","edge+berlin"]}`:                                "",
		`,"routing":{"policy":"latency","regions":{"edge+berlin":"eu-central-1"}}`:                             "clusters that its regions do not list get answers only while no other is healthy: edge+paris",
		`,"routing":{"policy":"geo","locations":{"edge+berlin":["default"]}}`:                                  "clusters that its locations do not list get answers only while no other is healthy: edge+paris",
		`,"routing":{"policy":"geo","locations":{"edge+berlin":["continent/EU"],"edge+paris":["country/US"]}}`: "so clients outside of the listed locations get no answer; nor do those of a location whose clusters are all drained or unhealthy",
	} {
		w := newShop(t)
		w.on53()
		w.ask(more)
		plan := w.plan(prod, "")
		require.Empty(t, plan.Errors)
		if says == "" {
			require.NotContains(t, fmt.Sprint(plan.Warnings), "order")
		} else {
			require.Contains(t, fmt.Sprint(plan.Warnings), says)
		}
	}
}

func TestRoutingThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	const at = "dns-intents/www#/spec/"
	for _, c := range []struct {
		reason string
		given  func(w *world)
		says   []string
	}{
		{"unknown clusters in an order", func(w *world) { w.ask(`,"routing":{"policy":"failover","order":["edge+berlin","edge+hub"]}`) },
			[]string{at + "routing/order/1", `app "web" does not run on edge+hub, but on edge+berlin, edge+paris; name these clusters`}},
		{"weights of clusters that the app does not run on", func(w *world) {
			w.on53()
			w.ask(`,"routing":{"policy":"weighted","weights":{"edge+hub":1,"edge+berlin":1}}`)
		}, []string{at + "routing/weights/edge+hub", "does not run on edge+hub"}},
		{"locations of clusters that the app does not run on", func(w *world) {
			w.on53()
			w.ask(`,"routing":{"policy":"geo","locations":{"edge+hub":["default"]}}`)
		}, []string{at + "routing/locations/edge+hub", "does not run on edge+hub"}},
		{"regions without set identifiers", func(w *world) { w.ask(`,"routing":{"policy":"latency","regions":{"edge+berlin":"eu-central-1"}}`) },
			[]string{at + "routing/policy", `latency needs a DNS provider with set identifiers, and provider "lab" is of type coredns; external-dns has them for aws and inmemory`}},
		{"weights without set identifiers", func(w *world) { w.ask(`,"routing":{"policy":"weighted","weights":{"edge+berlin":90}}`) },
			[]string{at + "routing/policy", `weighted needs a DNS provider with set identifiers, and provider "lab" is of type coredns; external-dns has them for aws and inmemory; give a record of such a provider, or another policy`}},
		{"a CNAME at an apex", func(w *world) {
			w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["lab.example"],"recordTypes":["CNAME"]}`)
		}, []string{at + "hostnames/0", "is the apex of a zone of provider \"lab\", where DNS allows no CNAME"}},
		{"SRV where external-dns does not keep it", func(w *world) { w.ask(`,"recordTypes":["A","SRV"]`) },
			[]string{at + "recordTypes", "does not keep SRV records for coredns of provider \"lab\"", "publishes them for aws, cloudflare, google, inmemory, pdns"}},
		{"SRV in a release of external-dns that refuses it", func(w *world) {
			w.put(lab, `{"provider":"aws","version":"v0.21.0","external-dns-parameters":{"domain-filter":["lab.example"],"managed-record-types":["A","SRV"]}}`)
			w.ask(`,"recordTypes":["A","SRV"]`)
		}, []string{at + "recordTypes", "external-dns v0.21.0 does not keep SRV records", "external-dns v0.22.0 publishes them"}},
		{"SRV that the record does not manage", func(w *world) {
			w.on53()
			w.ask(`,"recordTypes":["A","SRV"]`)
		}, []string{"dns-update-records/lab#/spec/external-dns-parameters/managed-record-types", "set managed-record-types to [A, AAAA, CNAME, SRV]"}},
		{"two intents that differ on a name's routing", func(w *world) {
			w.put(www(prod)+"2", `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"routing":{"policy":"failover"}}`)
		}, []string{"dns-intents/www2#/spec/hostnames/0", "another ttl, or other clusters, recordTypes, routing or health"}},
		{"two intents that differ on a name's health", func(w *world) {
			w.put(www(prod)+"2", `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"health":{"whenAllUnhealthy":"remove"}}`)
		}, []string{"dns-intents/www2#/spec/hostnames/0", "routing or health"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			c.given(w)
			w.refuses(intent.Instantiate, prod, c.says...)
		})
	}
}

// TestNamesThatAppServicesCannotShare: two of them, of one group or two.
func TestNamesThatAppServicesCannotShare(t *testing.T) {
	t.Parallel()
	const web = `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]`
	for _, c := range []struct{ reason, web, api, says string }{
		{"differing policies", `,"routing":{"policy":"failover"}`, ``, "a name with policy failover can belong to only one Service of one app"},
		{"failover on other clusters", `,"routing":{"policy":"failover"}`, `,"routing":{"policy":"failover"}`, "a name with policy failover can belong to only one Service of one app"},
		{"weights", `,"routing":{"policy":"weighted","weights":{"edge+berlin":1}}`, ``, "a name with policy weighted can belong to only one Service of one app"},
		{"locations", `,"routing":{"policy":"geo","locations":{"edge+berlin":["default"]}}`, ``, "a name with policy geo can belong to only one Service of one app"},
		{"a CNAME beside other types", `,"recordTypes":["CNAME"]`, `,"recordTypes":["A"]`, "DNS allows no CNAME beside other types"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := giveTwice(t, c.api)
			w.on53()
			w.put(www(prod), web+c.web+`}`)
			w.refuses(intent.Instantiate, prod, "dns-intents/www#/spec/hostnames/0",
				`service "api" of app "api" and service "web" of app "web" share www.lab.example of provider "lab": `, c.says)
		})
	}
	w := newShop(t)
	w.on53()
	w.group(test, "api", "www.lab.example")
	w.do(intent.Instantiate, test)
	w.settle(test)
	w.put(www(prod), web+`,"routing":{"policy":"weighted","weights":{"edge+berlin":1}}}`)
	w.refuses(intent.Instantiate, prod, "dns-intents/www#/spec/hostnames/0", `service "api" of app "api" of `+string(test)+" share www.lab.example")
}

// TestARecordThatIsUsedKeepsItsAbilities: what it publishes would be changed by
// its external-dns for ever, or never removed.
func TestARecordThatIsUsedKeepsItsAbilities(t *testing.T) {
	const managed = `,"managed-record-types":["A","AAAA","CNAME","SRV"]`
	put := func(w *world, provider, more, version string) {
		w.put(lab, fmt.Sprintf(`{"provider":%q,"external-dns-parameters":{"domain-filter":["lab.example"],"policy":"sync"%s}%s}`, provider, more, version))
	}
	w := newShop(t)
	put(w, "aws", managed, "")
	w.ask(`,"recordTypes":["A","SRV"],"routing":{"policy":"weighted","weights":{"edge+berlin":1}}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	for _, c := range []struct{ reason, provider, more, version, at, says string }{
		{"another provider", "google", managed, "", "provider", "www.lab.example of " + string(prod) + ": weighted needs a DNS provider with set identifiers"},
		{"another release", "aws", managed, `,"version":"v0.21.0"`, "provider", "external-dns v0.21.0 does not keep SRV records"},
		{"types that are left alone", "aws", ``, ``, "external-dns-parameters/managed-record-types", "external-dns of provider \"lab\" ignores SRV records"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			put(w, c.provider, c.more, c.version)
			_, err := w.service.UpdateRecord(t.Context(), lab, "", "", "ann")
			require.Equal(t, intent.Conflict, intent.CodeOf(err))
			require.ErrorContains(t, err, string(lab)+"#/spec/"+c.at)
			require.ErrorContains(t, err, c.says)
		})
	}
	put(w, "aws", managed, `,"version":"v0.22.0"`)
	_, err := w.service.UpdateRecord(t.Context(), lab, "", "", "ann")
	require.NoError(t, err)
}

// TestARollbackAsksForNothingThatTheRecordLacksNow: it was another's then.
func TestARollbackAsksForNothingThatTheRecordLacksNow(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.on53()
	w.ask(`,"routing":{"policy":"weighted","weights":{"edge+berlin":1}}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.ask(``)
	w.do(intent.Update, prod)
	w.settle(prod)
	w.put(lab, onBIND)
	_, err := w.service.UpdateRecord(t.Context(), lab, "", "", "ann")
	require.NoError(t, err)
	w.settle(prod)
	w.refusesRollback(1, string(lab)+"#/spec/provider", "weighted needs a DNS provider with set identifiers")
}

func TestPlansWarnOfBothFamiliesWhereTheyAreConfused(t *testing.T) {
	t.Parallel()
	const says = "www.lab.example has IPv4 and IPv6 addresses; external-dns of provider \"lab\" reads both back as one record with coredns"
	w := newShop(t)
	w.observe(berlin, "shop/web", "203.0.113.10", "2001:db8::10")
	require.Contains(t, fmt.Sprint(w.plan(prod, "").Warnings), says)
	w.ask(`,"recordTypes":["AAAA"]`)
	require.NotContains(t, fmt.Sprint(w.plan(prod, "").Warnings), says)
	w.ask(``)
	w.on53()
	require.NotContains(t, fmt.Sprint(w.plan(prod, "").Warnings), "IPv4 and IPv6")
}

func TestDefaultsAreWhatTwoIntentsAgreeOn(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(www(prod)+"2", `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"routing":{"policy":"multivalue"},"health":{"unreachableAfter":"5m","readyEndpoints":true}}`)
	w.host()
}

func TestPlansWarnOfWhatTheDNSServerDoesNotDo(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"*.lab.example": "*.lab.example of provider \"lab\" is a wildcard, which the DNS server behind coredns does not answer",
		"lab.example":   "set txt-prefix to one that ends in a dot, as in %{record_type}-owner.",
	} {
		w := newShop(t)
		w.put(www(prod), fmt.Sprintf(`{"app":"web","serviceName":"web","hostnames":[%q]}`, name))
		require.Contains(t, fmt.Sprint(w.plan(prod, "").Warnings), says)
	}
}
