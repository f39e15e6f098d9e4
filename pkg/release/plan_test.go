package release_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// actions are what a plan would do, as "action cluster kind name".
func actions(p intent.Plan) []string {
	var out []string
	for _, o := range p.Objects {
		if o.Action != "unchanged" {
			out = append(out, fmt.Sprintf("%s %s %s %s", o.Action, o.Cluster, o.Kind, o.Name[:min(len(o.Name), 16)]))
		}
	}
	return out
}

func TestPlanTellsWhatWouldHappenAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	before := w.keys()
	plan := w.plan(prod, "")
	require.Equal(t, before, w.keys())
	require.ElementsMatch(t, []string{
		"create edge+hub Namespace shop-dns",
		"create edge+hub CustomResourceDefinition dnsendpoints.ext",
		"create edge+hub ServiceAccount external-dns-lab",
		"create edge+hub Role external-dns-lab",
		"create edge+hub RoleBinding external-dns-lab",
		"create edge+hub Deployment external-dns-lab",
		"create edge+hub DNSEndpoint web-web-",
	}, trimHashes(actions(plan)))
	require.Equal(t, []intent.NameChange{{Name: "www.lab.example", Type: "A", Record: "lab", Action: "create", Targets: []string{"203.0.113.10", "203.0.113.20"}, Mark: "a-www.lab.example", AnsweredWithin: "6s", ClientsWithin: "5m7s"}}, plan.Names)
	require.Empty(t, plan.Errors)

	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Empty(t, actions(w.plan(prod, "")), "an update would change nothing")
	require.Equal(t, "unchanged", w.plan(prod, "").Names[0].Action)
	gone := w.plan(prod, intent.Terminate)
	require.Equal(t, "delete", gone.Names[0].Action)
	require.Len(t, actions(gone), 6)
	for _, action := range actions(gone) {
		require.NotContains(t, action, "CustomResourceDefinition", "it is never deleted")
	}
}

// TestAPlanKeepsWhatOtherOwnersHave: a namespace goes with the last of those who need it.
func TestAPlanKeepsWhatOtherOwnersHave(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.associate(eu, "lab", "corp")
	w.group(test, "api", "api.corp.example")
	w.observe(berlin, "shop/api", "203.0.113.12")
	w.do(intent.Instantiate, test)
	w.settle(prod, test)
	gone := actions(w.plan(prod, intent.Terminate))
	require.Contains(t, gone, "delete edge+hub ServiceAccount external-dns-lab")
	require.NotContains(t, gone, "delete edge+hub Namespace shop-dns", "provider corp needs it")

	w.do(intent.Terminate, test)
	w.outlive()
	w.settle(test)
	require.Contains(t, actions(w.plan(prod, intent.Terminate)), "delete edge+hub Namespace shop-dns")
}

// trimHashes cuts what follows the last hyphen of DNSEndpoints' names.
func trimHashes(lines []string) []string {
	for n, line := range lines {
		if at := len("create edge+hub DNSEndpoint web-web-"); len(line) > at && line[:at] == "create edge+hub DNSEndpoint web-web-" {
			lines[n] = line[:at]
		}
	}
	return lines
}

func TestTokensAreStableOverAddresses(t *testing.T) {
	t.Parallel()
	for _, action := range []intent.Action{intent.Instantiate, intent.Update, intent.Terminate} {
		w := newShop(t)
		if action != intent.Instantiate {
			w = running(t)
		}
		token := w.plan(prod, action).Token
		require.Equal(t, token, w.plan(prod, action).Token)
		w.observe(berlin, "shop/web", "203.0.113.77")
		require.Equal(t, token, w.plan(prod, action).Token, "%s", action)
		_, err := w.try(action, prod, token)
		require.NoError(t, err)
	}
}

func TestTokensChangeWithEveryInput(t *testing.T) {
	t.Parallel()
	again := map[intent.Path]string{
		shop:                                     `{"namespace":"shop-dns","x":1}`,
		lab:                                      record("lab.example", `,"podLabels":{"a":"b"}`),
		eu:                                       `{"namespace":"shop","controllerCluster":{"clusterProvider":"edge","cluster":"hub"},"x":1}`,
		eu.Child("cluster-references", "berlin"): `{"clusterProvider":"edge","cluster":"berlin","x":1}`,
		eu.Child("kv-pairs", intent.AssociationName): `{"kv":[{"other":"lab"}]}`,
		"cluster-providers/edge/clusters/hub":        `{"kubeconfigRef":"new"}`,
		"cluster-providers/edge/clusters/berlin":     `{"kubeconfigRef":"new"}`,
		prod:                                         `{"logicalCloud":"eu","apps":[{"name":"web"},{"name":"api"}]}`,
		www(prod):                                    `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"ttl":5}`,
		www(prod) + "2":                              `{"app":"web","serviceName":"web","hostnames":["two.lab.example"]}`,
		"cluster-providers/edge/clusters/berlin/kv-pairs/dns-update-record-list": `{"kv":[]}`,
	}
	for _, action := range []intent.Action{intent.Instantiate, intent.Update} {
		for path, spec := range again {
			w := newShop(t)
			if action == intent.Update {
				w = running(t)
			}
			token := w.plan(prod, action).Token
			w.put(path, spec)
			require.NotEqual(t, token, w.plan(prod, action).Token, "%s after %s", action, path)
			before := w.keys()
			_, err := w.try(action, prod, token)
			require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err), "%s", path)
			require.ErrorContains(t, err, "plan again")
			require.Equal(t, before, w.keys(), "nothing was changed")
		}
	}
}

// TestAConfirmedActionSurvivesALostRace: that others step the group in between
// changes no input and no action.
func TestAConfirmedActionSurvivesALostRace(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	require.NoError(t, w.step(prod))
	w.applyAll()
	token := w.plan(prod, intent.Terminate).Token
	w.meanwhile("/signpost/doc/lifecycle//"+string(prod), func() { w.settle(prod) })
	_, err := w.try(intent.Terminate, prod, token)
	require.NoError(t, err)
	require.Equal(t, intent.Terminating, w.state(prod))
}

// TestReadersAreNotDisturbedByAddresses: a context that changes while it is
// read is read again.
func TestReadersAreNotDisturbedByAddresses(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(w *world) error{
		"plan":     func(w *world) error { _, err := w.service.Plan(context.Background(), prod, "", 0); return err },
		"snapshot": func(w *world) error { _, err := w.service.Snapshot(context.Background(), prod); return err },
	} {
		w := running(t)
		w.observe(berlin, "shop/web", "203.0.113.99")
		w.fake.After = func(op, key string) error {
			if op == "get" && key == pointerOf(prod) {
				w.fake.After = nil
				require.NoError(t, w.step(prod))
			}
			return nil
		}
		require.NoError(t, read(w), name)
	}
}

func TestPlanLooksAtServicesThatWereNotObservedYet(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.group(prod, "api", "api.lab.example")
	w.options.Live = liveState{service: func(s address.Service) (*address.Observation, error) {
		if s.Cluster == paris {
			return nil, errors.New("no answer")
		}
		return &address.Observation{Found: true, Candidates: []address.Candidate{{Target: "203.0.113.40", Field: "spec.externalIPs[0]"}}}, nil
	}}
	w.restartOn(w.fake)
	plan := w.plan(prod, "")
	require.Equal(t, []string{"203.0.113.40"}, plan.Names[0].Targets)
	require.Contains(t, plan.Warnings, "the addresses of Service shop/api on edge+paris are not known yet, so the plan does not show them; they are published once Signpost has observed the Service there")
}

func TestANameWithoutAddressIsPlannedWithoutTargets(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.group(prod, "api", "api.lab.example")
	plan := w.plan(prod, "")
	require.Equal(t, []intent.NameChange{{Name: "api.lab.example", Type: "A", Record: "lab", Action: "create", Targets: []string{}, Mark: "a-api.lab.example"}}, plan.Names)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
	require.Empty(t, w.objects(appcontext.Owner(prod)), "external-dns would fill an endpoint without targets by itself")
}

func TestANamespaceMayServeBothTheProjectAndItsApps(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(eu, `{"namespace":"shop-dns","controllerCluster":{"clusterProvider":"edge","cluster":"berlin"}}`)
	w.manifests(prod, 1)
	require.Empty(t, w.plan(prod, "").Errors)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
}

func TestWhatIsMissingIsNotFound(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for _, ask := range []func() error{
		func() error { _, err := w.service.Plan(t.Context(), test, "", 0); return err },
		func() error { _, err := w.try(intent.Instantiate, test, ""); return err },
		func() error { _, err := w.service.Snapshot(t.Context(), test); return err },
		func() error { _, err := w.service.Events(t.Context(), test); return err },
		func() error { _, err := w.service.PlanRecord(t.Context(), lab+"x", ""); return err },
		func() error { _, err := w.service.UpdateRecord(t.Context(), lab+"x", "", "", "ann"); return err },
		func() error { _, err := w.service.RecordSnapshot(t.Context(), lab+"x"); return err },
	} {
		require.Equal(t, intent.NotFound, intent.CodeOf(ask()))
	}
	settled, err := w.service.StepGroup(t.Context(), test)
	require.NoError(t, err)
	require.True(t, settled)
}

// TestAnObjectThatNoClusterTakesIsRefused: it would be accepted, and never be
// applied.
func TestAnObjectThatNoClusterTakesIsRefused(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	names := make([]string, 5_000)
	for n := range names {
		names[n] = fmt.Sprintf("%q", longName(n))
	}
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":[`+strings.Join(names, ",")+`]}`)
	errors := w.plan(prod, intent.Instantiate).Errors
	require.Len(t, errors, 1)
	require.Equal(t, string(prod)+"#", errors[0].Pointer)
	require.Regexp(t, `^edge\+hub DNSEndpoint.externaldns.k8s.io shop-dns/web-web-[0-9a-f]{8} would have \d+ KiB, and clusters take at most 1280; give its names to several Services$`, errors[0].Detail)
}

// TestAPlanSaysWhichClustersDoNotAnswer: the objects that it lists there may never have been there.
func TestAPlanSaysWhichClustersDoNotAnswer(t *testing.T) {
	t.Parallel()
	w := running(t)
	says := func(action intent.Action) []string {
		return slices.DeleteFunc(w.plan(prod, action).Warnings, func(text string) bool { return !strings.Contains(text, "does not answer") })
	}
	require.Empty(t, says(intent.Terminate), "nobody has tried to reach it")
	w.reach("edge+hub", observed.Reachability{Reachable: true, Since: w.clock.Now()})
	require.Empty(t, says(intent.Terminate))
	w.reach("edge+hub", observed.Reachability{Since: w.clock.Now()})
	require.Equal(t, []string{"cluster edge/hub does not answer since " + w.clock.Now().UTC().Format(time.RFC3339) +
		": nothing changes there until it does, and objects that go may never have been there"}, says(intent.Terminate))
	require.Empty(t, says(""), "nothing changes there")
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["web.lab.example"]}`)
	require.Equal(t, []string{"cluster edge/hub does not answer since " + w.clock.Now().UTC().Format(time.RFC3339) + ": nothing changes there until it does"}, says(intent.Update))
}

// TestAPlanWarnsOfAPublisherThatDoesNotWork, and promises no time for its names.
func TestAPlanWarnsOfAPublisherThatDoesNotWork(t *testing.T) {
	t.Parallel()
	for home, at := range map[string]state.Use{"": labOnHub, builtIn: labBuiltIn} {
		w := newShop(t)
		w.put(lab, record("lab.example", home))
		planned := func() intent.Plan {
			plan := w.plan(prod, intent.Instantiate)
			require.Empty(t, plan.Errors)
			plan.Warnings = slices.DeleteFunc(plan.Warnings, func(text string) bool { return !strings.Contains(text, "publisher of provider") })
			return plan
		}
		require.Empty(t, planned().Warnings, "it was not seen yet")
		writer, err := w.observed.Writer(t.Context(), at.Cluster, fence)
		require.NoError(t, err)
		seen := func(d observed.Deployment) {
			require.NoError(t, writer.SetDeployment(t.Context(), "shop-dns", "external-dns-lab", d))
		}
		w.reach(at.Cluster, observed.Reachability{Reachable: true})
		seen(observed.Deployment{Available: true})
		require.Empty(t, planned().Warnings)
		require.NotEmpty(t, planned().Names[0].AnsweredWithin)

		seen(observed.Deployment{Message: "connection refused"})
		broken := planned()
		require.Equal(t, []string{"the publisher of provider lab does not work now: connection refused; names change in DNS when it works again"}, broken.Warnings)
		require.Empty(t, broken.Names[0].AnsweredWithin)
		require.Empty(t, broken.Names[0].ClientsWithin)
		w.reach(at.Cluster, observed.Reachability{})
		require.Empty(t, planned().Warnings, "nobody knows whether it works now")
	}
}
