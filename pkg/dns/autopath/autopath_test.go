package autopath

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const domain = "cluster.local"

func TestSearchDomainIsTheSeeds(t *testing.T) {
	require.Equal(t, "search.default.cluster.local.ap.k8s.io", SearchDomain("default", domain))
	require.Equal(t, []string{"default.svc.cluster.local", "svc.cluster.local", "cluster.local", "foo.com"}, Paths("default", domain, "foo.com"))
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ reason, name, base, namespace string }{
		{"a short name", "service123.search.default.cluster.local.ap.k8s.io", "service123", "default"},
		{"a name with dots", "www.example.com.search.shop.cluster.local.ap.k8s.io", "www.example.com", "shop"},
		{"the search domain itself", "search.shop.cluster.local.ap.k8s.io", "", "shop"},
		{"a namespace called search", "web.search.search.cluster.local.ap.k8s.io", "web", "search"},
		{"a name that holds search", "a.search.b.search.shop.cluster.local.ap.k8s.io", "a.search.b", "shop"},
	} {
		base, namespace, ok := Split(c.name, domain)
		require.True(t, ok, c.reason)
		require.Equal(t, c.base, base, c.reason)
		require.Equal(t, c.namespace, namespace, c.reason)
	}
	for reason, name := range map[string]string{
		"another zone":            "web.search.shop.cluster.local.ap.k8s.iox",
		"the zone":                "ap.k8s.io",
		"another cluster's":       "web.search.shop.cluster.example.ap.k8s.io",
		"no namespace":            "search.cluster.local.ap.k8s.io",
		"no search":               "web.shop.cluster.local.ap.k8s.io",
		"a label that ends alike": "web.research.shop.cluster.local.ap.k8s.io",
		"a zone that ends alike":  "web.search.shop.cluster.local.trap.k8s.io",
		"nothing":                 "",
	} {
		_, _, ok := Split(name, domain)
		require.False(t, ok, reason)
	}
}

// RFC 8020: nothing exists below a name that does not.
func TestSearchDomainsAndTheirAncestorsExist(t *testing.T) {
	for name, want := range map[string]bool{
		"ap.k8s.io": true, "local.ap.k8s.io": true, "cluster.local.ap.k8s.io": true, "shop.cluster.local.ap.k8s.io": true,
		"search.shop.cluster.local.ap.k8s.io": true, "search.search.cluster.local.ap.k8s.io": true, "search.cluster.local.ap.k8s.io": true,
		"io": false, "k8s.io": false, "p.k8s.io": false, "ocal.ap.k8s.io": false, "": false, "x.ap.k8s.io": false,
		"cluster.example.ap.k8s.io": false, "search.shop.cluster.example.ap.k8s.io": false, "web.shop.cluster.local.ap.k8s.io": false,
		"web.search.shop.cluster.local.ap.k8s.io": false, "a*b.cluster.local.ap.k8s.io": false, "shop.xcluster.local.ap.k8s.io": false,
	} {
		require.Equal(t, want, Exists(name, domain), name)
	}
}

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	paths := Paths("shop", domain, "foo.com", "_x.example")
	require.Equal(t, "shop.svc.cluster.local,svc.cluster.local,cluster.local,foo.com,_x.example", string(Encode(paths)))
	got, err := Decode(Encode(paths))
	require.NoError(t, err)
	require.Equal(t, paths, got)
	got, err = Decode([]byte("Foo.COM."))
	require.NoError(t, err)
	require.Equal(t, []string{"foo.com"}, got)
}

// TestAsManyPathsAsKubernetesTakesAreAnOption checks the limits themselves.
func TestAsManyPathsAsKubernetesTakesAreAnOption(t *testing.T) {
	t.Parallel()
	var paths []string
	for n := range MaxPaths {
		paths = append(paths, fmt.Sprintf("%02d.%s", n, strings.Repeat("x", MaxBytes/MaxPaths-len("00.,"))))
	}
	paths[0] += "x" // there is one comma less
	require.Len(t, Encode(paths), MaxBytes)
	got, err := Decode(Encode(paths))
	require.NoError(t, err)
	require.Equal(t, paths, got)
}

func TestWhatIsNoOptionIsRefused(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("a,", MaxPaths+1), ",")
	for _, c := range []struct {
		reason, value string
		want          error
	}{
		{"empty", "", errNoList},
		{"an empty item", "a.b,,c.d", errNoList},
		{"spaces", "a.b, c.d", errNoList},
		{"binary", "\x00\x01\xff", errNoList},
		{"an escaped label", `a\.b`, errNoList},
		{"the root", ".", errNoList},
		{"an empty label", "a..b", ErrBadLabel},
		{"a label over 63", strings.Repeat("a", 64) + ".b", ErrBadLabel},
		{"a domain over 253", strings.Repeat("a.", 127) + "a", ErrTooLong},
		{"more than 2048 bytes", strings.Repeat("a", MaxBytes+1), ErrTooLong},
		{"more than 32 paths", many, ErrTooLong},
		{"a path twice", "a.b,A.b.", ErrLoop},
		{"a search domain as path", "search.shop.cluster.local.ap.k8s.io", ErrLoop},
		{"the zone as path", "ap.k8s.io", ErrLoop},
	} {
		_, err := Decode([]byte(c.value))
		require.ErrorIs(t, err, c.want, c.reason)
	}
}

// FuzzDecode: whatever is sent, the answer is an error or paths that are sent
// again unchanged.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("shop.svc.cluster.local,svc.cluster.local"))
	f.Add([]byte(",.,"))
	f.Fuzz(func(t *testing.T, value []byte) {
		paths, err := Decode(value)
		if err != nil {
			return
		}
		again, err := Decode(Encode(paths))
		require.NoError(t, err)
		require.Equal(t, paths, again)
	})
}
