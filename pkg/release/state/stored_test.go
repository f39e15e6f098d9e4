package state

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const stall = intent.Path("projects/shop/names/www.lab.example")

// settledName is the lifecycle of a name as nearly all are.
func settledName() Lifecycle {
	accepted := time.Date(2026, 11, 1, 12, 0, 0, 5, time.UTC)
	done := accepted.Add(time.Second)
	body := `{"metadata":{"name":"www.lab.example"},"spec":{"addresses":["192.0.2.1"],"provider":"lab"}}`
	return Lifecycle{
		OwnerUID: "u", Wanted: intent.Instantiate, Seq: 1, ContextID: "42", Settled: true, Since: accepted, Done: done, Names: 1, Objects: 1,
		Uses: []Use{{Record: "projects/shop/dns-update-records/lab", Scope: intent.Public, Cluster: "edge+hub"}},
		Events: []intent.Event{
			{Time: accepted, Actor: "ann", Action: intent.Instantiate, Revision: 1, Outcome: "accepted", RequestID: "r"},
			{Time: done, Actor: intent.Itself, Action: intent.Instantiate, Revision: 1, Outcome: "completed"},
		},
		Name: &intent.NameDocument{UID: "u", Revision: 1, CreatedAt: accepted, UpdatedAt: accepted, Body: json.RawMessage(body)},
		Refs: []intent.Path{"cluster-providers/edge/clusters/hub", "projects/shop/dns-update-records/lab"},
	}
}

// stays is a lifecycle as it is read after it was stored.
func stays(t *testing.T, owner intent.Path, l Lifecycle) (Lifecycle, string) {
	t.Helper()
	body, err := json.Marshal(stored(owner, l))
	require.NoError(t, err)
	is, err := ReadLifecycle(intent.Document{Path: LifecyclePath(owner), Body: body, Refs: l.Refs, Revision: l.Revision, Schema: l.Schema})
	require.NoError(t, err)
	if l.Name != nil {
		require.Equal(t, l.Name.At(owner), is.Name.At(owner))
		is.Name, l.Name = nil, nil
	}
	require.Equal(t, l, is, string(body))
	return is, string(body)
}

// TestALifecycleIsReadAsItWasStored, whatever of it is left out because it follows from
// something else.
func TestALifecycleIsReadAsItWasStored(t *testing.T) {
	t.Parallel()
	earlier := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	for reason, change := range map[string]func(l *Lifecycle){
		"as nearly all":           func(*Lifecycle) {},
		"of another life":         func(l *Lifecycle) { l.OwnerUID = "v" },
		"without a document":      func(l *Lifecycle) { l.Name = nil },
		"a group":                 func(l *Lifecycle) { l.Name, l.Names, l.Objects = nil, 3, 0 },
		"more than one object":    func(l *Lifecycle) { l.Objects = 2 },
		"no count":                func(l *Lifecycle) { l.Names, l.Objects = 0, 0 },
		"not settled":             func(l *Lifecycle) { l.Settled, l.Events = false, l.Events[:1] },
		"settled before":          func(l *Lifecycle) { l.Settled, l.Wanted = false, intent.Update },
		"without events":          func(l *Lifecycle) { l.Events = nil },
		"an event behind the end": func(l *Lifecycle) { l.Events = append(l.Events, l.Events[0]) },
		"another completion":      func(l *Lifecycle) { l.Events[1].Message = "with a message" },
		"events of before": func(l *Lifecycle) {
			l.Seq, l.Wanted = 2, intent.Update
			l.Events = append([]intent.Event{{Time: earlier, Actor: "bob", Action: intent.Instantiate, Revision: 0, Outcome: "completed", Message: "m"}}, l.Events...)
		},
		"an updated document": func(l *Lifecycle) { l.Name.UpdatedAt, l.Name.Revision = l.Done, 2 },
		"metadata with a text": func(l *Lifecycle) {
			l.Name.Body = json.RawMessage(`{"metadata":{"name":"www.lab.example","description":"x"},"spec":{}}`)
		},
		"chosen clusters":      func(l *Lifecycle) { l.Name.Clusters = []string{"edge+paris"} },
		"a provider elsewhere": func(l *Lifecycle) { l.Uses[0].Record = "projects/bank/dns-update-records/lab" },
		"providers that it leaves": func(l *Lifecycle) {
			l.Leaving, l.Draining, l.Former = []Use{l.Uses[0]}, []Use{{Record: "projects/shop/dns-update-records/old", Cluster: "builtin"}}, l.Uses
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			l := settledName()
			change(&l)
			is, _ := stays(t, stall, l)
			stays(t, stall, is)
		})
	}
}

// TestAStoredLifecycleRepeatsNothing: neither its path, nor the references of the document,
// nor itself.
func TestAStoredLifecycleRepeatsNothing(t *testing.T) {
	t.Parallel()
	_, body := stays(t, stall, settledName())
	require.JSONEq(t, `{"seq":1,"contextID":"42","since":"2026-11-01T12:00:00.000000005Z","done":"2026-11-01T12:00:01.000000005Z",
		"completed":true,"uses":["lab public edge+hub"],"events":[{"actor":"ann","outcome":"accepted","requestID":"r"}],
		"name":{"uid":"u","createdAt":"2026-11-01T12:00:00.000000005Z","body":{"spec":{"addresses":["192.0.2.1"],"provider":"lab"}}}}`, body)
}

// TestChangedReferencesAreStored, and their order is no change.
func TestChangedReferencesAreStored(t *testing.T) {
	t.Parallel()
	was, is := settledName(), settledName()
	is.Refs = []intent.Path{was.Refs[1], was.Refs[0], was.Refs[1]}
	require.False(t, Differ(&was, &is))
	is.Refs = is.Refs[:1]
	require.True(t, Differ(&was, &is))
}

// TestADamagedUseIsAnError that names the owner.
func TestADamagedUseIsAnError(t *testing.T) {
	t.Parallel()
	_, err := ReadLifecycle(intent.Document{Path: LifecyclePath(stall), Body: []byte(`{"uses":["lab public"]}`)})
	require.ErrorContains(t, err, string(stall))
}
