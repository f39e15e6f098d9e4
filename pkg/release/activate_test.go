package release_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/query"
)

// TestNothingOfAPreparedReleaseIsInClustersBeforeItsEvent: an update that
// EMCO gives up leaves everything as it is.
func TestNothingOfAPreparedReleaseIsInClustersBeforeItsEvent(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.appContext(firstContext)
	w.settle(prod)
	require.Empty(t, w.published(prod))
	require.Equal(t, intent.Created, w.state(prod))
	require.Empty(t, w.inClusters())
}

func TestTheEventOfAnInstantiationMakesThePreparedReleaseCurrent(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
	require.Equal(t, []string{"edge+hub DNSEndpoint"}, kinds(w.objects("projects/shop/composite-apps/store/v1/deployment-intent-groups/prod")), "apps are EMCO's")
	meta, err := w.contexts.Meta(t.Context(), w.snapshot(prod).Lifecycle.ContextID)
	require.NoError(t, err)
	require.Equal(t, "shop 1", meta.Namespace+" "+meta.Level, "as the parent has them")

	require.Equal(t, &query.AppContextReport{ID: firstContext, State: "Instantiated"}, w.snapshot(prod).AppContext)

	events, err := w.service.Events(t.Context(), prod)
	require.NoError(t, err)
	require.Equal(t, "emco instantiate 1 accepted app context 1111", fmt.Sprint(events[1].Actor, " ", events[1].Action, " ", events[1].Revision, " ", events[1].Outcome, " ", events[1].Message))
	require.Equal(t, "completed", events[2].Outcome)
	require.Equal(t, intent.Conflict, intent.CodeOf(w.delete(lab)), "the record is in use")

	w.observe(berlin, "shop/web", "203.0.113.11")
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.11,203.0.113.20"}, w.published(prod), "addresses are followed")
}

// kinds are objects as "cluster Kind", without definitions and namespaces.
func kinds(objects []string) []string {
	out := []string{}
	for _, o := range objects {
		parts := strings.Fields(o)
		if parts[1] != "CustomResourceDefinition" && parts[1] != "Namespace" {
			out = append(out, parts[0]+" "+parts[1])
		}
	}
	return out
}

func TestEventsMayBeRepeated(t *testing.T) {
	t.Parallel()
	w := updated(t)
	before := w.keys()
	w.event(secondContext, intent.Update)
	w.event(secondContext, intent.Instantiate)
	require.Equal(t, before, w.keys())
	w.event(secondContext, intent.Terminate)
	w.outlive()
	before = w.keys()
	w.event(secondContext, intent.Terminate)
	require.NoError(t, w.service.TerminateContext(t.Context(), secondContext))
	w.event(secondContext, intent.Update)
	w.event(secondContext, intent.Instantiate)
	require.Equal(t, before, w.keys(), "what was terminated does not come back by an event that is late")
}

// TestAnEventForAnEarlierContextIsEMCOsRollback: with an UPDATE and no other
// call. What the context froze then is current again, as a new revision.
func TestAnEventForAnEarlierContextIsEMCOsRollback(t *testing.T) {
	t.Parallel()
	w := updated(t)
	require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
	w.tell(firstContext, "Update", secondContext)
	w.event(firstContext, intent.Update)
	require.Equal(t, intent.Updating, w.state(prod))
	w.settle(prod)
	w.tell(secondContext, "UpdateDelete", firstContext)
	w.settle(prod)
	require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
	events, err := w.service.Events(t.Context(), prod)
	require.NoError(t, err)
	last := events[len(events)-2]
	require.Equal(t, "emco rollback 3 accepted app context 1111", fmt.Sprint(last.Actor, " ", last.Action, " ", last.Revision, " ", last.Outcome, " ", last.Message))

	w.tell(secondContext, "Update", firstContext)
	w.event(secondContext, intent.Update)
	w.settle(prod)
	require.Equal(t, "Instantiated 2222 "+twoOf, w.current(), "and forth again")
}

func TestTerminateTakesEverythingAway(t *testing.T) {
	t.Parallel()
	w := updated(t)
	require.NoError(t, w.service.TerminateContext(t.Context(), secondContext))
	require.Equal(t, intent.Terminating, w.state(prod), "before the event: EMCO calls rsync for the children before it posts that")
	w.tell(secondContext, "Terminate", "")
	w.event(secondContext, intent.Terminate)
	w.rsync(secondContext, "Terminated")
	w.outlive()
	require.Equal(t, "Terminated 2222 []", w.current())
	require.Empty(t, w.inClusters())
	require.NoError(t, w.delete(lab), "nothing refers to the record")
}

// TestTerminateGoesByTheReleaseAlone: documents are gone, as is the context.
func TestTerminateGoesByTheReleaseAlone(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	w.fake.Before = func(op, key string) error {
		if strings.Contains(key, "logical-clouds") || strings.Contains(key, "/doc/projects/shop") {
			return &intent.Error{Code: intent.Unavailable, Detail: "EMCO is down"}
		}
		return nil
	}
	w.vanish(firstContext)
	require.NoError(t, w.service.TerminateContext(t.Context(), firstContext))
	w.fake.Before = nil
	w.outlive()
	require.Equal(t, intent.Terminated, w.state(prod))
	require.Empty(t, w.inClusters())
}

func TestANewContextAfterATerminationIsAnInstantiation(t *testing.T) {
	t.Parallel()
	w := updated(t)
	w.event(secondContext, intent.Terminate)
	w.tell(secondContext, "Terminate", "")
	w.serve("three.lab.example")
	w.appContext(thirdContext)
	w.tell(thirdContext, "Instantiate", "")
	w.event(thirdContext, intent.Instantiate)
	require.Equal(t, intent.Instantiating, w.state(prod), "also while it is still Terminating")
	w.rsync(secondContext, "Terminated")
	w.rsync(thirdContext, "Instantiated")
	w.settle(prod)
	require.Equal(t, "Instantiated 3333 [edge+hub lab/public: three.lab.example A 203.0.113.10,203.0.113.20]", w.current())
	require.Equal(t, int64(3), w.snapshot(prod).Lifecycle.Seq)
}

// TestBadEventsAreRefused with what would be right, and change nothing.
func TestBadEventsAreRefused(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	w.putKey("/context/77/", quoted(t, "77"))
	w.putKey("/context/78/", quoted(t, "78"))
	w.putKey("/context/78/meta/", `{"Project":"shop","LogicalCloud":"eu"}`)
	w.putKey("/context/79/", quoted(t, "79"))
	w.putKey("/context/79/meta/", `{"Project":"shop","CompositeApp":"store","Version":"v1","DeploymentIntentGroup":"nothing"}`)
	before := w.keys()
	for id, want := range map[string]struct {
		code intent.Code
		says string
	}{
		"x":  {intent.Invalid, "is not an id of an app context"},
		"76": {intent.NotFound, "app context 76 does not exist"},
		"77": {intent.Conflict, "has no meta"},
		"78": {intent.Conflict, "its meta names none"},
	} {
		for _, event := range []intent.Action{intent.Instantiate, intent.Update, intent.Terminate} {
			err := w.service.PostEvent(t.Context(), id, event)
			require.Equal(t, want.code, intent.CodeOf(err), "%s of %s: %v", event, id, err)
			require.ErrorContains(t, err, want.says)
		}
	}
	require.Equal(t, intent.NotFound, intent.CodeOf(w.service.PostEvent(t.Context(), "79", intent.Update)), "the group is not there")
	require.NoError(t, w.service.TerminateContext(t.Context(), "79"), "so nothing of it is anywhere")
	require.Equal(t, before, w.keys())
}

// TestWhatStandsInTheWayOfAnActivationIsToldOnceAndRetried until it is gone.
func TestWhatStandsInTheWayOfAnActivationIsToldOnceAndRetried(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	w.associate(eu, "lab", "corp")
	w.serve("www.corp.example")
	w.appContext(secondContext)
	w.associate(eu, "lab")
	require.NoError(t, w.delete(corp))
	err := w.service.PostEvent(t.Context(), secondContext, intent.Update)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "the release for app context 2222 uses it, but it was deleted since")
	require.Error(t, w.service.PostEvent(t.Context(), secondContext, intent.Update))
	w.replace(firstContext, secondContext)
	w.observe(berlin, "shop/web", "203.0.113.11")
	w.settle(prod)
	require.Equal(t, "Instantiated 1111 [edge+hub lab/public: www.lab.example A 203.0.113.11,203.0.113.20]", w.current(), "the current release is carried out meanwhile")
	told := w.outcomes("failed")
	require.Len(t, told, 1, "it is told once")
	require.Contains(t, told[0], "deleted since")

	w.put(corp, record("corp.example", ``))
	w.settle(prod)
	require.Equal(t, firstContext, w.snapshot(prod).Lifecycle.AppContext, "another record of that name is not what was frozen")
}

// TestWhatEMCODrivesIsNotDrivenHere, but can be terminated here.
func TestWhatEMCODrivesIsNotDrivenHere(t *testing.T) {
	t.Parallel()
	w := updated(t)
	for _, action := range []intent.Action{intent.Instantiate, intent.Update} {
		_, err := w.try(action, prod, "")
		require.Equal(t, intent.Conflict, intent.CodeOf(err))
		require.ErrorContains(t, err, "EMCO's orchestrator drives it, by app context 2222")
	}
	_, err := w.service.Rollback(t.Context(), prod, 1, "", "ann")
	require.ErrorContains(t, err, "EMCO's orchestrator drives it")

	plan, err := w.service.Plan(t.Context(), prod, intent.Rollback, 1)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(plan.Errors), "EMCO's orchestrator rolls back to it")

	plan = w.plan(prod, intent.Terminate)
	require.Empty(t, plan.Errors)
	require.Contains(t, fmt.Sprint(plan.Warnings), "EMCO's orchestrator drives it, by app context 2222")
	before := w.keys()
	_, err = w.try(intent.Terminate, prod, plan.Token)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "terminate it there, or, where EMCO is gone, here by ?force=true")
	require.Equal(t, before, w.keys())
	w.force(plan.Token)
	w.outlive()
	require.Equal(t, "Terminated 2222 []", w.current(), "it does not come back while EMCO has its apps in the clusters")
	w.serve("three.lab.example")
	w.appContext(thirdContext)
	w.event(thirdContext, intent.Update)
	w.settle(prod)
	require.Contains(t, w.current(), "Instantiated 3333", "until EMCO updates it")
}

// force terminates prod although EMCO has it in the clusters.
func (w *world) force(confirm string) {
	w.Helper()
	_, err := w.service.Terminate(context.Background(), prod, true, confirm, "ann")
	require.NoError(w, err)
}

// TestWhatHasEndedAtEMCOIsTerminatedHereWithoutForce: there is nothing there
// that could be asked for it.
func TestWhatHasEndedAtEMCOIsTerminatedHereWithoutForce(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world){
		"gone":       func(w *world) { w.vanish(secondContext) },
		"terminated": func(w *world) { w.tell(secondContext, "Terminate", "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := updated(t)
			end(w)
			require.Empty(t, w.plan(prod, intent.Terminate).Warnings)
			w.do(intent.Terminate, prod)
			w.outlive()
			require.Equal(t, "Terminated 2222 []", w.current())
		})
	}
	for name, leave := range map[string]func(*world){
		"rsync has said nothing":        func(w *world) { w.writeContext(thirdContext); w.serve("three.lab.example"); w.prepare(thirdContext) },
		"another has taken its place":   func(w *world) { w.writeContext(thirdContext); w.replace(secondContext, thirdContext) },
		"nobody can read what it is at": func(w *world) { w.putKey("/context/2222/rsync/AppContextEventQueue/", `"?"`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := updated(t)
			leave(w)
			_, err := w.try(intent.Terminate, prod, "")
			require.Equal(t, intent.Conflict, intent.CodeOf(err), "%v", err)
		})
	}
}

// prepare has a context extended and made current by its event alone.
func (w *world) prepare(id string) {
	w.Helper()
	_, err := w.call(id)
	require.NoError(w, err)
	w.event(id, intent.Update)
}

// TestAForcedTerminationKeepsWhatIsPreparedForOtherContexts: EMCO may come back
// and roll back to one of them. Until then none of them is followed.
func TestAForcedTerminationKeepsWhatIsPreparedForOtherContexts(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	w.serve("two.lab.example")
	w.appContext(secondContext)
	w.event(secondContext, intent.Update) // and rsync, which is gone, says of the first that it is there
	w.settle(prod)
	w.force("")
	w.outlive()
	require.Equal(t, "Terminated 2222 []", w.current())
	require.NoError(t, w.rest())
	w.prepared(firstContext)
	w.event(firstContext, intent.Update)
	w.settle(prod)
	require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
}

// TestARequestThatIsOvertakenByEMCOIsRefused: between its reads EMCO makes a
// context current.
func TestARequestThatIsOvertakenByEMCOIsRefused(t *testing.T) {
	t.Parallel()
	for read, over := 1, false; !over; read++ {
		w := newShop(t)
		w.appContext(firstContext)
		operations := 0
		w.fake.Before = func(string, string) error {
			operations++
			if operations == read {
				w.fake.Before = nil
				w.event(firstContext, intent.Instantiate)
			}
			return nil
		}
		accepted, err := w.try(intent.Instantiate, prod, "")
		if over = w.fake.Before != nil; over {
			w.fake.Before = nil
			require.Greater(t, read, 10)
			require.NoError(t, err)
			break
		}
		if err == nil {
			require.Empty(t, w.snapshot(prod).Lifecycle.AppContext, "it was first")
			require.Equal(t, int64(1), accepted.Revision)
			continue
		}
		require.ErrorContains(t, err, "EMCO's orchestrator drives it", "operation %d", read)
		require.Equal(t, firstContext, w.snapshot(prod).Lifecycle.AppContext)
	}
}

// TestAPlanTellsWhatEMCOsNextUpdateWouldMakeOfTheGroup: by the rules of its
// call, and with the apps as they are in the current app context.
func TestAPlanTellsWhatEMCOsNextUpdateWouldMakeOfTheGroup(t *testing.T) {
	t.Parallel()
	w := updated(t)
	w.serve("three.lab.example")
	before := w.keys()
	plan := w.plan(prod, "")
	require.Equal(t, before, w.keys(), "a plan changes nothing")
	require.Empty(t, plan.Errors)
	require.Contains(t, fmt.Sprint(plan.Warnings), "this is the effect of its next update if the apps stay as they are in app context 2222")
	require.Empty(t, plan.Token, "there is nothing to confirm here")
	require.Equal(t, "[{three.lab.example A lab create [203.0.113.10 203.0.113.20] [] 0 0 a-three.lab.example 6s 5m7s } {two.lab.example A lab delete [203.0.113.10 203.0.113.20] [203.0.113.10 203.0.113.20] 0 0    }]", fmt.Sprint(plan.Names))

	w.serve("www.elsewhere.example")
	w.podsAsk(`{"app":"gone","dnsPolicy":"Default"}`)
	plan = w.plan(prod, intent.Update)
	require.Contains(t, fmt.Sprint(plan.Errors), `serves "www.elsewhere.example"`)
	require.Contains(t, fmt.Sprint(plan.Errors), `the deployment intent group has no app "gone"`)
	_, err := w.service.UpdateContext(t.Context(), secondContext, "front", "")
	require.ErrorContains(t, err, `serves "www.elsewhere.example"`, "as the call says")

	w.vanish(secondContext)
	_, err = w.service.Plan(t.Context(), prod, "", 0)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "app context 2222 does not exist")
}

// TestWhatSignpostDeploysIsNotActivated: both would fight over it.
func TestWhatSignpostDeploysIsNotActivated(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.appContext(firstContext)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	err := w.service.PostEvent(t.Context(), firstContext, intent.Instantiate)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "terminate it here before EMCO's orchestrator instantiates it")
	w.tell(firstContext, "Instantiate", "")
	w.settle(prod)
	require.Equal(t, "Instantiated  "+wwwOf, w.current())
	require.NoError(t, w.service.TerminateContext(t.Context(), firstContext))
	w.settle(prod)
	require.Equal(t, "Instantiated  "+wwwOf, w.current())
}

// TestARevisionOfEMCOsIsNotRolledBackToHere: it has no apps that Signpost
// could deploy.
func TestARevisionOfEMCOsIsNotRolledBackToHere(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	w.event(firstContext, intent.Terminate)
	w.outlive()
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, "Instantiated  "+wwwOf, w.current())
	_, err := w.service.Rollback(context.Background(), prod, 1, "", "ann")
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "revision 1 is of EMCO's app context 1111")
}
