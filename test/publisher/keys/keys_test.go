// Package keys tests the built-in publisher of names in etcd with a real etcd and a real CoreDNS, and with external-dns'
// own provider, registry and plan as the oracle.
package keys

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/provider/coredns"

	"github.com/signpost-dns/signpost/internal/sample"
	parameters "github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/open"
	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/publisher/crash"
	"github.com/signpost-dns/signpost/test/publisher/oracle"
)

// world is an etcd, and a CoreDNS that answers from it.
type world struct {
	*testing.T
	ports process.Ports
	store *etcd.Server
	dns   *dns.Server
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{T: t}
	var err error
	w.store, err = etcd.NewServer(t.Context(), t.TempDir(), &w.ports)
	require.NoError(t, err)
	t.Cleanup(w.store.Kill)
	require.NoError(t, w.store.Start(t.Context()))
	return w
}

func (w *world) answering() *world {
	w.Helper()
	var err error
	w.dns, err = dns.NewCoreDNS(w.Context(), w.TempDir(), w.store.URL, &w.ports)
	require.NoError(w, err)
	w.Cleanup(w.dns.Kill)
	require.NoError(w, w.dns.Start(w.Context()))
	return w
}

func dial(ctx context.Context, network, address, _ string) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, address)
}

func (w *world) writer(prefix string, m oracle.Marks) publisher.Writer {
	w.Helper()
	given := parameters.Parameters{"coredns-prefix": prefix}
	for name, value := range map[string]string{"txt-prefix": m.Prefix, "txt-suffix": m.Suffix, "txt-wildcard-replacement": m.Wildcard} {
		if value != "" {
			given[name] = value
		}
	}
	writer, err := open.Writer(publisher.Settings{
		Provider: "coredns", Owner: m.Owner, Parameters: given, Environment: map[string]string{"ETCD_URLS": w.store.URL}, Dial: dial,
	}, nil)
	require.NoError(w, err)
	w.Cleanup(writer.Close)
	return writer
}

// externalDNS is upstream's provider with upstream's registry.
func (w *world) externalDNS(prefix string, m oracle.Marks) *oracle.ExternalDNS {
	w.Helper()
	w.Setenv("ETCD_URLS", w.store.URL)
	p, err := coredns.New(w.Context(), &externaldns.Config{CoreDNSPrefix: prefix, TXTOwnerID: m.Owner}, endpoint.NewDomainFilter(nil))
	require.NoError(w, err)
	return oracle.New(w.T, p, m)
}

// zone draws sets for names. Names of etcd have one type each: external-dns reads A and AAAA of one name as one set.
func zone(random *rand.Rand, names []string) []publisher.Set {
	var sets []publisher.Set
	for _, name := range names {
		set := publisher.Set{Name: name, TTL: int64(random.IntN(3) * 60), Mark: publisher.Mark{Resource: publisher.Resource("shop", "n"+strings.Trim(name, "*."))}}
		count := 1 + random.IntN(3)
		switch random.IntN(4) {
		case 0:
			continue
		case 1:
			set.Type, set.Targets = "CNAME", []string{fmt.Sprintf("target%d.else.example", random.IntN(3))}
		case 2:
			set.Type = "AAAA"
			for range count {
				set.Targets = append(set.Targets, fmt.Sprintf("2001:db8::%x", 1+random.IntN(200)))
			}
		default:
			set.Type = "A"
			for range count {
				set.Targets = append(set.Targets, fmt.Sprintf("192.0.2.%d", 1+random.IntN(200)))
			}
		}
		slices.Sort(set.Targets)
		set.Targets = slices.Compact(set.Targets)
		sets = append(sets, set)
	}
	return sets
}

// TestExternalDNSPlansNothingAfterThePublisher moves generated zones to and fro between the built-in publisher and external-dns'
// provider, with each form of names of marks. After the publisher, external-dns plans nothing. After external-dns, the publisher keeps
// all keys of what is wanted. It removes others: external-dns leaves one target of a removed set, and marks.
func TestExternalDNSPlansNothingAfterThePublisher(t *testing.T) {
	logrus.SetOutput(io.Discard)
	random := rand.New(rand.NewPCG(sample.Seed(t), 21)) //nolint:gosec // a generated zone is no secret
	w := begin(t)
	affixes := []oracle.Marks{{}, {Prefix: "own."}, {Prefix: "%{record_type}.own-"}, {Suffix: "-own"}, {Suffix: "-%{record_type}-own", Wildcard: "any"}, {Wildcard: "star"}}
	for round := range sample.Cases(len(affixes), 60, 600) {
		m := affixes[round%len(affixes)]
		m.Owner = fmt.Sprintf("owner-%d", round)
		prefix := fmt.Sprintf("/zone%d/", round)
		writer, upstream := w.writer(prefix, m), w.externalDNS(prefix, m)
		names := []string{"*.wild.lab.example", "www.lab.example", "www2.lab.example", "b-www.lab.example", "x.y.lab.example", "api.lab.example", "mail.lab.example"}
		var before []publisher.Set
		for step := range 6 {
			want := zone(random, names)
			if step%2 == 0 {
				oracle.Publish(t, writer, names, want)
				changes := upstream.Plan(t, want)
				assert.False(t, changes.HasChanges(), "external-dns changes what the publisher has written: %v; %+v after %+v", changes, want, before)
			} else {
				upstream.Apply(t, want)
				held := w.keys(prefix)
				oracle.Publish(t, writer, names, want)
				for key, value := range w.keys(prefix) {
					assert.Equal(t, value, held[key], "the publisher changes key %s that external-dns has written: %+v after %+v", key, want, before)
				}
				assert.False(t, upstream.Plan(t, want).HasChanges(), "all that is wanted has stayed")
			}
			before = want
		}
		oracle.Publish(t, writer, names, nil)
		assert.Empty(t, w.keys(prefix), "all is removed")
	}
}

// TestNamesOfAnExternalDNSAreAdopted: after the publisher has taken over generated zones, external-dns with the publisher's owner id
// plans nothing. External-dns with the owner id of before has nothing to remove.
func TestNamesOfAnExternalDNSAreAdopted(t *testing.T) {
	logrus.SetOutput(io.Discard)
	random := rand.New(rand.NewPCG(sample.Seed(t), 5)) //nolint:gosec // a generated zone is no secret
	w := begin(t)
	names := []string{"*.wild.lab.example", "www.lab.example", "x.y.lab.example", "api.lab.example"}
	for round := range sample.Cases(8, 30, 300) {
		prefix := fmt.Sprintf("/adopted%d/", round)
		before, after := oracle.Marks{Owner: "legacy", Prefix: "own."}, oracle.Marks{Owner: "new", Prefix: "own."}
		want := zone(random, names)
		w.externalDNS(prefix, before).Apply(t, want)
		writer := w.writer(prefix, after)
		states, err := writer.Read(t.Context(), names)
		require.NoError(t, err)
		for _, set := range want {
			change := publisher.Change{Before: states[set.Name], After: []publisher.Set{set}}
			require.Equal(t, publisher.Foreign, fault.Of(writer.Write(t.Context(), change)), "%+v", set)
			change.Adopt = "legacy"
			require.NoError(t, writer.Write(t.Context(), change), "%+v", set)
			stranger := w.writer(prefix, oracle.Marks{Owner: "third", Prefix: "own."})
			held, err := stranger.Read(t.Context(), []string{set.Name})
			require.NoError(t, err)
			change.Before = held[set.Name]
			require.Equal(t, publisher.Foreign, fault.Of(stranger.Write(t.Context(), change)), "it is not legacy's any more")
		}
		assert.False(t, w.externalDNS(prefix, after).Plan(t, want).HasChanges(), "%+v", want)
		assert.False(t, w.externalDNS(prefix, before).Plan(t, nil).HasChanges(), "%+v", want)
	}
}

// keys are all keys below a prefix with their values.
func (w *world) keys(prefix string) map[string]string {
	w.Helper()
	all, err := w.store.Prefix(w.Context(), prefix)
	require.NoError(w, err)
	return all
}

// TestNoInstantHasAnEmptyAnswer asks CoreDNS all the time while the addresses of a name change.
func TestNoInstantHasAnEmptyAnswer(t *testing.T) {
	w := begin(t).answering()
	writer := w.writer("/skydns/", oracle.Marks{Owner: "one"})
	const name = "www.lab.example"
	sets := func(n int) []publisher.Set {
		return []publisher.Set{{Name: name, Type: "A", TTL: 1, Targets: []string{fmt.Sprintf("192.0.2.%d", 1+n%250)}}}
	}
	oracle.Publish(t, writer, []string{name}, sets(0))
	watch := dns.NewWatch(w.dns.Address, name)
	const enough = 20 // answers to judge, which a busy server gives slowly
	answers := func() (sum int) {
		for _, seen := range watch.Seen() {
			sum += seen.Times
		}
		return sum
	}
	last, changes := 0, sample.Cases(150, 500, 5000)
	for last < changes || answers() < enough {
		last++
		oracle.Publish(t, writer, []string{name}, sets(last))
	}
	watch.Stop()
	for _, seen := range watch.Seen() {
		assert.Equal(t, "NOERROR", seen.Code)
		assert.Len(t, seen.Targets, 1, "one address at each instant, the old one or the new one")
	}
	got, err := dns.Query(t.Context(), w.dns.Address, name, "A")
	require.NoError(t, err)
	assert.Equal(t, sets(last)[0].Targets, got)
}

// TestAKilledPublisherLeavesNothingHalfDone kills it before and after its writes.
func TestAKilledPublisherLeavesNothingHalfDone(t *testing.T) {
	w := begin(t)
	require.NoError(t, w.store.Put(t.Context(), "/skydns/example/lab/printer/1", `{"host":"192.0.2.77","targetstrip":1}`))
	crash.AtEachWrite(t, crash.Server{
		Zone: "lab.example", Owner: "one", Stranger: "printer.lab.example",
		Open: func() publisher.Writer { return w.writer("/skydns/", oracle.Marks{Owner: "one"}) },
		Unmark: func(t *testing.T, of string) {
			t.Helper()
			label, _, _ := strings.Cut(of, ".")
			require.NoError(t, w.store.DeletePrefix(t.Context(), "/skydns/example/lab/a-"+label+"/"))
		},
	})
}

// TestTheNamesOfAnOwnerAreListed, and those of no other.
func TestTheNamesOfAnOwnerAreListed(t *testing.T) {
	w := begin(t)
	one := publisher.Set{Name: "a.lab.example", Type: "A", TTL: 60, Targets: []string{"192.0.2.1"}, Mark: publisher.Mark{Resource: publisher.Resource("shop", "www")}}
	two := one
	two.Name = "b.lab.example"
	writer := w.writer("/skydns/", oracle.Marks{Owner: "one", Suffix: "-own"})
	oracle.Publish(t, writer, []string{one.Name}, []publisher.Set{one})
	oracle.Publish(t, w.writer("/skydns/", oracle.Marks{Owner: "two"}), []string{two.Name}, []publisher.Set{two})
	listed, err := writer.(publisher.Owning).Owned(t.Context())
	require.NoError(t, err)
	one.Mark.Owner = "one"
	assert.Equal(t, []publisher.Set{one}, listed)
}
