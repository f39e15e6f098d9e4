package verify

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/rdata"
)

// impatient is how long a server is waited for that does not answer.
const impatient = time.Second

// local is a verifier that may ask servers of this machine.
func local(resolvers ...*nameserver) *Verifier {
	return New(Options{AllowLocal: true, Timeout: 5 * time.Second, Resolvers: at(resolvers...)})
}

func at(servers ...*nameserver) func() []netip.AddrPort {
	return func() []netip.AddrPort {
		var out []netip.AddrPort
		for _, s := range servers {
			out = append(out, s.address)
		}
		return out
	}
}

func (s *nameserver) verifies(t *testing.T, q Question) Finding {
	t.Helper()
	return local().Verify(t.Context(), q, []netip.AddrPort{s.address})
}

func TestEachTypeIsAskedAndRead(t *testing.T) {
	t.Parallel()
	s := serve(t,
		"www.lab.example. 30 IN A 203.0.113.20", "www.lab.example. 30 IN A 203.0.113.10",
		"www.lab.example. 60 IN AAAA 2001:DB8:0:0::10", "alias.lab.example. 5 IN CNAME LB.cloud.example.",
		"_https._tcp.lab.example. 5 IN SRV 0 90 443 Berlin.lab.example.", "*.any.lab.example. 5 IN A 203.0.113.30")
	for _, c := range []struct {
		name, kind string
		targets    []string
		ttl        int64
	}{
		{"www.lab.example", "A", []string{"203.0.113.10", "203.0.113.20"}, 30},
		{"www.lab.example", "AAAA", []string{"2001:db8::10"}, 60},
		{"alias.lab.example", "CNAME", []string{"lb.cloud.example"}, 5},
		{"_https._tcp.lab.example", "SRV", []string{"0 90 443 berlin.lab.example"}, 5},
		{"*.any.lab.example", "A", []string{"203.0.113.30"}, 5},
	} {
		f := s.verifies(t, Question{Name: c.name, Type: c.kind, Sets: [][]string{c.targets}})
		assert.Equal(t, Matches, f.Verdict, "%s %s: %s", c.name, c.kind, f.Message)
		require.Len(t, f.Answers, 1)
		assert.Equal(t, c.targets, f.Answers[0].Targets)
		assert.Equal(t, c.ttl, f.Answers[0].TTL)
		assert.Equal(t, s.address.String(), f.Answers[0].Server)
		assert.WithinDuration(t, time.Now(), f.Answers[0].At, time.Minute)
	}
	f := s.verifies(t, www([]string{"203.0.113.10"}).changed(func(q *Question) { q.Name = "alias.lab.example" }))
	assert.Equal(t, Foreign, f.Verdict, "an alias that nobody has marked stands in its place")
	assert.Equal(t, []string{"lb.cloud.example"}, f.Answers[0].Targets)
}

// TestAnAliasIsSeenThatIsFollowedAlone, as CoreDNS does with etcd.
func TestAnAliasIsSeenThatIsFollowedAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, "alias.lab.example. 5 IN CNAME lb.cloud.example.", "www.lab.example. 30 IN A 203.0.113.10")
	s.set(func() { s.shy = true })
	q := Question{Name: "alias.lab.example", Type: "CNAME", Sets: [][]string{{"lb.cloud.example"}}}
	f := s.verifies(t, q)
	assert.Equal(t, Matches, f.Verdict, f.Message)
	assert.Equal(t, []string{"lb.cloud.example"}, f.Answers[0].Targets)
	assert.Equal(t, StillThere, s.verifies(t, q.changed(func(q *Question) { q.Leaving = true })).Verdict)
	assert.Equal(t, Differs, s.verifies(t, q.changed(func(q *Question) { q.Sets = [][]string{{"other.cloud.example"}} })).Verdict)
	assert.Equal(t, NotThere, s.verifies(t, q.changed(func(q *Question) { q.Name = "www.lab.example" })).Verdict)
}

// TestACNAMEWhoseTargetIsGoneHasNoAddress, at servers that answer the CNAME, and at CoreDNS,
// which denies it then. It costs one question more.
func TestACNAMEWhoseTargetIsGoneHasNoAddress(t *testing.T) {
	t.Parallel()
	soa := "lab.example. 60 IN SOA ns.lab.example. admin.lab.example. 1 2 3 4 5"
	alias := "alias.lab.example. 5 IN CNAME www.lab.example."
	q := Question{Name: "alias.lab.example", Type: "CNAME", Sets: [][]string{{"www.lab.example"}}}
	for name, c := range map[string]struct {
		records []string
		asks    int
		change  func(*Question)
		want    Verdict
		says    string
	}{
		"an address":               {records: []string{soa, alias, "www.lab.example. 30 IN A 203.0.113.10"}, asks: 2, want: Matches},
		"no target":                {records: []string{soa, alias}, asks: 2, want: NoTargetAddress, says: "answers www.lab.example, and its target has no address: there is no such name"},
		"no target, and no CNAME":  {records: []string{soa}, asks: 3, want: NoTargetAddress, says: "has no CNAME record for alias.lab.example (NXDOMAIN), and its target www.lab.example has no address: there is no such name"},
		"another type":             {records: []string{soa, alias, "www.lab.example. 30 IN AAAA 2001:db8::1"}, asks: 2, want: Matches},
		"a zone that is not known": {records: []string{alias}, asks: 2, want: Matches},
		"the root":                 {records: []string{strings.Replace(soa, "lab.example.", ".", 1), alias}, asks: 2, want: Matches},
		"another target":           {records: []string{soa, "alias.lab.example. 5 IN CNAME other.lab.example."}, asks: 1, want: Differs, says: "answers other.lab.example in place of www.lab.example"},
		"a CNAME that leaves":      {records: []string{soa, alias}, change: func(q *Question) { q.Leaving = true }, asks: 1, want: StillThere, says: "still answers www.lab.example"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, q := serve(t, c.records...), q
			if c.change != nil {
				q = q.changed(c.change)
			}
			f := s.verifies(t, q)
			assert.Equal(t, c.want, f.Verdict, f.Message)
			assert.Len(t, s.questions(), c.asks)
			if c.says != "" {
				assert.Equal(t, s.address.String()+" "+c.says, f.Message)
			}
		})
	}
}

// TestAServerThatAnswersTooMuchLeavesTheQuestionOpen (I6) checks that nothing is kept
// of it, neither when the name is looked for nor when it is being given up.
func TestAServerThatAnswersTooMuchLeavesTheQuestionOpen(t *testing.T) {
	t.Parallel()
	records := []string{"www.lab.example. 30 IN A 203.0.113.10"}
	for n := range 2000 { // 62 KB on the wire
		records = append(records, fmt.Sprintf("www.lab.example. 30 IN A 192.168.%d.%d", n/256, n%256))
	}
	s := serve(t, records...)
	s.set(func() { s.truncate = true })
	for _, leaving := range []bool{false, true} {
		f := s.verifies(t, www([]string{"203.0.113.10"}).changed(func(q *Question) { q.Leaving = leaving }))
		require.Equal(t, Unreachable, f.Verdict, f.Message)
		require.Contains(t, f.Message, "longer than 16384 bytes together")
		require.Empty(t, f.Answers[0].Targets)
		require.Less(t, len(f.Message), 1000)
	}
}

func TestWhatDoesNotFitIsAskedByTCP(t *testing.T) {
	t.Parallel()
	var records, targets []string
	for i := range 100 { // 1.6 KB
		targets = append(targets, fmt.Sprintf("203.0.113.%d", i))
		records = append(records, "www.lab.example. 30 IN A "+targets[i])
	}
	s := serve(t, records...)
	s.set(func() { s.truncate = true })
	assert.Equal(t, Matches, s.verifies(t, www(targets)).Verdict)
	assert.Equal(t, []string{"udp www.lab.example. A", "tcp www.lab.example. A"}, s.questions())
}

func TestWhoseADifferentAnswerIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		mark   string
		want   Verdict
	}{
		{"ours, and behind", `"heritage=external-dns,external-dns/owner=sp-1,external-dns/resource=crd/shop/web"`, Differs},
		{"another external-dns'", `"heritage=external-dns,external-dns/owner=sp-2"`, Foreign},
		{"somebody's who writes texts", `"v=spf1 -all"`, Foreign},
	} {
		s := serve(t, "www.lab.example. 30 IN A 203.0.113.99", "a-www.lab.example. 30 IN TXT "+c.mark)
		assert.Equal(t, c.want, s.verifies(t, www([]string{"203.0.113.10"})).Verdict, c.reason)
	}
	s := serve(t, "www.lab.example. 30 IN A 203.0.113.99")
	assert.Equal(t, Foreign, s.verifies(t, www([]string{"203.0.113.10"})).Verdict, "nobody has marked it")
	unmarked := www([]string{"203.0.113.10"}).changed(func(q *Question) { q.Owner = "" })
	assert.Equal(t, Differs, s.verifies(t, unmarked).Verdict, "without a registry in DNS nobody knows whose it is")
	s.add("www.corp.example. 30 IN A 203.0.113.10")
	before := len(s.questions())
	s.verifies(t, www([]string{"203.0.113.10"}).changed(func(q *Question) { q.Name = "www.corp.example" }))
	assert.Len(t, s.questions(), before+1, "whose a right answer is, is not asked")
}

// TestWhoseATargetIsThatStays: another external-dns may have been given it, too.
func TestWhoseATargetIsThatStays(t *testing.T) {
	t.Parallel()
	for owner, want := range map[string]Verdict{"sp-1": StillThere, "sp-2": Foreign} {
		s := serve(t, "www.lab.example. 30 IN A 203.0.113.10", `a-www.lab.example. 30 IN TXT "heritage=external-dns,external-dns/owner=`+owner+`"`)
		leaving := www([]string{"203.0.113.10"}).changed(func(q *Question) { q.Leaving = true })
		assert.Equal(t, want, s.verifies(t, leaving).Verdict, owner)
	}
}

func TestAddressesOfTheMachineItselfAreNotDialled(t *testing.T) {
	t.Parallel()
	s := serve(t, "www.lab.example. 30 IN A 203.0.113.10")
	strict := New(Options{Resolvers: at()})
	for _, server := range []string{
		s.address.String(), "[::1]:53", "[::ffff:127.0.0.1]:53", "0.0.0.0:53", "[::]:53", "169.254.169.254:53", "[fe80::1]:53", "224.0.0.1:53",
	} {
		f := strict.Verify(t.Context(), www([]string{"203.0.113.10"}), []netip.AddrPort{netip.MustParseAddrPort(server)})
		assert.Equal(t, Forbidden, f.Verdict, "%s: %s", server, f.Message)
		assert.Contains(t, f.Message, "--allow-local-verify")
	}
	assert.Empty(t, s.questions(), "nothing was sent")
}

func TestAServerThatAnswersNothing(t *testing.T) {
	t.Parallel()
	s, right := serve(t), serve(t, "www.lab.example. 30 IN A 203.0.113.10")
	s.set(func() { s.mute = true })
	v := New(Options{AllowLocal: true, Timeout: impatient})
	for range 2 * silentAtMost {
		f := v.Verify(t.Context(), www([]string{"203.0.113.10"}), []netip.AddrPort{s.address, right.address})
		assert.Equal(t, Unreachable, f.Verdict)
		assert.Contains(t, f.Message, s.address.String()+" does not answer: no answer by UDP within 1s")
		assert.Equal(t, []string{"203.0.113.10"}, f.Answers[1].Targets, "the other one is heard all the same")
	}
	assert.Len(t, s.questions(), silentAtMost, "it is left alone for a while then")
	assert.Len(t, right.questions(), 2*silentAtMost)
}

// TestAQuestionThatIsGivenUpSaysNothingOfTheServer, which had no time to answer.
func TestAQuestionThatIsGivenUpSaysNothingOfTheServer(t *testing.T) {
	t.Parallel()
	s := serve(t, "www.lab.example. 30 IN A 203.0.113.10")
	s.set(func() { s.mute = true })
	v := New(Options{AllowLocal: true, Timeout: impatient})
	for range silentAtMost {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		require.Error(t, v.client.ask(ctx, s.address, "www.lab.example", "A").Err)
		cancel()
	}
	s.set(func() { s.mute = false })
	require.NoError(t, v.client.ask(t.Context(), s.address, "www.lab.example", "A").Err)
}

func TestServersThatDoNotSpeakForTheZone(t *testing.T) {
	t.Parallel()
	s := serve(t, "www.lab.example. 30 IN A 203.0.113.10")
	s.set(func() { s.lame = true })
	assert.Equal(t, NotAuthoritative, s.verifies(t, www([]string{"203.0.113.10"})).Verdict)
	s.set(func() { s.lame, s.rcode = false, dns.RcodeRefused })
	assert.Equal(t, Refused, s.verifies(t, www([]string{"203.0.113.10"})).Verdict)
}

func TestOneServerIsNotAskedTooMuch(t *testing.T) {
	t.Parallel()
	s := serve(t, "www.lab.example. 30 IN A 203.0.113.10")
	v := local()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for ctx.Err() == nil {
		v.Verify(ctx, www([]string{"203.0.113.10"}), []netip.AddrPort{s.address})
	}
	assert.LessOrEqual(t, len(s.questions()), 2*perServer+1, "a burst, and a second's worth")
}

func TestTheServersOfAZoneAreFound(t *testing.T) {
	t.Parallel()
	const soa = " 60 IN SOA ns.lab.example. hostmaster.lab.example. 1 3600 600 86400 1"
	resolver := serve(t, "."+soa, "lab.example."+soa, "lab.example. 60 IN NS ns2.lab.example.", "lab.example. 60 IN NS ns1.lab.example.",
		"ns1.lab.example. 60 IN A 192.0.2.1", "ns1.lab.example. 60 IN AAAA 2001:db8::1", "ns2.lab.example. 60 IN AAAA 2001:db8::2",
		"alias.lab.example. 60 IN CNAME www.elsewhere.test.",
		"below.lab.example."+soa, "below.lab.example. 60 IN NS ns.unknown.example.",
		"self.lab.example."+soa, "self.lab.example. 60 IN NS ns.self.lab.example.", "ns.self.lab.example. 60 IN A 127.0.0.1")
	dead := serve(t)
	dead.set(func() { dead.rcode = dns.RcodeServerFailure })
	v := New(Options{Resolvers: at(dead, resolver)})
	for _, c := range []struct {
		reason, name string
		want         string
	}{
		{"a name", "www.lab.example", "192.0.2.1:53 [2001:db8::2]:53"},
		{"a name deep below", "a.b.c.lab.example", "192.0.2.1:53 [2001:db8::2]:53"},
		{"the apex", "lab.example", "192.0.2.1:53 [2001:db8::2]:53"},
		{"a wildcard", "*.lab.example", "192.0.2.1:53 [2001:db8::2]:53"},
		{"an alias leads elsewhere", "alias.lab.example", "192.0.2.1:53 [2001:db8::2]:53"},
		{"a server without an address", "www.below.lab.example", "names no servers that have an address; give them in the record's verify.servers"},
		{"a zone that nobody delegates", "www.private.test", `the nearest zone that Signpost's resolver knows is "."; give them in the record's verify.servers`},
	} {
		servers, err := v.finder.serversOf(t.Context(), c.name)
		if err != nil {
			assert.Contains(t, err.Error(), c.want, c.reason)
			continue
		}
		var got []string
		for _, s := range servers {
			got = append(got, s.String())
		}
		assert.Equal(t, c.want, strings.Join(got, " "), c.reason)
	}
	before := len(resolver.questions())
	_, err := v.finder.serversOf(t.Context(), "www.lab.example")
	require.NoError(t, err)
	assert.Len(t, resolver.questions(), before, "what was found is remembered")
	_, err = v.finder.serversOf(t.Context(), "beside.lab.example")
	require.NoError(t, err)
	assert.Len(t, resolver.questions(), before+1, "a name of a known zone costs the question which zone it is in")

	f := v.Verify(t.Context(), www([]string{"203.0.113.10"}).changed(func(q *Question) { q.Name = "www.self.lab.example" }), nil)
	assert.Equal(t, Forbidden, f.Verdict, "a zone's own server is at a forbidden address")
	f = New(Options{Resolvers: at()}).Verify(t.Context(), www([]string{"203.0.113.10"}), nil)
	assert.Equal(t, NoServers, f.Verdict)
	assert.Contains(t, f.Message, "this machine has no resolver")
}

// TestWhatIsKeptInMindIsBounded: names and servers come and go.
func TestWhatIsKeptInMindIsBounded(t *testing.T) {
	t.Parallel()
	v := New(Options{Resolvers: at()})
	for i := range foundAtMost + 10 {
		_, err := v.finder.serversOf(t.Context(), fmt.Sprintf("n%d.lab.example", i))
		require.Error(t, err)
	}
	_, known := v.finder.zones.Get("n0.lab.example")
	assert.False(t, known, "the oldest is forgotten")
	for i := range 3 * serversAtATime {
		v.client.server(netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), dnsPort))
	}
	assert.LessOrEqual(t, len(v.client.servers), serversAtATime)
}

// TestAZoneThatNamesManyServersIsAskedForFew: whoever writes a zone's NS records
// may not have Signpost ask for thousands of names.
func TestAZoneThatNamesManyServersIsAskedForFew(t *testing.T) {
	t.Parallel()
	zone := []string{"lab.example. 60 IN SOA ns.lab.example. root.lab.example. 1 60 60 60 60"}
	for i := range 1000 {
		zone = append(zone, fmt.Sprintf("lab.example. 60 IN NS n%d.victim.example.", i))
	}
	resolver := serve(t, zone...)
	resolver.set(func() { resolver.truncate = true })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f := local(resolver).Verify(ctx, www([]string{"203.0.113.10"}), nil)
	assert.Equal(t, NoServers, f.Verdict, f.Message)
	require.NoError(t, ctx.Err())
	assert.LessOrEqual(t, len(resolver.questions()), 4*MostServers+8, "two questions for each, some twice as they are truncated")
}

// TestServersThatCannotBeFoundDoNotHideTheOthers of the same zone.
func TestServersThatCannotBeFoundDoNotHideTheOthers(t *testing.T) {
	t.Parallel()
	resolver := serve(t, "lab.example. 60 IN SOA ns.lab.example. root.lab.example. 1 60 60 60 60",
		"lab.example. 60 IN NS a.broken.example.", "lab.example. 60 IN NS ns.lab.example.", "ns.lab.example. 60 IN A 192.0.2.53")
	resolver.set(func() { resolver.broken = "broken.example" })
	servers, err := local(resolver).finder.serversOf(t.Context(), "www.lab.example")
	require.NoError(t, err)
	assert.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("192.0.2.53:53")}, servers)
	resolver.set(func() { resolver.broken = "example" })
	_, err = local(resolver).finder.serversOf(t.Context(), "www.lab.example")
	assert.ErrorContains(t, err, "SERVFAIL")
}

// FuzzAnswers reads whatever a server may send: nothing that it says of other
// names counts, values are canonical, and the verdict is one of those that there
// are.
func FuzzAnswers(f *testing.F) {
	m := new(dns.Msg).SetQuestion("www.lab.example.", dns.TypeA)
	m.Response, m.Authoritative = true, true
	for _, text := range []string{
		"www.lab.example. 30 IN A 203.0.113.10", "www.lab.example. 30 IN CNAME b.example.", "www.lab.example. 30 IN AAAA ::ffff:1.2.3.4",
		"www.lab.example. 30 IN SRV 0 1 2 B.example.", "www.lab.example. 30 IN TXT a b", "www.lab.example. 30 CH A 1.2.3.4", "b.example. 1 IN A 1.2.3.4",
	} {
		rr, err := dns.NewRR(text)
		if err != nil {
			f.Fatal(err)
		}
		m.Answer = append(m.Answer, rr)
		raw, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, byte(0))
	}
	kinds := []string{"A", "AAAA", "CNAME", "SRV", "TXT", "NS"}
	f.Fuzz(func(t *testing.T, raw []byte, pick byte) {
		m, kind := new(dns.Msg), kinds[int(pick)%len(kinds)]
		if m.Unpack(raw) != nil {
			return
		}
		r := read(m, "www.lab.example", kind)
		assert.True(t, slices.IsSorted(r.Values))
		for _, value := range r.Values {
			assert.NotEmpty(t, value)
			if address, err := netip.ParseAddr(value); kind == "A" || kind == "AAAA" {
				assert.NoError(t, err)
				assert.Equal(t, address.String(), value)
			}
		}
		if !slices.ContainsFunc(m.Answer, func(rr dns.RR) bool { return rdata.Host(rr.Header().Name) == "www.lab.example" }) {
			assert.Empty(t, r.said())
		}
		q := Question{Name: "www.lab.example", Type: kind, Sets: [][]string{{"203.0.113.10"}}}
		verdict, _ := q.judge(r)
		assert.GreaterOrEqual(t, verdict.rank(), 0)
		if verdict == Matches {
			assert.Equal(t, []string{"203.0.113.10"}, r.Values)
		}
		finding := Judge(q, []Reply{r})
		assert.LessOrEqual(t, len(finding.Answers[0].Targets), mostTargets)
	})
}
