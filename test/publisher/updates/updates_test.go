// Package updates tests the built-in publisher of dynamic updates with a real BIND, and with external-dns' own provider,
// registry and plan as the oracle.
package updates

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/provider/rfc2136"

	"github.com/signpost-dns/signpost/internal/sample"
	parameters "github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/open"
	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/publisher/crash"
	"github.com/signpost-dns/signpost/test/publisher/oracle"
)

// world is a BIND and the connections to it.
type world struct {
	*testing.T
	bind *dns.BIND

	tcp, udp, received atomic.Int64 // connections, and bytes that came over them
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{T: t}
	var err error
	w.bind, err = dns.NewBIND(t.Context(), t.TempDir(), &process.Ports{})
	require.NoError(t, err)
	t.Cleanup(w.bind.Kill)
	require.NoError(t, w.bind.Start(t.Context()))
	return w
}

// dial counts connections and bytes.
func (w *world) dial(ctx context.Context, network, address, _ string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if network == "udp" {
		w.udp.Add(1)
	} else {
		w.tcp.Add(1)
	}
	return counted{Conn: conn, w: w}, nil
}

type counted struct {
	net.Conn
	w *world
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.w.received.Add(int64(n))
	return n, err
}

func (w *world) settings(m oracle.Marks) publisher.Settings {
	given := parameters.Parameters{
		"rfc2136-host": []any{w.bind.Host}, "rfc2136-port": strconv.Itoa(w.bind.Port), "rfc2136-zone": []any{dns.BINDZone},
		"rfc2136-tsig-keyname": w.bind.KeyName, "rfc2136-tsig-secret-alg": w.bind.Algorithm,
	}
	for name, value := range map[string]string{"txt-prefix": m.Prefix, "txt-suffix": m.Suffix, "txt-wildcard-replacement": m.Wildcard} {
		if value != "" {
			given[name] = value
		}
	}
	return publisher.Settings{
		Provider: "rfc2136", Owner: m.Owner, Parameters: given, Dial: w.dial,
		Environment: map[string]string{"EXTERNAL_DNS_RFC2136_TSIG_SECRET": w.bind.Secret},
	}
}

func (w *world) open(s publisher.Settings) publisher.Writer {
	w.Helper()
	writer, err := open.Writer(s, nil)
	require.NoError(w, err)
	w.Cleanup(writer.Close)
	return writer
}

func (w *world) externalDNS(m oracle.Marks) *oracle.ExternalDNS {
	w.Helper()
	p, err := rfc2136.New(w.Context(), &externaldns.Config{
		RFC2136Host: []string{w.bind.Host}, RFC2136Port: w.bind.Port, RFC2136Zone: []string{dns.BINDZone}, RFC2136AXFR: true, Policy: "sync",
		RFC2136TSIGKeyName: w.bind.KeyName, RFC2136TSIGSecret: w.bind.Secret, RFC2136TSIGSecretAlg: w.bind.Algorithm, RFC2136BatchChangeSize: 50,
	}, endpoint.NewDomainFilter(nil))
	require.NoError(w, err)
	return oracle.New(w.T, p, m)
}

func (w *world) read(writer publisher.Writer, name string) publisher.State {
	w.Helper()
	states, err := writer.Read(w.Context(), []string{name})
	require.NoError(w, err)
	return states[name]
}

func (w *world) write(writer publisher.Writer, name string, after ...publisher.Set) error {
	w.Helper()
	return writer.Write(w.Context(), publisher.Change{Before: w.read(writer, name), After: after})
}

func set(name, kind string, ttl int64, targets ...string) publisher.Set {
	return publisher.Set{Name: name, Type: kind, TTL: ttl, Targets: targets, Mark: publisher.Mark{Resource: publisher.Resource("shop", "www")}}
}

// zone draws sets for names.
func zone(random *rand.Rand, names []string) []publisher.Set {
	var sets []publisher.Set
	drawn := func(format string) []string {
		var targets []string
		for range 1 + random.IntN(3) {
			targets = append(targets, fmt.Sprintf(format, 1+random.IntN(200)))
		}
		slices.Sort(targets)
		return slices.Compact(targets)
	}
	for _, name := range names {
		ttl := int64(random.IntN(3) * 60)
		kind := random.IntN(5)
		if kind == 1 && strings.HasPrefix(name, "a-") {
			kind = 2 // the mark of another name may be there, and a CNAME has no TXT record beside it
		}
		switch kind {
		case 0:
		case 1:
			sets = append(sets, set(name, "CNAME", ttl, fmt.Sprintf("target%d.else.example", random.IntN(3))))
		case 2:
			sets = append(sets, set(name, "AAAA", ttl, drawn("2001:db8::%x")...))
		case 3:
			sets = append(sets, set(name, "A", ttl, drawn("192.0.2.%d")...))
		default:
			sets = append(sets, set(name, "A", ttl, drawn("192.0.2.%d")...), set(name, "AAAA", ttl, drawn("2001:db8::%x")...))
		}
	}
	return sets
}

// TestExternalDNSPlansNothingAfterThePublisher moves generated zones to and fro between the built-in publisher and
// external-dns' provider: each finds nothing to do after the other.
func TestExternalDNSPlansNothingAfterThePublisher(t *testing.T) {
	logrus.SetOutput(io.Discard)
	random := rand.New(rand.NewPCG(sample.Seed(t), 21)) //nolint:gosec // a generated zone is no secret
	w := begin(t)
	names := []string{"www.corp.example", "www2.corp.example", "a-www.corp.example", "x.y.corp.example", "api.corp.example", "*.wild.corp.example"}
	affixes := []oracle.Marks{{}, {Prefix: "own."}, {Prefix: "%{record_type}.own-"}, {Suffix: "-own"}, {Suffix: "-%{record_type}-own", Wildcard: "any"}}
	for round := range sample.Cases(len(affixes), 20, 200) {
		m := affixes[round%len(affixes)]
		m.Owner = fmt.Sprintf("owner-%d", round)
		writer, upstream := w.open(w.settings(m)), w.externalDNS(m)
		var before []publisher.Set
		for step := range 6 {
			want := zone(random, names)
			if step%2 == 0 {
				oracle.Publish(w, writer, names, want)
				changes := upstream.Plan(t, want)
				assert.False(t, changes.HasChanges(), "external-dns changes what the publisher has written: %v; %+v after %+v", changes, want, before)
			} else {
				for range 3 { // a change to a CNAME takes it two loops: its first adds the CNAME before it removes the addresses
					upstream.Apply(t, want)
				}
				sent := w.tcp.Load()
				oracle.Publish(w, writer, names, want)
				assert.Equal(t, sent, w.tcp.Load(), "the publisher changes what external-dns has written: %+v after %+v", want, before)
			}
			before = want
		}
		oracle.Publish(w, writer, names, nil)
	}
}

// TestNamesOfAnExternalDNSAreAdopted: after the publisher has taken over generated zones, external-dns with the publisher's owner id
// plans nothing. External-dns with the owner id of before has nothing to remove. Records without a mark get one.
func TestNamesOfAnExternalDNSAreAdopted(t *testing.T) {
	logrus.SetOutput(io.Discard)
	random := rand.New(rand.NewPCG(sample.Seed(t), 5)) //nolint:gosec // a generated zone is no secret
	w := begin(t)
	names := []string{"www.corp.example", "x.y.corp.example", "api.corp.example", "*.wild.corp.example"}
	legacy, own := oracle.Marks{Owner: "legacy", Prefix: "own."}, oracle.Marks{Owner: "new", Prefix: "own."}
	writer := w.open(w.settings(own))
	for range sample.Cases(8, 30, 300) {
		want := zone(random, names)
		w.externalDNS(legacy).Apply(t, want)
		w.adopt(writer, names, want, "legacy")
		assert.False(t, w.externalDNS(own).Plan(t, want).HasChanges(), "%+v", want)
		assert.False(t, w.externalDNS(legacy).Plan(t, nil).HasChanges(), "%+v", want)
		oracle.Publish(w, writer, names, nil)
	}

	require.NoError(t, w.bind.Update(t.Context(),
		"update add other.corp.example. 60 A 192.0.2.8", "update add own.a-other.corp.example. 0 TXT \"heritage=external-dns,external-dns/owner=other\""))
	for _, from := range []string{"legacy", publisher.Unmarked} {
		change := publisher.Change{Before: w.read(writer, "other.corp.example"), After: []publisher.Set{set("other.corp.example", "A", 60, "192.0.2.9")}, Adopt: from}
		require.Equal(t, publisher.Foreign, fault.Of(writer.Write(t.Context(), change)), "it is a third owner's")
	}
	printer := []publisher.Set{set("printer.corp.example", "A", 1, "192.0.2.77")}
	w.adopt(writer, []string{"printer.corp.example"}, printer, publisher.Unmarked)
	assert.False(t, w.externalDNS(own).Plan(t, printer).HasChanges())
}

// adopt takes names over from an owner, which without an adoption is refused.
func (w *world) adopt(writer publisher.Writer, names []string, want []publisher.Set, from string) {
	w.Helper()
	for _, name := range names {
		after := slices.DeleteFunc(slices.Clone(want), func(s publisher.Set) bool { return s.Name != name })
		if len(after) == 0 {
			continue
		}
		change := publisher.Change{Before: w.read(writer, name), After: after}
		require.Equal(w, publisher.Foreign, fault.Of(writer.Write(w.Context(), change)), "%+v", after)
		change.Adopt = from
		require.NoError(w, writer.Write(w.Context(), change), "%+v", after)
	}
}

// TestAChangeIsOneUpdateAndReadsNoZone counts what goes over the wire beside 2,000 other names.
func TestAChangeIsOneUpdateAndReadsNoZone(t *testing.T) {
	w := begin(t)
	var lines []string
	for n := range 2000 {
		lines = append(lines, fmt.Sprintf("update add n%d.corp.example. 60 A 192.0.2.9", n))
		if len(lines) == 500 {
			require.NoError(t, w.bind.Update(t.Context(), lines...))
			lines = nil
		}
	}
	writer := w.open(w.settings(oracle.Marks{Owner: "one"}))
	const name = "www.corp.example"
	require.NoError(t, w.write(writer, name, set(name, "A", 60, "192.0.2.1")))
	w.tcp.Store(0)
	w.udp.Store(0)
	w.received.Store(0)
	require.NoError(t, w.write(writer, name, set(name, "A", 60, "192.0.2.2")))
	assert.Equal(t, int64(1), w.tcp.Load(), "one update")
	assert.Equal(t, int64(5), w.udp.Load(), "two questions for addresses, and three for marks")
	assert.Less(t, w.received.Load(), int64(4096), "no zone was transferred")
	require.NoError(t, w.write(writer, name, set(name, "A", 60, "192.0.2.2")))
	assert.Equal(t, int64(1), w.tcp.Load(), "what is as it should be is not written")
}

// TestANameWithoutATTLHasTheOneThatPlansReckonWith writes new names, and one that has a TTL of 0 from external-dns.
func TestANameWithoutATTLHasTheOneThatPlansReckonWith(t *testing.T) {
	w := begin(t)
	for n, given := range []parameters.Parameters{{}, {"min-ttl": "30s"}, {"rfc2136-min-ttl": "10m"}} {
		settings, name := w.settings(oracle.Marks{Owner: "one"}), fmt.Sprintf("new%d.corp.example", n)
		maps.Copy(settings.Parameters, given)
		writer, usual := w.open(settings), parameters.UsualTTL(settings.Parameters)
		require.NoError(t, w.write(writer, name, set(name, "A", 0, "192.0.2.1"), set(name, "AAAA", 900, "2001:db8::1")))
		written := w.read(writer, name).Sets
		assert.Equal(t, []int64{int64(usual.Seconds()), 900}, []int64{written[0].TTL, written[1].TTL}, "%v", given)
	}
	writer, old := w.open(w.settings(oracle.Marks{Owner: "one"})), set("old.corp.example", "A", 0, "192.0.2.1")
	w.externalDNS(oracle.Marks{Owner: "one"}).Apply(t, []publisher.Set{old})
	require.NoError(t, w.write(writer, old.Name, old))
	require.Zero(t, w.read(writer, old.Name).Sets[0].TTL, "it stays until something changes")
	old.Targets = []string{"192.0.2.1", "192.0.2.2"}
	require.NoError(t, w.write(writer, old.Name, old))
	assert.EqualValues(t, 300, w.read(writer, old.Name).Sets[0].TTL)
}

// TestNoInstantHasAnEmptyAnswer asks BIND all the time while the addresses of a name change.
func TestNoInstantHasAnEmptyAnswer(t *testing.T) {
	w := begin(t)
	writer := w.open(w.settings(oracle.Marks{Owner: "one"}))
	const name = "www.corp.example"
	require.NoError(t, w.write(writer, name, set(name, "A", 1, "192.0.2.1")))
	watch := dns.NewWatch(w.bind.Address, name)
	for n := range sample.Cases(100, 300, 3000) {
		require.NoError(t, w.write(writer, name, set(name, "A", 1, fmt.Sprintf("192.0.2.%d", 2+n%250))))
	}
	watch.Stop()
	answers := 0
	for _, seen := range watch.Seen() {
		answers += seen.Times
		assert.Equal(t, "NOERROR", seen.Code)
		assert.Len(t, seen.Targets, 1, "one address at each instant, the old one or the new one")
	}
	assert.GreaterOrEqual(t, answers, 20, "there were answers to judge")
}

// TestASuspendedWriterCannotWriteOverItsSuccessor has a second change that was read before the first one was
// written, for each kind of first change.
func TestASuspendedWriterCannotWriteOverItsSuccessor(t *testing.T) {
	w := begin(t)
	writer := w.open(w.settings(oracle.Marks{Owner: "one"}))
	n := 0
	for reason, first := range map[string]func(name string) []publisher.Set{
		"another address": func(name string) []publisher.Set { return []publisher.Set{set(name, "A", 60, "192.0.2.2")} },
		"one more address": func(name string) []publisher.Set {
			return []publisher.Set{set(name, "A", 60, "192.0.2.1", "192.0.2.2")}
		},
		"another type": func(name string) []publisher.Set { return []publisher.Set{set(name, "CNAME", 60, "else.example")} },
		"removed":      func(string) []publisher.Set { return nil },
	} {
		n++
		name := fmt.Sprintf("s%d.corp.example", n)
		t.Run(reason, func(t *testing.T) {
			require.NoError(t, w.write(writer, name, set(name, "A", 60, "192.0.2.1")))
			suspended := w.read(writer, name)
			require.NoError(t, w.write(writer, name, first(name)...))
			before := w.read(writer, name).Sets
			err := writer.Write(t.Context(), publisher.Change{Before: suspended, After: []publisher.Set{set(name, "A", 60, "192.0.2.1", "192.0.2.3")}})
			require.Equal(t, fault.Stale, fault.Of(err), "%v", err)
			assert.Equal(t, before, w.read(writer, name).Sets)
		})
	}
}

func TestNamesOfOthersStay(t *testing.T) {
	w := begin(t)
	require.NoError(t, w.bind.Update(t.Context(),
		"update add *.star.corp.example. 60 A 192.0.2.99", "update add text.corp.example. 60 TXT \"somebody's\"",
		"update add other.corp.example. 60 A 192.0.2.8", "update add a-other.corp.example. 0 TXT \"heritage=external-dns,external-dns/owner=other\""))
	writer := w.open(w.settings(oracle.Marks{Owner: "one"}))
	for name, kind := range map[string]fault.Kind{
		"printer.corp.example": publisher.Foreign, "other.corp.example": publisher.Foreign,
		"new.star.corp.example": "", "text.corp.example": "",
	} {
		err := w.write(writer, name, set(name, "A", 60, "192.0.2.1"))
		require.Equal(t, kind, fault.Of(err), "%s: %v", name, err)
		want := map[bool]string{true: "192.0.2.1"}[kind == ""]
		if kind == "" {
			got, err := dns.Query(t.Context(), w.bind.Address, name, "A")
			require.NoError(t, err)
			assert.Equal(t, []string{want}, got)
		}
	}
	err := w.write(writer, "text.corp.example", set("text.corp.example", "CNAME", 60, "else.example"))
	require.Equal(t, fault.Stale, fault.Of(err), "a CNAME has no place beside a text, and BIND would pass over it in silence: %v", err)
	for name, want := range map[string]string{"printer.corp.example": "192.0.2.77", "other.corp.example": "192.0.2.8", "x.star.corp.example": "192.0.2.99"} {
		got, err := dns.Query(t.Context(), w.bind.Address, name, "A")
		require.NoError(t, err)
		assert.Equal(t, []string{want}, got, name)
	}
}

// TestTwoProvidersOnOneZoneHaveKeysOfTheirOwn: the second one may write names below team alone. What either of them may not
// write stays as it is, and no mark is left behind.
func TestTwoProvidersOnOneZoneHaveKeysOfTheirOwn(t *testing.T) {
	w := &world{T: t}
	var err error
	w.bind, err = dns.NewBIND(t.Context(), t.TempDir(), &process.Ports{})
	require.NoError(t, err)
	const secret = "YW5vdGhlci1zZWNyZXQtZm9yLXRlYW1z"
	file := filepath.Join(w.bind.Dir, "named.conf")
	config, err := os.ReadFile(file)
	require.NoError(t, err)
	changed := strings.Replace(string(config), `allow-update { key "key1"; };`,
		`update-policy { grant key1 zonesub ANY; grant team subdomain team.corp.example. ANY; };`, 1)
	require.NotEqual(t, string(config), changed)
	require.NoError(t, os.WriteFile(file, []byte(changed+"\nkey team { algorithm "+w.bind.Algorithm+"; secret \""+secret+"\"; };\n"), 0o600))
	t.Cleanup(w.bind.Kill)
	require.NoError(t, w.bind.Start(t.Context()))

	all := w.open(w.settings(oracle.Marks{Owner: "all"}))
	s := w.settings(oracle.Marks{Owner: "team"})
	s.Parameters["rfc2136-tsig-keyname"], s.Environment["EXTERNAL_DNS_RFC2136_TSIG_SECRET"] = "team", secret
	team := w.open(s)
	put := func(writer publisher.Writer, name, address string) error {
		return w.write(writer, name, set(name, "A", 60, address))
	}
	require.NoError(t, put(all, "www.corp.example", "192.0.2.1"))
	require.NoError(t, put(team, "www.team.corp.example", "192.0.2.2"))

	err = put(team, "new.corp.example", "192.0.2.3")
	require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "REFUSED for zone corp.example.")
	require.ErrorContains(t, err, "allow key team. in its update policy")
	for name, by := range map[string]publisher.Writer{"www.corp.example": team, "www.team.corp.example": all} {
		err = put(by, name, "192.0.2.4")
		require.Equal(t, publisher.Foreign, fault.Of(err), "%v", err)
		require.ErrorContains(t, err, "belongs to owner")
	}
	left := w.read(all, "new.corp.example")
	assert.Empty(t, left.Sets)
	assert.Empty(t, left.Orphans)
	assert.Equal(t, []string{"192.0.2.1"}, w.read(team, "www.corp.example").Sets[0].Targets)
	assert.Equal(t, []string{"192.0.2.2"}, w.read(all, "www.team.corp.example").Sets[0].Targets)
}

// TestRecordsOfOtherTypesAreWrittenAndTakenOver: each type is answered as it was given, is left alone by the next write, and
// goes. Texts of somebody else stay, and are adopted in whatever strings they are.
func TestRecordsOfOtherTypesAreWrittenAndTakenOver(t *testing.T) {
	w := begin(t)
	writer := w.open(w.settings(oracle.Marks{Owner: "one", Prefix: "own."}))
	others := []string{"CAA", "MX", "PTR", "SRV", "TXT"}
	write := func(name, adopt string, after ...publisher.Set) error {
		states, err := writer.Read(t.Context(), []string{name}, others...)
		require.NoError(t, err)
		return writer.Write(t.Context(), publisher.Change{Before: states[name], After: after, Adopt: adopt})
	}
	const name, service = "rich.corp.example", "_sip._tcp.corp.example"
	long := strings.Repeat("x", 300)
	want := []publisher.Set{
		set(name, "CAA", 60, `0 issue "letsencrypt.org"`), set(name, "MX", 60, "10 mail.corp.example"), set(name, "PTR", 60, "www.corp.example"),
		set(name, "TXT", 60, parameters.QuoteText(`v=spf1 "x" \ ; mx`), parameters.QuoteText(long)),
	}
	require.ErrorContains(t, write(name, "", want...), "BIND refuses an MX record, too, whose host in the zone has no address")
	require.NoError(t, w.bind.Update(t.Context(), "update add mail.corp.example. 60 A 192.0.2.25"))
	require.NoError(t, write(name, "", want...))
	srv := set(service, "SRV", 60, "10 50 5060 sip.corp.example")
	require.NoError(t, write(service, "", srv))
	for kind, answer := range map[string][]string{
		"CAA": {`0 issue "letsencrypt.org"`}, "MX": {"10 mail.corp.example."}, "PTR": {"www.corp.example."},
		"TXT": {`"v=spf1 \"x\" \\ ; mx"`, `"` + long[:255] + `" "` + long[255:] + `"`},
	} {
		got, err := dns.Query(t.Context(), w.bind.Address, name, kind)
		require.NoError(t, err)
		assert.ElementsMatch(t, answer, got, kind)
	}
	before := w.tcp.Load()
	require.NoError(t, write(name, "", want...))
	require.Equal(t, before, w.tcp.Load(), "nothing is sent")
	require.NoError(t, write(name, "", want[0]))
	states, err := writer.Read(t.Context(), []string{name}, others...)
	require.NoError(t, err)
	require.Len(t, states[name].Sets, 1, "the other types are gone")
	require.NoError(t, write(name, ""))
	srv.Targets = []string{"10 50 5061 sip.corp.example"}
	require.NoError(t, write(service, "", srv))
	answer, err := dns.Query(t.Context(), w.bind.Address, service, "SRV")
	require.NoError(t, err)
	require.Equal(t, []string{"10 50 5061 sip.corp.example."}, answer)
	require.NoError(t, w.bind.Update(t.Context(), `update add text.corp.example. 60 TXT "v=spf1 " "mx"`))
	spf := set("text.corp.example", "TXT", 60, `"v=spf1 mx"`)
	require.Equal(t, publisher.Foreign, fault.Of(write("text.corp.example", "", spf)))
	require.NoError(t, write("text.corp.example", publisher.Unmarked, spf))
	require.NoError(t, write("text.corp.example", ""))
	got, err := dns.Query(t.Context(), w.bind.Address, "text.corp.example", "TXT")
	require.NoError(t, err)
	assert.Empty(t, got)
}

// TestAZoneIsListedAsBINDTransfersIt: own names, those of an external-dns, and those without a mark.
func TestAZoneIsListedAsBINDTransfersIt(t *testing.T) {
	w := begin(t)
	s := w.settings(oracle.Marks{Owner: "one", Prefix: "own."})
	require.NoError(t, w.write(w.open(s), "www.corp.example", set("www.corp.example", "A", 60, "192.0.2.1")))
	require.NoError(t, w.bind.Update(t.Context(),
		"update add legacy.corp.example. 300 A 192.0.2.7", `update add a-legacy.corp.example. 0 TXT "heritage=external-dns,external-dns/owner=legacy"`,
		"update add mail.corp.example. 60 A 192.0.2.25", "update add corp.example. 60 MX 10 mail.corp.example.", `update add text.corp.example. 60 TXT "a b" "c"`))
	const most = 1000
	sets, err := open.List(t.Context(), s, most, nil)
	require.NoError(t, err)
	sets = slices.DeleteFunc(sets, func(s publisher.Set) bool { return s.Name == "ns.corp.example" || s.Name == "printer.corp.example" }) // of the zone file
	require.Equal(t, []publisher.Set{
		{Name: "corp.example", Type: "MX", Targets: []string{"10 mail.corp.example."}, TTL: 60},
		{Name: "legacy.corp.example", Type: "A", Targets: []string{"192.0.2.7"}, TTL: 300, Mark: publisher.Mark{Owner: "legacy"}},
		{Name: "mail.corp.example", Type: "A", Targets: []string{"192.0.2.25"}, TTL: 60},
		{Name: "text.corp.example", Type: "TXT", Targets: []string{`"a b" "c"`}, TTL: 60},
		{Name: "www.corp.example", Type: "A", Targets: []string{"192.0.2.1"}, TTL: 60, Mark: publisher.Mark{Owner: "one", Resource: publisher.Resource("shop", "www")}},
	}, sets)

	s.Environment = map[string]string{}
	s.Parameters["rfc2136-insecure"] = true
	_, err = open.List(t.Context(), s, most, nil)
	require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "allow-transfer in BIND")
}

// TestErrorsHaveTheServersWords asks BIND for what it does not do.
func TestErrorsHaveTheServersWords(t *testing.T) {
	w := begin(t)
	for reason, c := range map[string]struct {
		change func(*publisher.Settings)
		name   string
		fault  fault.Kind
		says   string
	}{
		"another secret": {func(s *publisher.Settings) {
			s.Environment["EXTERNAL_DNS_RFC2136_TSIG_SECRET"] = "YW5vdGhlci1zZWNyZXQ="
		}, "", fault.Refused, "BADSIG"},
		"another key": {func(s *publisher.Settings) { s.Parameters["rfc2136-tsig-keyname"] = "nobody" }, "", fault.Refused, "BADKEY"},
		"a clock that is fast": {func(s *publisher.Settings) {
			s.Now = func() time.Time { return time.Now().Add(time.Hour) }
		}, "", fault.Refused, "answers BADTIME: its clock is 1h0m0s behind Signpost's, and they may differ by 300 seconds; set the clocks"},
		"a clock that is slow": {func(s *publisher.Settings) {
			s.Now = func() time.Time { return time.Now().Add(-10 * time.Minute) }
		}, "", fault.Refused, "its clock is 10m0s ahead of Signpost's"},
		"no signature":      {func(s *publisher.Settings) { s.Parameters["rfc2136-insecure"] = "true" }, "", fault.Refused, "REFUSED"},
		"another zone":      {func(s *publisher.Settings) { s.Parameters["rfc2136-zone"] = "else.example" }, "www.else.example", fault.Refused, "REFUSED"},
		"outside the zones": {func(*publisher.Settings) {}, "www.else.example", publisher.Invalid, "in none of the zones"},
		"a closed port":     {func(s *publisher.Settings) { s.Parameters["rfc2136-port"] = "1" }, "", fault.Unreachable, "refused"},
	} {
		t.Run(reason, func(t *testing.T) {
			s := w.settings(oracle.Marks{Owner: "one"})
			c.change(&s)
			writer := w.open(s)
			name := c.name
			if name == "" {
				name = "www.corp.example"
			}
			states, err := writer.Read(t.Context(), []string{name})
			if err == nil {
				err = writer.Write(t.Context(), publisher.Change{Before: states[name], After: []publisher.Set{set(name, "A", 60, "192.0.2.1")}})
			}
			require.Equal(t, c.fault, fault.Of(err), "%v", err)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

// TestAServerThatDiesBetweenTwoWrites keeps what it has taken, and the writer goes on when it is back.
func TestAServerThatDiesBetweenTwoWrites(t *testing.T) {
	w := begin(t)
	writer := w.open(w.settings(oracle.Marks{Owner: "one"}))
	const name = "www.corp.example"
	require.NoError(t, w.write(writer, name, set(name, "A", 60, "192.0.2.1")))
	before := w.read(writer, name)
	w.bind.Kill()
	err := writer.Write(t.Context(), publisher.Change{Before: before, After: []publisher.Set{set(name, "A", 60, "192.0.2.2")}})
	require.Equal(t, fault.Unreachable, fault.Of(err), "%v", err)
	require.NoError(t, w.bind.Start(t.Context()))
	require.NoError(t, w.write(writer, name, set(name, "A", 60, "192.0.2.2")))
	got, err := dns.Query(t.Context(), w.bind.Address, name, "A")
	require.NoError(t, err)
	assert.Equal(t, []string{"192.0.2.2"}, got)
}

// TestAKilledPublisherLeavesNothingHalfDone kills it before and after its writes.
func TestAKilledPublisherLeavesNothingHalfDone(t *testing.T) {
	w := begin(t)
	crash.AtEachWrite(t, crash.Server{
		Zone: dns.BINDZone, Owner: "one", Stranger: "printer." + dns.BINDZone,
		Open: func() publisher.Writer { return w.open(w.settings(oracle.Marks{Owner: "one"})) },
		Unmark: func(t *testing.T, of string) {
			t.Helper()
			require.NoError(t, w.bind.Update(t.Context(), "update delete a-"+of+". TXT"))
		},
	})
}

// TestTheNamesOfAnOwnerAreListed by a transfer, and those of no other.
func TestTheNamesOfAnOwnerAreListed(t *testing.T) {
	w := begin(t)
	s := w.settings(oracle.Marks{Owner: "one", Prefix: "%{record_type}.own-"})
	s.Parameters["rfc2136-tsig-axfr"] = true
	owned := func() ([]publisher.Set, error) { return w.open(s).(publisher.Owning).Owned(t.Context()) }
	for name, owner := range map[string]string{"www.corp.example": "one", "other.corp.example": "two"} {
		of := s
		of.Owner = owner
		require.NoError(t, w.write(w.open(of), name, set(name, "A", 60, "192.0.2.1")))
	}
	listed, err := owned()
	require.NoError(t, err)
	want := set("www.corp.example", "A", 60, "192.0.2.1")
	want.Mark.Owner = "one"
	assert.Equal(t, []publisher.Set{want}, listed)

	s.Parameters["rfc2136-insecure"] = "true"
	_, err = owned()
	require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "allow-transfer")
	for parameter, value := range map[string]any{"policy": "upsert-only", "rfc2136-tsig-axfr": false} {
		before := s.Parameters[parameter]
		s.Parameters[parameter] = value
		_, err = owned()
		require.Equal(t, publisher.Unlisted, fault.Of(err), "%s: %v", parameter, err)
		s.Parameters[parameter] = before
	}
}
