package searchpath

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coredns/caddy"
	clog "github.com/coredns/coredns/plugin/pkg/log"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
)

func TestSetup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "resolv.conf")
	long := strings.TrimSuffix(strings.Repeat(strings.Repeat("a", 60)+".", 4), ".")
	require.NoError(t, os.WriteFile(file, []byte("nameserver 192.0.2.1\nsearch foo.com svc.cluster.local BAR.com. . a*b foo.com "+strings.Join(domains(40), " ")+"\n"), 0o600))
	some := append([]string{"foo.com", "bar.com"}, domains(27)...) // so that there are 32 with those of the namespace
	for _, c := range []struct {
		reason, corefile string
		want             search.Settings
	}{
		{"the domain alone", "searchpath Cluster.Local.", search.Settings{Option: 65001, Domain: search.Domain{Name: "cluster.local"}}},
		{"domains", "searchpath cluster.local {\n suffixes foo.com\n suffixes Bar.com. foo.com cluster.local\n}",
			search.Settings{Option: 65001, Domain: search.Domain{Name: "cluster.local", Suffixes: []string{"foo.com", "bar.com"}}}},
		{"what a node has, as far as it can be", "searchpath cluster.local {\n suffixes " + file + "\n}",
			search.Settings{Option: 65001, Domain: search.Domain{Name: "cluster.local", Suffixes: some}}},
		{"everything", "searchpath cluster.local {\n option 65534\n missing nxdomain\n suffixes foo.com\n missing nodata\n}",
			search.Settings{Option: 65534, Domain: search.Domain{Name: "cluster.local", Suffixes: []string{"foo.com"}}}},
		{"NXDOMAIN", "searchpath cluster.local {\n missing nxdomain\n}",
			search.Settings{Option: 65001, AsPlain: true, Domain: search.Domain{Name: "cluster.local"}}},
	} {
		got, err := parse(caddy.NewTestController("dns", c.corefile), clog.NewWithPlugin(Name))
		require.NoError(t, err, c.reason)
		require.Equal(t, c.want, got, c.reason)
	}
	for _, c := range []struct{ reason, corefile, want string }{
		{"no domain", "searchpath", "Wrong argument count"},
		{"two domains", "searchpath a.local b.local", "Wrong argument count"},
		{"no domain's name", "searchpath cluster..local", `"cluster..local" is not a domain`},
		{"a list", "searchpath a.local,b.local", "write several with spaces between them"},
		{"search domains as domain", "searchpath ap.k8s.io", "leads to search paths again"},
		{"twice", "searchpath a.local\nsearchpath b.local", "once per Server Block"},
		{"an unknown property", "searchpath a.local {\n upstream 1.1.1.1\n}", "unknown property 'upstream'"},
		{"an option of others", "searchpath a.local {\n option 15\n}", `option: "15": write a number from 65001 to 65534`},
		{"an option by name", "searchpath a.local {\n option paths\n}", "write a number from 65001 to 65534"},
		{"no option", "searchpath a.local {\n option\n}", "Wrong argument count"},
		{"missing what", "searchpath a.local {\n missing refused\n}", `missing: "refused": write nodata or nxdomain`},
		{"no suffixes", "searchpath a.local {\n suffixes\n}", "Wrong argument count"},
		{"a suffix that is none", "searchpath a.local {\n suffixes a*b\n}", `"a*b" is not a domain`},
		{"no such file", "searchpath a.local {\n suffixes /not/there\n}", "suffixes: open /not/there"},
		{"too many", "searchpath a.local {\n suffixes " + strings.Join(domains(30), " ") + "\n}", `suffixes: "d29.example": the option is too long`},
		{"too long", "searchpath a.local {\n suffixes " + strings.Join(prefixed(long), " ") + "\n}", "the option is too long"},
	} {
		_, err := parse(caddy.NewTestController("dns", c.corefile), clog.NewWithPlugin(Name))
		require.ErrorContains(t, err, c.want, c.reason)
	}
}

// domains are n domains, d0.example and so on.
func domains(n int) []string {
	var all []string
	for i := range n {
		all = append(all, "d"+string(rune('0'+i/10))+string(rune('0'+i%10))+".example")
	}
	return all
}

func prefixed(domain string) []string {
	var all []string
	for _, one := range domains(9) {
		all = append(all, one[:3]+"."+domain)
	}
	return all
}
