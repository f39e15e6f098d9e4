package guard

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

func rules(t testing.TB, texts ...string) Rules {
	t.Helper()
	parsed, err := Parse(Servers, texts)
	require.NoError(t, err)
	return parsed
}

func names(at map[string]string) func(context.Context, string) ([]netip.Addr, error) {
	return func(_ context.Context, host string) ([]netip.Addr, error) {
		text, ok := at[host]
		if !ok {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		var addresses []netip.Addr
		for one := range strings.SplitSeq(text, ",") {
			addresses = append(addresses, netip.MustParseAddr(one))
		}
		return addresses, nil
	}
}

// TestOnlyListedOrPublicServersAreDialled has for each kind of address, and for each part of a rule,
// one that is allowed and one that is not.
func TestOnlyListedOrPublicServersAreDialled(t *testing.T) {
	at := map[string]string{
		"ns.corp.example": "10.1.2.3", "public.example": "9.9.9.9", "rebound.example": "169.254.169.254",
		"both.example": "127.0.0.1,9.9.9.9", "etcd.signpost": "10.9.9.9", "local.example": "127.0.0.1",
	}
	for _, c := range []struct {
		reason         string
		rules          []string
		address, scope string
		fault          fault.Kind
		says           string
	}{
		{"a public address", nil, "9.9.9.9:53", "corp.example", "", ""},
		{"a public IPv6 address", nil, "[2620:fe::fe]:53", "", "", ""},
		{"a name of a public address", nil, "public.example:53", "", "", ""},
		{"loopback", nil, "127.0.0.1:53", "", publisher.Forbidden, "a loopback address"},
		{"IPv6 loopback", nil, "[::1]:53", "", publisher.Forbidden, "a loopback address"},
		{"loopback in IPv6 clothes", nil, "[::ffff:127.0.0.1]:53", "", publisher.Forbidden, "a loopback address"},
		{"private", nil, "10.0.0.1:53", "", publisher.Forbidden, "a private address"},
		{"private IPv6", nil, "[fd12::1]:53", "", publisher.Forbidden, "a private address"},
		{"metadata", nil, "169.254.169.254:80", "", publisher.Forbidden, "metadata"},
		{"metadata of Azure, which looks public", nil, "168.63.129.16:80", "", publisher.Forbidden, "metadata"},
		{"metadata of Amazon over IPv6", nil, "[fd00:ec2::254]:80", "", publisher.Forbidden, "metadata"},
		{"metadata behind NAT64", nil, "[64:ff9b::a9fe:a9fe]:80", "", publisher.Forbidden, "metadata"},
		{"a private address behind 6to4", nil, "[2002:a00:1::1]:53", "", publisher.Forbidden, "not a public address"},
		{"the addresses of providers' own networks", nil, "100.64.0.1:53", "", publisher.Forbidden, "not a public address"},
		{"this machine", nil, "0.0.0.0:53", "", publisher.Forbidden, "unspecified"},
		{"a name that is private", nil, "ns.corp.example:53", "", publisher.Forbidden, "ns.corp.example (10.1.2.3:53) is a private address"},
		{"a name that was rebound", nil, "rebound.example:53", "", publisher.Forbidden, "metadata"},
		{"a name with one address that may be dialled", nil, "both.example:53", "", "", ""},
		{"an unknown name", nil, "nobody.example:53", "", fault.Unreachable, "no such host"},
		{"no port", nil, "9.9.9.9", "", publisher.Invalid, "not HOST:PORT"},

		{"a listed address", []string{"127.0.0.1"}, "127.0.0.1:5353", "", "", ""},
		{"a listed address at another port", []string{"127.0.0.1:53"}, "127.0.0.1:5353", "", publisher.Forbidden, "loopback"},
		{"a listed network", []string{"10.0.0.0/8:53=corp.example"}, "10.1.2.3:53", "eu.corp.example", "", ""},
		{"its zone alone", []string{"10.0.0.0/8:53=corp.example"}, "10.1.2.3:53", "other.example", publisher.Forbidden, "private"},
		{"a zone is no end of a text", []string{"10.0.0.0/8=corp.example"}, "10.1.2.3:53", "evilcorp.example", publisher.Forbidden, "private"},
		{"a zone for no zone", []string{"10.0.0.0/8=corp.example"}, "10.1.2.3:53", "", publisher.Forbidden, "private"},
		{"a prefix of keys", []string{"127.0.0.1:2379=/skydns/lab"}, "127.0.0.1:2379", "/skydns/lab/", "", ""},
		{"another prefix of keys", []string{"127.0.0.1:2379=/skydns/lab"}, "127.0.0.1:2379", "/skydns/laboratory/", publisher.Forbidden, "loopback"},
		{"a listed name", []string{"NS.corp.example."}, "ns.corp.example:53", "", "", ""},
		{"a listed name does not list its address", []string{"ns.corp.example"}, "10.1.2.3:53", "", publisher.Forbidden, "private"},
		{"a listed name that was rebound to metadata", []string{"rebound.example"}, "rebound.example:53", "", publisher.Forbidden, "metadata"},
		{"a wide network does not list metadata", []string{"0.0.0.0/0"}, "169.254.169.254:80", "", publisher.Forbidden, "metadata"},
		{"an address does", []string{"169.254.169.254"}, "169.254.169.254:80", "", "", ""},
		{"a list is the whole of it", []string{"10.0.0.0/8"}, "9.9.9.9:53", "", publisher.Forbidden, "is not listed"},
		{"IPv6 with a port", []string{"[fd12::/16]:53"}, "[fd12::1]:53", "", "", ""},
		{"an IPv6 network", []string{"fd12::/16"}, "[fd12::1]:53", "", "", ""},
		{"a network of IPv4 in IPv6 clothes", []string{"::ffff:10.0.0.0/104"}, "10.1.2.3:53", "", "", ""},

		{"a store by its name", []string{"0.0.0.0/0"}, "etcd.signpost:2379", "", publisher.Forbidden, "a store of Signpost"},
		{"a store by its address", []string{"0.0.0.0/0"}, "10.9.9.9:2379", "", publisher.Forbidden, "a store of Signpost"},
		{"another port of a store", []string{"0.0.0.0/0"}, "10.9.9.9:53", "", "", ""},
		{"a store of this machine by another address", []string{"0.0.0.0/0"}, "192.168.7.7:27017", "", publisher.Forbidden, "a store of Signpost"},
		{"a store of this machine by another loopback address", []string{"0.0.0.0/0"}, "127.3.4.5:27017", "", publisher.Forbidden, "a store of Signpost"},
		{"a store whose address is unknown, by its port", []string{"0.0.0.0/0"}, "10.5.5.5:4000", "", fault.Unreachable, "may be a store of Signpost"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			d := Dialer{Flag: Servers,
				Rules: rules(t, c.rules...), Lookup: names(at), Local: func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("192.168.7.7")} },
				Stores: []string{"etcd.signpost:2379", "127.0.0.1:27017", "lost.signpost:4000"},
			}
			_, err := d.judge(t.Context(), c.address, c.scope)
			require.Equal(t, c.fault, fault.Of(err), "%v", err)
			if c.says != "" {
				assert.ErrorContains(t, err, c.says)
			}
		})
	}
}

func TestWrongRulesSayWhatIsWrong(t *testing.T) {
	for text, says := range map[string]string{
		"":                    "no host name",
		"10.0.0.1/8":          "the network is 10.0.0.0/8",
		"10.0.0.0/99":         "not a CIDR",
		"host:0":              "not a port",
		"host:70000":          "not a port",
		"[::1":                "bracket is not closed",
		"[::1]53":             "follows the bracket",
		"host=":               "nothing follows",
		"-host":               "no host name",
		"fe80::1%eth0":        "zone of its own",
		"1.2.3":               "no host name",
		"http://dns.example/": "write HOST[:PORT]",
	} {
		_, err := Parse(Servers, []string{text})
		require.ErrorContains(t, err, says, text)
		require.ErrorContains(t, err, Servers)
	}
}

// TestAnAddressIsJudgedAtEachDial has a name that is public when it is checked and loopback when
// it is dialled.
func TestAnAddressIsJudgedAtEachDial(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	asked := 0
	d := Dialer{Flag: Servers, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		asked++
		if asked == 1 {
			return []netip.Addr{netip.MustParseAddr("9.9.9.9")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	_, err = d.judge(t.Context(), "ns.example:"+port, "")
	require.NoError(t, err)
	_, err = d.Dial(t.Context(), "tcp", "ns.example:"+port, "")
	require.Equal(t, publisher.Forbidden, fault.Of(err), "%v", err)
	assert.Equal(t, 2, asked, "one resolution for a check and one for a dial: nothing is resolved between the judgement and the connection")

	d.Rules = rules(t, "ns.example:"+port)
	conn, err := d.Dial(t.Context(), "tcp", "ns.example:"+port, "")
	require.NoError(t, err, "a listed name may be loopback")
	require.NoError(t, conn.Close())
}

// FuzzNothingButPublicAddressesWithoutRules takes any address in any form: without rules, none that is
// loopback, private, link-local, multicast or unspecified is allowed.
func FuzzNothingButPublicAddressesWithoutRules(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "9.9.9.9", "64:ff9b::7f00:1"} {
		f.Add(seed, uint16(53))
	}
	f.Fuzz(func(t *testing.T, host string, port uint16) {
		d := Dialer{Flag: Servers, Lookup: names(nil)}
		_, err := d.judge(t.Context(), net.JoinHostPort(host, "53"), "")
		a, parsed := netip.ParseAddr(host)
		if parsed != nil {
			require.Error(t, err)
			return
		}
		a = a.Unmap()
		if a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || !a.IsGlobalUnicast() {
			require.Equal(t, publisher.Forbidden, fault.Of(err), "%s: %v", a, err)
		}
	})
}

func FuzzRulesAreReadWithoutPanic(f *testing.F) {
	for _, seed := range []string{"10.0.0.0/8:53=corp.example", "[::1]:53", "a=/x", "::/0", ":", "[]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := Parse(Servers, []string{text})
		if err == nil {
			require.Len(t, parsed, 1)
			require.True(t, parsed[0].name != "" || parsed[0].prefix.IsValid())
		}
	})
}
