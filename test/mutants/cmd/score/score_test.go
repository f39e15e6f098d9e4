package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/simulate/bugs"
)

// TestATableIsReadAsItWasWritten checks what -resume relies on.
func TestATableIsReadAsItWasWritten(t *testing.T) {
	all := []bugs.Bug{{Name: "a", File: "pkg/a.go", Breaks: "x"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	file := filepath.Join(t.TempDir(), "table.md")
	none, err := readTable(file)
	require.NoError(t, err)
	require.Empty(t, none)
	written := table{"a": {"1", "pkg/a TestA"}, "b": {ring: escaped}, "c": {failed, "two|\nlines"}}
	require.NoError(t, written.write(file, all))
	read, err := readTable(file)
	require.NoError(t, err)
	require.Equal(t, written["a"], read["a"])
	require.Equal(t, written["b"], read["b"])
	require.Equal(t, result{failed, "two/ lines"}, read["c"])
	var open []string
	for _, mutant := range chosen(all, read, "") {
		open = append(open, mutant.Name)
	}
	require.Equal(t, []string{"c", "d"}, open)
}

// TestTooFewFindsFail: 42 of 60 by ring 1 and 57 by rings 1 and 2, or as large a
// share.
func TestTooFewFindsFail(t *testing.T) {
	for _, c := range []struct {
		first, second, escaped, unknown int
		refused                         string
	}{
		{42, 15, 3, 0, ""},
		{41, 17, 2, 0, "too few"},
		{42, 14, 4, 0, "too few"},
		{59, 0, 0, 1, "could not be measured"},
		{65, 22, 5, 0, "at least 65 by ring 1 and 88"},
		{65, 23, 4, 0, ""},
	} {
		results, all := table{}, []bugs.Bug{}
		add := func(n int, ring string) {
			for range n {
				name := strings.Repeat("x", len(all)+1)
				all, results[name] = append(all, bugs.Bug{Name: name}), result{ring: ring}
			}
		}
		add(c.first, "1")
		add(c.second, "2")
		add(c.escaped, escaped)
		add(c.unknown, failed)
		var out bytes.Buffer
		err := results.judge(&out, all)
		if c.refused == "" {
			require.NoError(t, err, out.String())
		} else {
			require.ErrorContains(t, err, c.refused, out.String())
		}
	}
}

// TestTheFirstFailureIsATest, and what does not compile is none.
func TestTheFirstFailureIsATest(t *testing.T) {
	found, err := firstFailure(strings.NewReader(`{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p","Test":"TestA/one"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`))
	require.NoError(t, err)
	require.Equal(t, failure{"p", "TestA/one"}, found)
	require.Equal(t, []string{"-run", "^TestA$"}, found.selection())
	_, err = firstFailure(strings.NewReader(`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`))
	require.ErrorContains(t, err, "does not compile")
	found, err = firstFailure(strings.NewReader(`{"Action":"pass","Package":"p"}`))
	require.NoError(t, err)
	require.Zero(t, found)
}

// TestTheNearestTestsAreFirst: of the package itself, then of those that import
// it.
func TestTheNearestTestsAreFirst(t *testing.T) {
	s := &search{imports: map[string][]string{
		".":       {product + "/pkg/a", product + "/pkg/b " + product + "/pkg/a"},
		dnsModule: {product + "/" + dnsModule + " " + product + "/pkg/b"},
		"test":    {product + "/test/stores " + product + "/pkg/a", product + "/test/bench " + product + "/pkg/a"},
	}}
	var packages []string
	for _, one := range s.stages("pkg/a/a.go") {
		packages = append(packages, one.ring+" "+one.module+" "+strings.Join(one.packages, " "))
	}
	require.Equal(t, []string{
		"1 . " + product + "/pkg/a", "1 . " + product + "/pkg/b", "1 . ./...", "1 " + dnsModule + " ./...",
		"1 test ./simulate", "1 test ./story ./tenants", "2 test ./simulate", "2 test " + product + "/test/stores",
	}, packages)
	require.Equal(t, stage{ring: "1", module: dnsModule, packages: []string{product + "/" + dnsModule + "/search"}}, s.stages(dnsModule + "/search/walk.go")[0])
}
