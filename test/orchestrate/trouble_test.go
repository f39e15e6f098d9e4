package orchestrate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/emco"
)

// TestTroubleWithEMCOsServicesIsToldAndNothingIsHalfDone: whoever instantiates
// reads which service it is and what it said; the context is as it was, and the
// same call works once the trouble has ended.
func TestTroubleWithEMCOsServicesIsToldAndNothingIsHalfDone(t *testing.T) {
	s := newStage(t)
	s.writes(first)
	before, err := s.keys()
	require.NoError(t, err)
	for _, c := range []struct {
		name       string
		begin, end func()
		texts      []string
	}{
		{"DCM is down", s.DCM.Down, func() { require.NoError(t, s.DCM.Up()) }, []string{"EMCO's DCM", s.DCM.URL}},
		{"DCM says no", func() { s.DCM.Fail(http.StatusInternalServerError) }, func() { s.DCM.Fail(0) }, []string{"EMCO's DCM", "500"}},
		{"DCM is slow", func() { s.DCM.Slow(time.Hour) }, func() { s.DCM.Slow(0) }, []string{"EMCO's DCM", s.DCM.URL}},
		{"the orchestrator says no", func() { s.Orchestrator.Fail(http.StatusForbidden) }, func() { s.Orchestrator.Fail(0) }, []string{"EMCO's orchestrator", "403"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.restart() // it remembers for a while what it has read
			c.begin()
			ctx, cancel := context.WithTimeout(t.Context(), emco.CallTimeout)
			defer cancel()
			began := time.Now()
			err := s.adapt(ctx, first, emco.NoContext)
			t.Logf("after %s: %v", time.Since(began).Round(time.Millisecond), err)
			require.Error(t, err)
			for _, text := range c.texts {
				require.ErrorContains(t, err, text)
			}
			c.end()
			after, err := s.keys()
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
	eventually(t, "the call to work again", func() error { return s.adapt(t.Context(), first, emco.NoContext) })
}

// TestAnEventThatWasMissedIsMadeUpForByRsyncsStates: events are sent once, and
// not at all while Signpost is down or another controller fails.
func TestAnEventThatWasMissedIsMadeUpForByRsyncsStates(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	both := host + "[" + parisAddress + " " + berlinAddress + "]"
	s.writes(first)
	require.NoError(t, s.adapt(t.Context(), first, emco.NoContext))
	s.signpost.Kill()
	s.observes(first, paris, parisAddress)
	s.observes(first, berlin, berlinAddress)
	s.tells(first, "Instantiate", "")
	s.syncs(first, "Instantiated")
	s.restart()
	s.has(both)

	s.writes(second, paris)
	require.NoError(t, s.adapt(t.Context(), second, first))
	require.NoError(t, s.Put(t.Context(), second, "statusappctxid/", first))
	s.tells(second, "Update", first)
	s.syncs(second, "Instantiated")
	s.tells(first, "UpdateDelete", second)
	s.syncs(first, "Updated")
	s.has(host + "[" + parisAddress + "]")

	s.signpost.Kill() // rollback
	s.tells(first, "Update", second)
	s.syncs(first, "Instantiated")
	s.tells(second, "UpdateDelete", first)
	s.syncs(second, "Updated")
	s.restart()
	s.has(both)

	s.signpost.Kill() // EMCO terminates nothing while a controller is down; but its keys may be gone
	require.NoError(t, s.DeleteContext(t.Context(), first))
	require.NoError(t, s.DeleteContext(t.Context(), second))
	s.restart()
	s.has()
	eventually(t, "the group to be Terminated", func() error { return s.ended(call{state: "Terminated"}) })
}

// TestAContextThatRsyncRefusesIsForgotten: EMCO deletes the context and tells
// nobody.
func TestAContextThatRsyncRefusesIsForgotten(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	empty, err := s.keys()
	require.NoError(t, err)
	s.writes(first)
	require.NoError(t, s.adapt(t.Context(), first, emco.NoContext))
	require.NoError(t, s.DeleteContext(t.Context(), first))
	eventually(t, "nothing to be left of the context", func() error {
		keys, err := s.keys()
		if err == nil && keys != empty {
			return errors.New(difference(t, empty, keys))
		}
		return err
	})
	require.ErrorContains(t, s.event(t.Context(), first, emco.Instantiated), "app context "+first)
	s.has()
}

// TestAnUpdateThatRsyncRefusesNeverBecomesCurrent: EMCO leaves its context, and
// tells nobody.
func TestAnUpdateThatRsyncRefusesNeverBecomesCurrent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.writes(first)
	require.NoError(t, s.adapt(t.Context(), first, emco.NoContext))
	s.observes(first, paris, parisAddress)
	s.observes(first, berlin, berlinAddress)
	s.tells(first, "Instantiate", "")
	s.syncs(first, "Instantiated")
	s.has(host + "[" + parisAddress + " " + berlinAddress + "]")
	s.writes(second, paris)
	require.NoError(t, s.adapt(t.Context(), second, first))
	s.restart()
	s.observes(first, berlin, otherAddress) // so that there is something to be done
	s.has(host + "[" + parisAddress + " " + otherAddress + "]")
}

// TestBadContextsAreRefusedAndLeftAsTheyAre is over the wire what pkg/emco and
// pkg/release prove one by one.
func TestBadContextsAreRefusedAndLeftAsTheyAre(t *testing.T) {
	s := newStage(t)
	for _, c := range []struct {
		name  string
		spoil func(id string)
		texts []string
	}{
		{"a context without meta", func(id string) { require.NoError(t, s.Remove(t.Context(), id, "meta/")) }, nil},
		{"a context of a logical cloud", func(id string) {
			require.NoError(t, s.Put(t.Context(), id, "meta/", map[string]string{"Project": "shop", "LogicalCloud": "eu"}))
		}, nil},
		{"a half-written context", func(id string) { require.NoError(t, s.Remove(t.Context(), id, "app/instruction/order/")) }, []string{"half-written"}},
		{"a group that EMCO does not know", func(id string) {
			meta := s.context(id, emco.DIG{Project: "shop", CompositeApp: "store", Version: "v1", Name: "none"}).Meta
			require.NoError(t, s.Put(t.Context(), id, "meta/", meta))
		}, []string{"deployment-intent-groups/none"}},
		{"more resources than anybody can mean", func(id string) {
			const many = 20_001
			c := s.context(id, prod(), paris)
			for i := range many {
				c.Apps[0].Clusters[0].Resources = append(c.Apps[0].Clusters[0].Resources, emco.Resource{Name: fmt.Sprintf("r-%d+ConfigMap", i), Text: "{}"})
			}
			require.NoError(t, s.WriteContextAtOnce(t.Context(), c))
		}, []string{"ResourceExhausted", "20000"}},
		{"an object of which nobody knows what it is", func(id string) {
			require.NoError(t, s.Put(t.Context(), id, "app/web/cluster/edge+paris/resource/web+Deployment/", "{"))
		}, []string{"web+Deployment"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := emco.NewID()
			s.writes(id)
			c.spoil(id)
			before, err := s.Keys(t.Context(), id)
			require.NoError(t, err)
			err = s.adapt(t.Context(), id, emco.NoContext)
			t.Log(err)
			for _, text := range append(c.texts, id) {
				require.ErrorContains(t, err, text)
			}
			require.NotContains(t, err.Error(), "not implemented")
			after, err := s.Keys(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}
