package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

func TestDecide(t *testing.T) {
	config := bundle.ID{Cluster: "edge+hub", Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	deployment := bundle.ID{Cluster: "edge+hub", Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "a"}
	namespace := bundle.ID{Cluster: "edge+hub", Kind: "Namespace", Name: "shop"}
	definition := bundle.ID{Cluster: "edge+hub", Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "x"}

	marks := cluster.Marks{Labels: map[string]string{"ours": "yes"}}
	want := &state.Wanted{Digest: "d1", Marks: marks}
	other := &state.Wanted{Digest: "d2", Marks: marks}

	entry := func(change ...func(*ledger.Entry)) *ledger.Entry {
		e := &ledger.Entry{UID: "u1", ResourceVersion: "10", Digest: "d1", CreatedByUs: true, Status: ledger.Applied}
		for _, c := range change {
			c(e)
		}
		return e
	}
	status := func(s ledger.Status) func(*ledger.Entry) { return func(e *ledger.Entry) { e.Status = s } }
	generation := func(e *ledger.Entry) { e.Generation = 3 }
	used := &ledger.Entry{Digest: "d1", Status: ledger.Applied}
	intent := &ledger.Entry{Status: ledger.Pending}
	conflict := &ledger.Entry{Status: ledger.Failed}

	live := func(uid, version string, generation int64, labels map[string]string) cluster.Sight {
		return cluster.Sight{Known: true, Live: &cluster.Live{
			Version: cluster.Version{UID: uid, ResourceVersion: version}, Generation: generation, Labels: labels}}
	}
	ours := map[string]string{"ours": "yes", "theirs": "too"}
	unknown, absent := cluster.Sight{}, cluster.Sight{Known: true}
	same, touched := live("u1", "10", 0, ours), live("u1", "11", 0, ours)
	deleting := live("u1", "12", 0, ours)
	deleting.Live.Deleting = true

	for _, test := range []struct {
		reason    string
		id        bundle.ID
		want      *state.Wanted
		entry     *ledger.Entry
		sight     cluster.Sight
		operation operation
		drift     bool
	}{
		{"nothing is wanted and nothing is known", config, nil, nil, unknown, nothing, false},
		{"a new object is made, whatever is seen", config, want, nil, absent, create, false},
		{"a new object is made even while nothing can be seen", config, want, nil, unknown, create, false},
		{"an intent that a crash left is tried again", config, want, intent, unknown, create, false},
		{"a conflict is looked at again", config, want, conflict, absent, create, false},
		{"unchanged costs no request", config, want, entry(), same, nothing, false},
		{"unchanged costs no request while nothing can be seen", config, want, entry(), unknown, nothing, false},
		{"changed content is applied to what is seen", config, other, entry(), touched, apply, false},
		{"changed content is applied to what is remembered", config, other, entry(), unknown, apply, false},
		{"changed content of what is gone is made", config, other, entry(), absent, create, false},
		{"a failed attempt is made again", config, want, entry(status(ledger.Retrying)), same, apply, false},
		{"a failed attempt is made again unseen", config, want, entry(status(ledger.Retrying)), unknown, apply, false},
		{"what was being deleted and is wanted again waits for its end", config, want, entry(status(ledger.Deleted)), deleting, await, false},
		{"what was being deleted and has ended is made again", config, want, entry(status(ledger.Deleted)), absent, create, false},
		{"an object of ours that was deleted by hand is made again", config, want, entry(), absent, create, true},
		{"one that is being deleted by hand is waited for", config, want, entry(), deleting, await, false},
		{"one that was edited by hand is put back", config, want, entry(), touched, apply, true},
		{"one that was replaced under our label is put back", config, want, entry(), live("u2", "12", 0, ours), apply, true},
		{"a new status is not a drift where generations tell", deployment, want, entry(generation), live("u1", "11", 3, ours), nothing, false},
		{"a new generation is drift", deployment, want, entry(generation), live("u1", "11", 4, ours), apply, true},
		{"a label of ours that was changed is drift, generation or not", deployment, want, entry(generation), live("u1", "11", 3, map[string]string{"ours": "no"}), apply, true},
		{"somebody's namespace is used and left alone", namespace, want, used, absent, nothing, false},
		{"somebody's namespace is looked at again when we want another", namespace, other, used, absent, create, false},
		{"somebody's namespace is let go of without a request", namespace, nil, used, absent, forget, false},
		{"somebody's definition is let go of without a request", definition, nil, used, absent, forget, false},
		{"our definition is never deleted", definition, nil, entry(), same, forget, false},
		{"our namespace goes, if it is empty", namespace, nil, entry(), same, remove, false},
		{"what is not wanted goes", config, nil, entry(), same, remove, false},
		{"what is not wanted goes while nothing can be seen", config, nil, entry(), unknown, remove, false},
		{"absence is confirmed before the entry goes", config, nil, entry(), absent, remove, false},
		{"an intent that a crash left may have made something", config, nil, intent, unknown, remove, false},
		{"what is being deleted is waited for", config, nil, entry(), deleting, await, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			a := decide(test.id, test.want, test.entry, test.sight)
			assert.Equal(t, test.operation, a.operation)
			assert.Equal(t, test.drift, a.drift)
			if test.operation == apply && test.sight.Live != nil {
				assert.Equal(t, test.sight.Live.Version, a.at, "the version that was seen")
			}
			if test.operation == apply && test.sight.Live == nil {
				assert.Equal(t, cluster.Version{UID: "u1", ResourceVersion: "10"}, a.at, "the version that is remembered")
			}
		})
	}
}

func TestWavesFollowTheOrderOfKinds(t *testing.T) {
	t.Parallel()
	id := func(group, kind, name string) bundle.ID {
		return bundle.ID{Cluster: "c", Group: group, Kind: kind, Namespace: "n", Name: name}
	}
	all := []bundle.ID{
		id("externaldns.k8s.io", "DNSEndpoint", "e"), id("apps", "Deployment", "d"), id("", "Namespace", "n"),
		id("", "ServiceAccount", "a"), id("", "ServiceAccount", "b"), id("rbac.authorization.k8s.io", "RoleBinding", "r"),
		id("rbac.authorization.k8s.io", "Role", "r"), id("apiextensions.k8s.io", "CustomResourceDefinition", "x"),
	}
	var actions []action
	for _, id := range all {
		actions = append(actions, action{operation: create, id: id, want: &state.Wanted{}}, action{operation: remove, id: id})
	}
	var got []string
	for _, wave := range waves(actions) {
		name := string(wave[0].operation)
		for _, a := range wave {
			name += " " + a.id.Kind
		}
		got = append(got, name)
	}
	assert.Equal(t, []string{
		"create Namespace", "create CustomResourceDefinition", "create ServiceAccount ServiceAccount", "create Role",
		"create RoleBinding", "create Deployment", "create DNSEndpoint",
		"remove DNSEndpoint", "remove Deployment", "remove RoleBinding", "remove Role",
		"remove ServiceAccount ServiceAccount", "remove CustomResourceDefinition", "remove Namespace",
	}, got)
}
