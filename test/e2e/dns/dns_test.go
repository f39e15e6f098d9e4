package dns_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

func TestCoreDNSAnswersFromEtcd(t *testing.T) {
	ports := &process.Ports{}
	store, err := etcd.NewServer(t.Context(), t.TempDir(), ports)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Kill)
	if err := store.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	server, err := dns.NewCoreDNS(t.Context(), t.TempDir(), store.URL, ports)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, value := range []string{`{"host":"203.0.113.20"}`, `{"host":"203.0.113.10"}`, `{"text":"somebody's"}`} {
		if err := store.Put(t.Context(), fmt.Sprintf("%s/example/lab/www/%d", dns.CoreDNSPath, i), value); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, server.Address, "www.lab.example", "A", "203.0.113.10", "203.0.113.20")
	expect(t, server.Address, "www.lab.example", "TXT", `"somebody's"`)
	expect(t, server.Address, "nobody.lab.example", "A")
	if answers, err := dns.Query(t.Context(), server.Address, "www.elsewhere.example", "A"); err == nil {
		t.Errorf("outside of the zone the answer is %v", answers)
	}
}

func TestBINDTakesSignedUpdatesAlone(t *testing.T) {
	server, err := dns.NewBIND(t.Context(), t.TempDir(), &process.Ports{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, server.Address, "printer.corp.example", "A", "192.0.2.77")
	script := fmt.Sprintf("server %s %d\nupdate add www.corp.example. 1 A 203.0.113.10\nsend\n", server.Host, server.Port)
	if output, err := nsupdate(t, script); err == nil {
		t.Errorf("an unsigned update was taken: %s", output)
	}
	if err := server.Update(t.Context(), "update add www.corp.example. 1 A 203.0.113.10"); err != nil {
		t.Fatal(err)
	}
	expect(t, server.Address, "www.corp.example", "A", "203.0.113.10")
}

func TestQueryFailsWhenNobodyAnswers(t *testing.T) {
	address, err := (&process.Ports{}).Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if answers, err := dns.Query(t.Context(), address, "www.lab.example", "A"); err == nil {
		t.Errorf("nobody's answer is %v", answers)
	}
}

// expect asks once.
func expect(t *testing.T, server, name, recordType string, want ...string) {
	t.Helper()
	got, err := dns.Query(t.Context(), server, name, recordType)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s %s is %v, want %v", name, recordType, got, want)
	}
}

// nsupdate runs a script of nsupdate.
func nsupdate(t *testing.T, script string) ([]byte, error) {
	update := exec.CommandContext(t.Context(), "nsupdate")
	update.Stdin = strings.NewReader(script)
	return update.CombinedOutput()
}

func TestALateServerAnswersAsBINDDidWhenItWasHeld(t *testing.T) {
	ports := &process.Ports{}
	bind, err := dns.NewBIND(t.Context(), t.TempDir(), ports)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bind.Kill)
	if err := bind.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	late, err := dns.NewLate(t.Context(), bind, ports)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(late.Close)
	expect(t, late.Address, "printer.corp.example", "A", "192.0.2.77")

	if err := late.Hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = bind.Update(t.Context(), "update delete printer.corp.example. A", "update add www.corp.example. 1 A 203.0.113.10")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, late.Address, "printer.corp.example", "A", "192.0.2.77")
	expect(t, late.Address, "www.corp.example", "A")

	late.Release()
	expect(t, late.Address, "printer.corp.example", "A")
	expect(t, late.Address, "www.corp.example", "A", "203.0.113.10")
}

func TestAWatchTellsAllAnswersInOrder(t *testing.T) {
	bind, err := dns.NewBIND(t.Context(), t.TempDir(), &process.Ports{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bind.Kill)
	if err := bind.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	watch := dns.NewWatch(bind.Address, "printer.corp.example")
	t.Cleanup(watch.Stop)
	seen := func(want ...string) {
		t.Helper()
		wait.For(t, time.Minute, "the answers to be seen", func() error {
			var got []string
			for _, a := range watch.Seen() {
				got = append(got, a.Code+" "+strings.Join(a.Targets, " "))
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("they are %q", got)
			}
			return nil
		})
	}
	seen("NOERROR 192.0.2.77")
	if err := bind.Update(t.Context(), "update delete printer.corp.example."); err != nil {
		t.Fatal(err)
	}
	seen("NOERROR 192.0.2.77", "NXDOMAIN ")
	if err := bind.Update(t.Context(), "update add printer.corp.example. 1 A 203.0.113.10"); err != nil {
		t.Fatal(err)
	}
	seen("NOERROR 192.0.2.77", "NXDOMAIN ", "NOERROR 203.0.113.10")
}
