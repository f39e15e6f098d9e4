package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/zone"
	"github.com/signpost-dns/signpost/test/e2e/dns"
)

// unmarked names were written by hand.
const unmarked = 50

// marked are the names of an external-dns that ran before.
func marked() int { return sample.Cases(150, 150, 1950) }

// address is that of the nth name.
func address(n int) string { return fmt.Sprintf("198.51.%d.%d", 100+n/250, 1+n%250) }

// TestAZoneIsTakenOverWithoutAGap: it is imported, planned, applied and adopted. BIND answers each name as before all the
// time, and Signpost owns the names at the end.
//
// Ring 3 has 2,000 names. On two busy cores, the plan of all took 2.4 s, apply 46 s (23 ms for a name), and both adoptions
// 44 s. The adoptions of 200 names take 40 s: most of that is waiting, such as the 10 s within which names are looked up.
func TestAZoneIsTakenOverWithoutAGap(t *testing.T) {
	t.Parallel()
	world := sharedWorld(t)
	bind, err := dns.NewBIND(t.Context(), t.TempDir(), world.Ports)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bind.Kill)
	s := &counted{story: beginEmpty(t, world, "bring", "--allow-local-verify", "--publisher-servers=127.0.0.1")}
	s.must(bind.Start(t.Context()))
	begun := time.Now()
	phase := func(what string) {
		t.Logf("%s after %s", what, time.Since(begun).Round(100*time.Millisecond))
		begun = time.Now()
	}
	hand := s.fill(bind)
	was := s.held(bind)
	s.post("/v2/projects", `{"metadata": {"name": "{p}"}, "spec": {}}`)
	s.post("/v2/projects/{p}/dns-update-records", fmt.Sprintf(`{"metadata": {"name": "lab"}, "spec": {
		"provider": "rfc2136", "deployOn": {"publisher": "built-in"}, "verify": {"servers": [%q]},
		"external-dns-parameters": {
			"rfc2136-host": ["127.0.0.1"], "rfc2136-port": "%d", "rfc2136-zone": ["corp.example"],
			"rfc2136-tsig-keyname": %q, "rfc2136-tsig-secret-alg": %q, "policy": "sync", "interval": "1m"
		},
		"credentials": [{"environment": "EXTERNAL_DNS_RFC2136_TSIG_SECRET", "value": %q}]
	}}`, bind.Address, bind.Port, bind.KeyName, bind.Algorithm, bind.Secret))
	s.must(s.unmanaged(map[string]int{"": unmarked + ofTheZone, "legacy": marked()}))
	phase("the zone was filled and listed")
	never := s.watchAll(bind, "n0", "n77", "n149", "h0", "h49")

	dir := t.TempDir()
	key, names, others := filepath.Join(dir, "key"), filepath.Join(dir, "names.yaml"), filepath.Join(dir, "others.yaml")
	s.must(os.WriteFile(key, []byte(bind.Algorithm+":"+bind.KeyName+":"+bind.Secret), 0o600))
	s.run(signpost(t), "import", "external-dns", "--zone", "axfr://"+bind.Address+"/corp.example", "--tsig-file", key, "--owner", "legacy",
		"--project", s.project, "--provider", "lab", "--output", names)
	s.run(signpost(t), "import", "zone", hand, "--project", s.project, "--provider", "lab", "--output", others)
	phase("it was imported")
	s.plansNoOtherAnswer(was, names, others)
	phase("it was planned")
	for _, file := range []string{names, others} {
		s.run(signpost(t), "apply", "-f", file)
	}
	phase("it was applied")
	s.unchanged(bind, was, map[string]int{"legacy": marked()})
	s.eventually("the names to be those of documents", func() error { return s.unmanaged(map[string]int{"": ofTheZone}) })

	phase("all names were given")
	s.adopts("legacy")
	s.unchanged(bind, was, map[string]int{"legacy": 0, "sp-": marked()})
	s.adopts("unmarked")
	s.unchanged(bind, was, map[string]int{"legacy": 0, "sp-": marked() + unmarked})
	phase("it was adopted")
	s.must(never())

	s.run(signpost(t), "publish", "n7.corp.example", "--address", otherAddress, "--provider", "lab", "--project", s.project, "--wait", "published")
	s.run(signpost(t), "unpublish", "h7.corp.example", "--project", s.project)
	s.eventually("Signpost to change and to remove names", func() error {
		changed, err := dns.Query(t.Context(), bind.Address, "n7.corp.example", "A")
		gone, failed := dns.Query(t.Context(), bind.Address, "h7.corp.example", "A")
		if err == nil && (len(changed) != 1 || changed[0] != otherAddress || len(gone) > 0) {
			err = fmt.Errorf("they are %v and %v", changed, gone)
		}
		return errors.Join(err, failed)
	})
}

// fill gives the zone its names, and returns a zone file of those without a mark.
func (c *counted) fill(bind *dns.BIND) (file string) {
	c.Helper()
	const most = 150 // names of an update
	var lines []string
	var text strings.Builder
	text.WriteString("$ORIGIN corp.example.\n")
	send := func() {
		c.must(bind.Update(c.Context(), lines...))
		lines = nil
	}
	for n := range marked() {
		lines = append(lines, fmt.Sprintf("update add n%d.corp.example. 60 A %s", n, address(n)), fmt.Sprintf(
			`update add a-n%d.corp.example. 0 TXT "heritage=external-dns,external-dns/owner=legacy,external-dns/resource=ingress/web/n%[1]d"`, n))
		if n%most == most-1 {
			send()
		}
	}
	for n := range unmarked {
		lines = append(lines, fmt.Sprintf("update add h%d.corp.example. 60 A %s", n, address(marked()+n)))
		fmt.Fprintf(&text, "h%d 60 IN A %s\n", n, address(marked()+n))
	}
	send()
	file = filepath.Join(c.TempDir(), "corp.example.zone")
	c.must(os.WriteFile(file, []byte(text.String()), 0o600))
	return file
}

// ofTheZone are the sets that BIND's zone has from the beginning, beside its SOA and NS.
const ofTheZone = 3

// plansNoOtherAnswer expects a plan of files of names to give each name of the zone the address that it has, and to refuse
// nothing.
func (c *counted) plansNoOtherAnswer(was contents, files ...string) {
	c.Helper()
	server, err := c.signpost.URL()
	c.must(err)
	planned := map[string]string{}
	for _, file := range files {
		command := exec.CommandContext(c.Context(), signpost(c.T), "plan", "-f", file, "-o", "json", "--server", server)
		output, err := command.Output()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != 2 { // there would be changes
			c.Fatalf("plan -f %s: %v\n%s", file, err, output)
		}
		var plan struct {
			Owners []struct {
				Plan struct {
					Names []struct {
						Name    string
						Targets []string
					}
				}
			}
		}
		c.must(json.Unmarshal(output, &plan))
		for _, owner := range plan.Owners {
			for _, name := range owner.Plan.Names {
				planned[name.Name] += fmt.Sprint(strings.Join(name.Targets, " "), " 60 ")
			}
		}
	}
	for name := range planned {
		if address := was.addresses[name]; planned[name] != address {
			c.Fatalf("%s has %s, and would have %s", name, address, planned[name])
		}
	}
	if len(planned) != marked()+unmarked {
		c.Fatalf("%d names are planned", len(planned))
	}
}

// unmanaged tells whether the sets that nobody publishes are so many, by the owner ids that mark them.
func (c *counted) unmanaged(want map[string]int) error {
	c.Helper()
	var list struct {
		Items []struct{ Name, Owner string }
	}
	c.must(json.Unmarshal([]byte(c.run(signpost(c.T), "unmanaged", "projects/"+c.project+"/dns-update-records/lab", "-o", "json")), &list))
	got := map[string]int{}
	for _, set := range list.Items {
		got[set.Owner]++
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("they are %v", got)
	}
	return nil
}

// contents are the addresses of a zone by name, and how many marks each owner has.
type contents struct {
	addresses map[string]string
	marks     map[string]int
}

// held transfers the zone.
func (c *counted) held(bind *dns.BIND) contents {
	c.Helper()
	z, err := zone.Server{Address: bind.Address, Dial: (&net.Dialer{}).DialContext, Key: &zone.Key{Algorithm: bind.Algorithm, Name: bind.KeyName, Secret: bind.Secret}}.Transfer(c.Context(), dns.BINDZone)
	c.must(err)
	all := contents{addresses: map[string]string{}, marks: map[string]int{}}
	for _, r := range z.Records {
		owner, isMark := externaldns.OwnerOf(r.Value)
		switch {
		case r.Type == "A":
			all.addresses[r.Name] += fmt.Sprint(r.Value, " ", r.TTL, " ")
		case isMark && strings.HasPrefix(owner, "sp-"):
			all.marks["sp-"]++
		case isMark:
			all.marks[owner]++
		}
	}
	return all
}

// unchanged waits until the owners have so many marks, and expects the addresses of before.
func (c *counted) unchanged(bind *dns.BIND, was contents, marks map[string]int) {
	c.Helper()
	c.eventually(fmt.Sprintf("the marks to be those of %v", marks), func() error {
		now := c.held(bind)
		for owner, count := range marks {
			if now.marks[owner] != count {
				return fmt.Errorf("they are those of %v", now.marks)
			}
		}
		if !maps.Equal(now.addresses, was.addresses) {
			c.Fatalf("the zone had %d addresses, and has %d, or others", len(was.addresses), len(now.addresses))
		}
		return nil
	})
}

// adopts has the provider adopt names of an owner, and waits until that is over.
func (c *counted) adopts(owner string) {
	c.Helper()
	c.eventually("the adoption to be accepted", func() error { // the provider is in use once the first name is instantiated
		answer, err := c.signpost.Do(c.Context(), http.MethodPost, c.words.Replace(labRecord+"/update?adopt="+owner), "")
		if err == nil && answer.Status != http.StatusAccepted {
			err = answer.Unexpected(http.StatusAccepted)
		}
		return err
	})
	c.eventually("the adoption to be over", func() error {
		var now struct{ Adoption *struct{ Names []string } }
		err := c.get(labRecord+"/status", &now)
		if err == nil && now.Adoption != nil {
			err = fmt.Errorf("%d names are being adopted", len(now.Adoption.Names))
		}
		return err
	})
}

// watchAll asks for names all the time. The function that it returns stops that, and tells of answers that were empty or changed.
func (c *counted) watchAll(bind *dns.BIND, labels ...string) func() error {
	var watches []*dns.Watch
	for _, label := range labels {
		watches = append(watches, dns.NewWatch(bind.Address, label+"."+dns.BINDZone))
	}
	return func() error {
		for n, watch := range watches {
			watch.Stop()
			if seen := watch.Seen(); len(seen) != 1 || seen[0].Code != "NOERROR" || len(seen[0].Targets) != 1 || seen[0].Times < 10 {
				return fmt.Errorf("%s was answered %v", labels[n], seen)
			}
		}
		return nil
	}
}
