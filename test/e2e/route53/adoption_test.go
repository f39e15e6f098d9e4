package route53

import (
	"encoding/gob"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/external-dns/endpoint"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/tools"
)

const (
	keep, www = "keep." + Zone, "www." + Zone
	before    = "192.0.2.1"
	after     = "203.0.113.1"
)

// TestExternalDNSAdoptsWhatItIsAskedForAlone is what adoption rests on, by the
// real program with Signpost's own arguments: of the names with the other's mark
// it takes the one that it is asked for, and the other one is left as it is.
func TestExternalDNSAdoptsWhatItIsAskedForAlone(t *testing.T) {
	zone, err := Start(t.Context(), &process.Ports{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(zone.Close)
	synchronize(t, zone, "legacy", "", a(keep, before), a(www, before))
	legacy := zone.Sets("a-"+keep, "TXT")
	if !slices.Equal(legacy, zone.Sets("a-"+www, "TXT")) || !strings.Contains(strings.Join(legacy, ""), "owner=legacy\"") {
		t.Fatalf("the marks are %v and %v", legacy, zone.Sets("a-"+www, "TXT"))
	}
	zone.Keep(keep, www)

	synchronize(t, zone, "ours", "", a(www, after))
	expect(t, zone, www, before, "legacy")
	synchronize(t, zone, "ours", "legacy", a(www, after))
	expect(t, zone, www, after, "ours")
	expect(t, zone, keep, before, "legacy")

	// Both go on as before, and neither touches what is the other's.
	synchronize(t, zone, "legacy", "", a(keep, before), a(www, before))
	synchronize(t, zone, "ours", "", a(www, "203.0.113.2"))
	expect(t, zone, www, "203.0.113.2", "ours")
	expect(t, zone, keep, before, "legacy")
	if _, err := zone.Quiet(); err != nil {
		t.Error(err)
	}
	zone.Keep(keep)
	synchronize(t, zone, "ours", "")
	if names := zone.Names(); !slices.Equal(names, []string{"a-" + keep + ". TXT", keep + ". A"}) {
		t.Errorf("of what it gives up, it leaves %v", names)
	}
}

func a(name, address string) *endpoint.Endpoint { return endpoint.NewEndpoint(name, "A", address) }

// expect expects a name to have one address and one mark.
func expect(t *testing.T, zone *Server, name, address, owner string) {
	t.Helper()
	marks := zone.Sets("a-"+name, "TXT")
	if got := zone.Sets(name, "A"); !slices.Equal(got, []string{address}) {
		t.Errorf("%s is %v, want %s", name, got, address)
	}
	if len(marks) != 1 || strings.Count(marks[0], "heritage") != 1 || !strings.Contains(marks[0], "external-dns/owner="+owner) {
		t.Errorf("the mark of %s is %v, want that of %s", name, marks, owner)
	}
}

// synchronize runs external-dns once, with policy sync, for these names.
func synchronize(t *testing.T, zone *Server, owner, adopt string, wanted ...*endpoint.Endpoint) {
	t.Helper()
	program, err := tools.Path(t.Context(), tools.ExternalDNSStories)
	if err != nil {
		t.Fatal(err)
	}
	port, err := new(process.Ports).Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parameters := externaldns.Parameters{"policy": "sync", "domain-filter": Zone, "metrics-address": fmt.Sprintf(":%d", port)}
	compiled, findings := externaldns.Compile(externaldns.Options{
		Record:    externaldns.Record{Provider: "aws", Parameters: parameters},
		Namespace: "shop-dns", LabelFilter: "a=b", OwnerID: owner, Adopt: adopt,
	})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	source := offer(t, wanted)
	run := exec.CommandContext(t.Context(), program, slices.Concat(
		[]string{"--source=connector", "--connector-source-server=" + source, "--once"}, compiled.Args[1:])...)
	run.Env = append(os.Environ(), "AWS_ENDPOINT_URL_ROUTE_53="+zone.URL, "AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=of nobody")
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("external-dns: %v\n%s", err, output)
	}
}

// offer gives the names to whoever connects, as external-dns' source connector
// reads them.
func offer(t *testing.T, wanted []*endpoint.Endpoint) (address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			peer, err := listener.Accept()
			if err != nil {
				return
			}
			_ = gob.NewEncoder(peer).Encode(wanted)
			_ = peer.Close()
		}
	}()
	return listener.Addr().String()
}
