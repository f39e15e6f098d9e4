package endpoints

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/external-dns/apis/v1alpha1"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// TestPlanningTwiceGivesTheSameBytes is I8 for DNSEndpoints.
func TestPlanningTwiceGivesTheSameBytes(t *testing.T) {
	for _, s := range stories(t) {
		assertSameBytes(t, s.Input)
	}
}

func assertSameBytes(t *testing.T, in input) {
	t.Helper()
	want, _, err := Render(in.Group, in.Binding, in.choices())
	require.NoError(t, err)
	for range 100 {
		rand.Shuffle(len(in.Binding.Hosts), func(i, j int) {
			in.Binding.Hosts[i], in.Binding.Hosts[j] = in.Binding.Hosts[j], in.Binding.Hosts[i]
		})
		got, _, err := Render(in.Group, in.Binding, in.choices())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestExternalDNSOfTheRecordSelectsIt(t *testing.T) {
	for _, s := range stories(t) {
		in := s.Input
		object, some, err := Render(in.Group, in.Binding, in.choices())
		require.NoError(t, err)
		if !some {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(object.JSON))
		decoder.DisallowUnknownFields()
		var read v1alpha1.DNSEndpoint
		require.NoError(t, decoder.Decode(&read))
		record := plan.Record{Installation: in.Group.Installation, Project: in.Group.Project, Name: in.Binding.Record}
		selector, err := labels.Parse(record.LabelFilter(in.Binding.Scope))
		require.NoError(t, err)
		assert.True(t, selector.Matches(labels.Set(read.Labels)))
		for key, value := range read.Labels {
			assert.Empty(t, validation.IsValidLabelValue(value), key)
		}
		for _, e := range read.Spec.Endpoints {
			assert.NotEmpty(t, e.Targets, "external-dns would fill in its default targets")
			service := e.RecordType == "SRV"
			assert.Equal(t, !service || in.Rooted, e.CheckEndpoint(), "what external-dns v0.22 makes of %v", e)
			for _, target := range e.Targets {
				assert.Equal(t, service && in.Rooted, strings.HasSuffix(target, "."), "targets have no trailing dot, but those of SRV as of v0.22")
			}
		}
	}
}

func TestSetsHoldTheTypesThatTheHostAllows(t *testing.T) {
	four, six, alias := address.Set{Type: "A", Targets: []string{"192.0.2.1"}}, address.Set{Type: "AAAA", Targets: []string{"2001:db8::1"}}, address.Set{Type: "CNAME", Targets: []string{"b.example"}}
	both, port := []address.Set{four, six}, address.Set{Name: "_https._tcp.a.example", Type: "SRV", Targets: []string{"0 0 443 a.example."}}
	for _, c := range []struct {
		reason  string
		host    plan.Host
		offered []address.Set
		want    []address.Set
	}{
		{"all types", plan.Host{Name: "a.example"}, both, both},
		{"one type", plan.Host{Name: "a.example", Types: []string{"AAAA"}}, both, []address.Set{six}},
		{"a type without targets", plan.Host{Name: "a.example", Types: []string{"CNAME"}}, both, nil},
		{"an alias", plan.Host{Name: "a.example"}, []address.Set{alias}, []address.Set{alias}},
		{"an alias of itself", plan.Host{Name: "b.example"}, []address.Set{alias}, nil},
		{"services, for who asks for them", plan.Host{Name: "a.example", Types: []string{"A", "SRV"}}, []address.Set{four, port}, []address.Set{four, port}},
		{"services are none of all types", plan.Host{Name: "a.example"}, []address.Set{four, port}, []address.Set{four}},
		{"nothing", plan.Host{Name: "a.example"}, nil, nil},
	} {
		t.Run(c.reason, func(t *testing.T) { assert.Equal(t, c.want, Sets(c.host, address.Choice{Sets: c.offered})) })
	}
}

// TestStoresReadWhatWasRendered: the typed values beside an object are the same
// whether the object was just rendered or read from a store.
func TestStoresReadWhatWasRendered(t *testing.T) {
	for _, s := range stories(t) {
		in := s.Input
		object, some, err := Render(in.Group, in.Binding, in.choices())
		require.NoError(t, err)
		if !some {
			continue
		}
		stored, err := bundle.Stored(object.Cluster, object.App, object.JSON)
		require.NoError(t, err)
		require.Equal(t, object, stored, "what a store reads is what was rendered")
		assert.Equal(t, in.Binding.Record, stored.Published.Record)
		assert.Equal(t, string(in.Binding.Scope), stored.Published.Scope)
		want := map[string][]bundle.PublishedName{}
		for n, host := range in.Binding.Hosts {
			for _, set := range Sets(host, in.choices()[n]) {
				want[host.Name] = append(want[host.Name], publishedName(host, set))
			}
		}
		got := map[string][]bundle.PublishedName{}
		for _, n := range stored.Published.Names {
			got[n.Host] = append(got[n.Host], n)
		}
		require.Len(t, got, len(want))
		for host, sets := range want {
			assert.ElementsMatch(t, sets, got[host], host)
		}
	}
}

// FuzzNameIsLegalAndUnique takes two bindings that differ in one part: their
// DNSEndpoints have legal names that differ.
func FuzzNameIsLegalAndUnique(f *testing.F) {
	f.Add("web", "Web", "a", byte(0))
	f.Add("web-a", "web", "a", byte(1))
	f.Add(strings.Repeat("x", 63), strings.Repeat("x", 62), "", byte(2))
	f.Fuzz(func(t *testing.T, one, other, rest string, part byte) {
		binding := func(text string) (plan.Group, plan.Binding) {
			g := plan.Group{Path: intent.Path(rest)}
			b := plan.Binding{App: rest, Service: rest, Record: rest, Scope: intent.Public, Cluster: rest}
			parts := []*string{&b.App, &b.Service, &b.Record, &b.Cluster}
			*parts[int(part)%len(parts)] = text
			return g, b
		}
		a, b := Name(binding(one)), Name(binding(other))
		for _, name := range []string{a, b} {
			assert.Empty(t, validation.IsDNS1123Label(name), name)
		}
		assert.Equal(t, one == other, a == b, "%q and %q", a, b)
	})
}
