package faults

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// The host names that the app has in turn.
const (
	oldHost = "www.lab.example"
	newHost = "api.lab.example"
)

// action is what the process is killed in.
type action struct {
	name  string
	state string           // in which it ends
	host  string           // that the app has from then on; empty: none
	may   func(Write) bool // what it writes to clusters; all else is unchanged
}

func actions() [3]action {
	return [3]action{
		{"instantiate", "Instantiated", oldHost, func(w Write) bool { return strings.HasPrefix(w.What, "PATCH ") }},
		{"update", "Instantiated", newHost, func(w Write) bool { return strings.Contains(w.What, "/dnsendpoints/") }},
		{"terminate", "Terminated", "", func(w Write) bool { return strings.HasPrefix(w.What, "DELETE ") }},
	}
}

// moment is just before or just after a write of an action.
type moment struct {
	action int
	write  int
	when   Moment
}

// TestKill9AtEachWriteOfInstantiateUpdateAndTerminate: what was acknowledged is
// there afterwards (I1), the cluster becomes what the release says (I3),
// unchanged objects are not written again, and nothing is left behind. Signpost
// dies of its writes to all servers; a server, of those to itself.
func TestKill9AtEachWriteOfInstantiateUpdateAndTerminate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of     string
		start  func(t *testing.T) *world
		victim func(w *world) victim
		edge   string // where the writes are, empty for all
		kills  int
	}{
		{"Signpost over an external etcd", overEtcd, (*world).server, "", 6},
		{"Signpost over its own etcd", overEmbedded, (*world).server, "hub", 3},
		{"etcd", overEtcd, (*world).store, "etcd", 3},
		{"kube-apiserver", overEtcd, (*world).hub, "hub", 2},
	} {
		t.Run(c.of, func(t *testing.T) {
			t.Parallel()
			w := c.start(t)
			w.intents(w.kubeconfig(), `{"name": "web"}`, oldHost)
			k := &killer{world: w, victim: c.victim(w), edge: c.edge}
			moments := k.rehearse()
			chosen := Choose(t, moments, c.kills)
			t.Logf("%d of %d moments", len(chosen), len(moments))
			k.run(chosen)
			require.Less(t, 2*k.missed, len(chosen)+1, "kills that came too late")
		})
	}
}

// killer kills a process in the actions of one group, over and over.
type killer struct {
	*world

	victim  victim
	edge    string   // the writes to which are counted
	objects []string // while the group is instantiated
	missed  int      // kills that came after the action's end: it took fewer writes than at the rehearsal
}

// rehearse goes once through all actions and notes at which moments the victim
// can be killed.
func (k *killer) rehearse() []moment {
	var moments []moment
	for i, a := range actions() {
		k.prepare(a)
		k.tap.Count()
		k.call(http.MethodPost, group+"/"+a.name, "", http.StatusAccepted)
		k.ends(a)
		writes := k.tap.Writes(k.edge)
		for n := range writes {
			moments = append(moments, moment{i, n, Before}, moment{i, n, After})
		}
		k.Logf("%s takes %d writes", a.name, len(writes))
		if i == 0 {
			k.objects = k.must(k.ours())
		}
	}
	return moments
}

// run goes round through the actions, as long as there are moments to kill at.
func (k *killer) run(moments []moment) {
	for len(moments) > 0 {
		for i, a := range actions() {
			k.prepare(a)
			next := slices.IndexFunc(moments, func(m moment) bool { return m.action == i })
			if next < 0 {
				k.call(http.MethodPost, group+"/"+a.name, "", http.StatusAccepted)
				k.ends(a)
				continue
			}
			k.kill(a, moments[next])
			moments = slices.Delete(moments, next, next+1)
		}
	}
}

// prepare changes the intents, as long as that changes nothing, to what the
// action is to bring about. Before the first the definition of DNSEndpoints
// goes, which stays otherwise.
func (k *killer) prepare(a action) {
	k.Helper()
	if a.host == oldHost {
		k.undefine()
	}
	if a.host != "" {
		k.rename(a.host)
	}
}

// kill kills the victim at a moment of an action, starts it again, and checks
// what comes of it. A request that was not acknowledged is sent again.
func (k *killer) kill(a action, m moment) {
	k.Helper()
	struck := k.tap.Strike(k.edge, m.write, m.when, k.victim.kill)
	err := k.accepted(a)
	k.eventually("the moment, or the end", func() error {
		select {
		case <-struck:
			return nil
		default:
			return k.ended(a)
		}
	})
	k.tap.Rest()
	at := "the end"
	if writes := k.tap.Writes(k.edge); len(writes) > m.write {
		at = writes[m.write].What
	} else {
		k.missed++
	}
	k.Logf("%s: kill -9 %s write %d, %s; acknowledged: %t", a.name, m.when, m.write, at, err == nil)
	k.victim.kill()
	k.victim.revive()
	if err != nil {
		k.eventually(a.name+" to be accepted", func() error { return k.accepted(a) })
	}
	k.ends(a)
	k.wroteOnlyWhatChanged(a)
	k.allPosted()
}

// accepted asks for an action.
func (k *killer) accepted(a action) error {
	answer, err := k.signpost.Do(k.Context(), http.MethodPost, group+"/"+a.name, "")
	if err == nil && answer.Status != http.StatusAccepted {
		err = answer.Unexpected(http.StatusAccepted)
	}
	return err
}

// ends waits until an action has brought about what it should.
func (k *killer) ends(a action) {
	k.Helper()
	k.eventually("what "+a.name+" brings about", func() error { return k.ended(a) })
}

func (k *killer) ended(a action) error {
	var hosts, objects []string
	if a.host != "" {
		hosts, objects = []string{a.host + "[" + address + "]"}, k.objects
	}
	if now, err := k.hosts(); err != nil || !slices.Equal(now, hosts) {
		return errors.Join(err, fmt.Errorf("names are %v, want %v", now, hosts))
	}
	if now, err := k.ours(); err != nil || (len(k.objects) > 0 || a.host == "") && !slices.Equal(now, objects) {
		return errors.Join(err, fmt.Errorf("there is %v, want %v", now, objects))
	}
	if now, err := k.ledger(); err != nil || a.host == "" && len(now) > 0 {
		return errors.Join(err, fmt.Errorf("the ledger has %v", now))
	}
	return k.is(a.state)
}

func (k *killer) must(list []string, err error) []string {
	k.Helper()
	require.NoError(k, err)
	return list
}

// wroteOnlyWhatChanged: besides, what the process died of may be written again,
// by a second request, after one that tells that the object is there.
func (k *killer) wroteOnlyWhatChanged(a action) {
	k.Helper()
	const most = 7 // what is killed, another create, and five writes while the API server changes the status of a definition
	requests := map[string]int{}
	for _, w := range k.tap.Writes("hub") {
		requests[w.What]++
		if !a.may(w) {
			k.Errorf("%s wrote what it does not change: %s", a.name, w.What)
		}
	}
	var again []string
	for what, n := range requests {
		if n > 1 {
			again = append(again, what)
		}
		if n > most {
			k.Errorf("%d times %s", n, what)
		}
	}
	if len(again) > 1 {
		k.Errorf("written again: %v", again)
	}
}

// undefine removes the definition of DNSEndpoints, as an administrator can.
func (k *killer) undefine() {
	k.Helper()
	require.NoError(k, k.cluster.Delete(k.Context(), fixture.DefinitionKind(), "", fixture.DefinitionName))
	k.eventually("the definition to go", func() error {
		if _, err := k.cluster.Get(k.Context(), fixture.DefinitionKind(), "", fixture.DefinitionName); err == nil {
			return errors.New("it is there")
		}
		return nil
	})
}
