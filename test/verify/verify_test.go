// Package verify_test asks real DNS servers what Signpost would ask them.
package verify_test

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// start starts a server, until the test ends.
func start(t *testing.T, server interface {
	Start(context.Context) error
	Kill()
}) {
	t.Helper()
	t.Cleanup(server.Kill)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestBIND is asked for names that external-dns has made, that it has not made,
// and that are late or leave.
func TestBIND(t *testing.T) {
	server, err := dns.NewBIND(t.Context(), t.TempDir(), &process.Ports{})
	if err != nil {
		t.Fatal(err)
	}
	start(t, server)
	a := asker{t, netip.MustParseAddrPort(server.Address)}
	www := question("www.corp.example", "A", "203.0.113.10", "203.0.113.20")
	a.finds(www, verify.NotThere)
	update(t, server,
		"add www.corp.example. 1 A 203.0.113.10", "add www.corp.example. 1 A 203.0.113.99",
		`add a-www.corp.example. 1 TXT "heritage=external-dns,external-dns/owner=sp-1"`)
	a.finds(www, verify.Differs)
	update(t, server, "delete www.corp.example. A 203.0.113.99", "add www.corp.example. 1 A 203.0.113.20")
	a.finds(www, verify.Matches)

	update(t, server, "add www.corp.example. 1 AAAA 2001:db8::10", "add alias.corp.example. 1 CNAME lb.cloud.example.",
		"add *.any.corp.example. 1 A 203.0.113.30", "add _web._tcp.corp.example. 1 SRV 0 90 443 www.corp.example.")
	a.finds(question("www.corp.example", "AAAA", "2001:db8::10"), verify.Matches)
	a.finds(question("alias.corp.example", "CNAME", "lb.cloud.example"), verify.Matches)
	lost := question("lost.corp.example", "CNAME", "later.corp.example")
	update(t, server, "add lost.corp.example. 1 CNAME later.corp.example.")
	a.finds(lost, verify.NoTargetAddress)
	update(t, server, "add later.corp.example. 1 A 203.0.113.40")
	a.finds(lost, verify.Matches)
	a.finds(question("*.any.corp.example", "A", "203.0.113.30"), verify.Matches)
	a.finds(question("_web._tcp.corp.example", "SRV", "0 90 443 www.corp.example"), verify.Matches)

	many := question("many.corp.example", "A")
	var lines []string
	for i := range 60 { // more than fits into a datagram of 512 bytes
		many.Sets[0] = append(many.Sets[0], fmt.Sprintf("203.0.113.%d", i))
		lines = append(lines, "add many.corp.example. 1 A "+many.Sets[0][i])
	}
	update(t, server, lines...)
	a.finds(many, verify.Matches)

	f := a.finds(question("printer.corp.example", "A", "203.0.113.10"), verify.Foreign)
	if !strings.Contains(f.Message, "192.0.2.77, which is somebody else's") {
		t.Errorf("the conflict is told as %q", f.Message)
	}
	a.finds(question("www.elsewhere.example", "A", "203.0.113.10"), verify.Refused)

	www.Leaving = true
	a.finds(www, verify.StillThere)
	update(t, server, "delete www.corp.example. A")
	a.finds(www, verify.Gone)
	if err := server.Stop(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	a.finds(www, verify.Unreachable)
}

// TestCoreDNS answers from etcd, as external-dns' provider coredns has it.
func TestCoreDNS(t *testing.T) {
	ports := &process.Ports{}
	store, err := etcd.NewServer(t.Context(), t.TempDir(), ports)
	if err != nil {
		t.Fatal(err)
	}
	start(t, store)
	server, err := dns.NewCoreDNS(t.Context(), t.TempDir(), store.URL, ports)
	if err != nil {
		t.Fatal(err)
	}
	start(t, server)
	a := asker{t, netip.MustParseAddrPort(server.Address)}
	www := question("www.lab.example", "A", "203.0.113.10", "203.0.113.20")
	a.finds(www, verify.NotThere)
	for i, value := range []string{`{"host":"203.0.113.20"}`, `{"host":"203.0.113.10"}`} {
		if err := store.Put(t.Context(), fmt.Sprintf("%s/example/lab/www/%d", dns.CoreDNSPath, i), value); err != nil {
			t.Fatal(err)
		}
	}
	a.finds(www, verify.Matches)
	a.finds(question("www.lab.example", "A", "203.0.113.30"), verify.Foreign)
	if err := store.Put(t.Context(), dns.CoreDNSPath+"/example/lab/a-www/0", `{"text":"heritage=external-dns,external-dns/owner=sp-2"}`); err != nil {
		t.Fatal(err)
	}
	if f := a.finds(question("www.lab.example", "A", "203.0.113.30"), verify.Foreign); !strings.Contains(f.Message, `"sp-2"`) {
		t.Errorf("the other external-dns is told as %q", f.Message)
	}
	lost := question("lost.lab.example", "CNAME", "later.lab.example")
	if err := store.Put(t.Context(), dns.CoreDNSPath+"/example/lab/lost/0", `{"host":"later.lab.example"}`); err != nil {
		t.Fatal(err)
	}
	a.finds(lost, verify.NoTargetAddress)
	if err := store.Put(t.Context(), dns.CoreDNSPath+"/example/lab/later/0", `{"host":"203.0.113.40"}`); err != nil {
		t.Fatal(err)
	}
	a.finds(lost, verify.Matches)
}

// asker asks one server.
type asker struct {
	t      *testing.T
	server netip.AddrPort
}

// finds waits for a verdict.
func (a asker) finds(q verify.Question, want verify.Verdict) verify.Finding {
	a.t.Helper()
	v := verify.New(verify.Options{AllowLocal: true})
	deadline := time.Now().Add(30 * time.Second)
	for {
		f := v.Verify(a.t.Context(), q, []netip.AddrPort{a.server})
		if f.Verdict == want || time.Now().After(deadline) {
			if f.Verdict != want {
				a.t.Fatalf("%s %s is %s, want %s: %s", q.Name, q.Type, f.Verdict, want, f.Message)
			}
			return f
		}
	}
}

func question(name, kind string, targets ...string) verify.Question {
	return verify.Question{Name: name, Type: kind, Sets: [][]string{targets}, Owner: "sp-1", TXT: "a-" + name}
}

// update changes records of the zone.
func update(t *testing.T, server *dns.BIND, lines ...string) {
	t.Helper()
	script := fmt.Sprintf("key %s:%s %s\nserver %s %d\n", server.Algorithm, server.KeyName, server.Secret, server.Host, server.Port)
	for _, line := range lines {
		script += "update " + line + "\n"
	}
	command := exec.CommandContext(t.Context(), "nsupdate")
	command.Stdin = strings.NewReader(script + "send\n")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}
