package orchestrate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
	"github.com/signpost-dns/signpost/test/emco"
)

// host is the name that the group of a stage has.
const host = "www.lab.example"

// call is one call of the orchestrator's, with what has happened before it and
// what it comes to.
type call struct {
	name   string
	before func(s *stage)       // what EMCO does before the call
	make   func(s *stage) error // the call
	hosts  []string             // what is in the hub in the end, with targets
	state  string               // of the group in the end
}

// calls are those of a context's whole life: instantiation, update to a second
// context, rollback to the first, and termination. EMCO tells rsync right before
// an event, and so do these. Addresses are known by then, so that each call has
// one end.
func calls() []call {
	adapt := func(id, from string) func(s *stage) error {
		return func(s *stage) error { return s.adapt(s.Context(), id, from) }
	}
	names := func(addresses ...string) []string { return []string{host + "[" + strings.Join(addresses, " ") + "]"} }
	return []call{
		{"instantiate: UpdateAppContext", func(s *stage) { s.writes(first) }, adapt(first, emco.NoContext), nil, ""},
		{"instantiate: PostEvent", func(s *stage) {
			s.observes(first, paris, parisAddress)
			s.observes(first, berlin, berlinAddress)
		}, func(s *stage) error {
			s.tells(first, "Instantiate", "")
			return s.event(s.Context(), first, emco.Instantiated)
		}, names(parisAddress, berlinAddress), "Instantiated"},
		{"update: UpdateAppContext", func(s *stage) {
			s.syncs(first, "Instantiated")
			s.writes(second, paris)
		}, adapt(second, first), names(parisAddress, berlinAddress), "Instantiated"},
		{"update: PostEvent", func(s *stage) {
			require.NoError(s, s.Put(s.Context(), second, "statusappctxid/", first))
		}, func(s *stage) error {
			s.tells(second, "Update", first)
			return s.event(s.Context(), second, emco.Updated)
		}, names(parisAddress), "Instantiated"},
		{"rollback: PostEvent", func(s *stage) {
			s.syncs(second, "Instantiated")
			s.tells(first, "UpdateDelete", second)
			s.syncs(first, "Updated")
		}, func(s *stage) error {
			s.tells(first, "Update", second) // which it has not come to yet
			return s.event(s.Context(), first, emco.Updated)
		}, names(parisAddress, berlinAddress), "Instantiated"},
		{"terminate: TerminateAppContext", func(s *stage) {
			s.syncs(first, "Instantiated")
			s.tells(second, "UpdateDelete", first)
			s.syncs(second, "Updated")
		}, func(s *stage) error { return s.terminate(s.Context(), first) }, nil, "Terminated"},
		{"terminate: PostEvent", func(*stage) {}, func(s *stage) error {
			s.tells(first, "Terminate", "")
			return s.event(s.Context(), first, emco.Terminated)
		}, nil, "Terminated"},
	}
}

// ended tells whether a call has brought about what it should.
func (s *stage) ended(c call) error {
	hosts, err := s.hosts()
	if err != nil {
		return err
	}
	if !slices.Equal(hosts, c.hosts) {
		return fmt.Errorf("the names are %v, want %v", hosts, c.hosts)
	}
	all, err := s.etcd.Prefix(s.Context(), "/signpost/")
	if err != nil {
		return err
	}
	now, err := s.lifecycleIn(all)
	if err == nil && now.state() != c.state {
		err = fmt.Errorf("the group is %+v", now)
	}
	return errors.Join(err, s.atRest(all))
}

// state is the group's state as far as calls end in it.
func (l lifecycle) state() string {
	switch {
	case l.Failure != "":
		return "Failed"
	case l.Seq == 0:
		return ""
	case !l.Settled || len(l.Draining)+len(l.Leaving) > 0:
		return "at work"
	case l.Wanted == "terminate":
		return "Terminated"
	}
	return "Instantiated"
}

// atRest fails while a context is being written.
func (s *stage) atRest(all map[string]string) error {
	for key := range all {
		if strings.HasPrefix(key, "/signpost/emco/") {
			return errors.New(key + " is there")
		}
	}
	return nil
}

// TestEachCallWritesItsKeysAndNoOthers: the golden files show the keys before
// and after each call, as a difference of all lines: those without a mark are
// unchanged, - was there before, and + is there after. The queue that rsync is
// told by is EMCO's.
func TestEachCallWritesItsKeysAndNoOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, c := range calls() {
		c.before(s)
		before, err := s.keys()
		require.NoError(t, err)
		require.NoError(t, c.make(s), c.name)
		eventually(t, "the end of "+c.name, func() error { return s.ended(c) })
		after, err := s.keys()
		require.NoError(t, err)
		golden.Equal(t, strings.ReplaceAll(c.name, ": ", "-")+".diff", difference(t, before, after))
		require.NoError(t, c.make(s), "%s again", c.name)
		again, err := s.keys()
		require.NoError(t, err)
		require.Equal(t, after, again, "%s again changes nothing", c.name)
	}
}

// difference marks what two texts do not share, line by line.
func difference(t *testing.T, before, after string) string {
	t.Helper()
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(before), B: difflib.SplitLines(after), Context: len(before) + len(after),
	})
	require.NoError(t, err)
	_, text, _ = strings.Cut(text, "@@\n")
	return text
}
