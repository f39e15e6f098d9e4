package safeyaml_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// bombs are small texts that become large by aliases.
func bombs() map[string]string {
	nested := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for n := 'b'; n < 'i'; n++ {
		nested += fmt.Sprintf("%c: &%[1]c [%s]\n", n, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", n-1), 10), ","))
	}
	return map[string]string{
		"a long text often":              "a: &a \"" + strings.Repeat("a", 200_000) + "\"\nb: [" + strings.TrimSuffix(strings.Repeat("*a,", 5000), ",") + "]\n",
		"a long key often":               "a: &a " + strings.Repeat("a", 100_000) + "\nb:\n" + strings.Repeat("- {*a : 1}\n", 1000),
		"lists of lists":                 nested,
		"an object by a merge":           "a: &a {b: " + strings.Repeat("a", 50_000) + "}\nb:\n" + strings.Repeat("- {<<: *a}\n", 1000),
		"of a document behind":           "a: 1\n---\na: &a " + strings.Repeat("a", 70_000) + "\nb: *a\n",
		"in UTF-16":                      wide("a: &a " + strings.Repeat("a", 70_000) + "\nb: *a\n"),
		"within a form of JSON":          `{"a": &a "` + strings.Repeat("a", 70_000) + `", "b": *a}`,
		"an anchor given twice":          "a: &a b\nc: &a " + strings.Repeat("a", 70_000) + "\nd: *a\n",
		"an alias in what has an anchor": "a: &a " + strings.Repeat("a", 40_000) + "\nb: &b [*a]\nc: *b\n",
	}
}

// wide is a text in UTF-16 with its mark.
func wide(text string) string {
	out := []byte{0xff, 0xfe}
	for _, c := range []byte(text) {
		out = append(out, c, 0)
	}
	return string(out)
}

// TestASmallTextStaysSmall: whoever reads it, and by less than 64 MiB in all.
func TestASmallTextStaysSmall(t *testing.T) {
	for name, text := range bombs() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := safeyaml.ToJSON([]byte(text))
			require.ErrorContains(t, err, "repeat more than 64 KiB")
			require.NotContains(t, err.Error(), "aaaa")
			var into any
			require.Error(t, safeyaml.Unmarshal([]byte(text), &into))
			require.Error(t, safeyaml.UnmarshalStrict([]byte(text), &into))
			_, err = safeyaml.Documents([]byte(text))
			require.Error(t, err)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
		})
	}
}

// TestAliasesAreToldByTheirLine: and those that repeat little are followed.
func TestAliasesAreToldByTheirLine(t *testing.T) {
	_, err := safeyaml.ToJSON([]byte("a: &a " + strings.Repeat("a", 60_000) + "\nb: *a\nc: *a\n"))
	require.EqualError(t, err, "line 3: aliases (*name) repeat more than 64 KiB; write such values out instead")
	_, err = safeyaml.ToJSON([]byte("a: 1\nb: &a [*a]\n"))
	require.EqualError(t, err, "line 2: the value contains itself by an alias (*name); write it without the alias")

	for text, want := range map[string]string{
		"a: &a {b: 1}\nc: *a\nd: {<<: *a, e: 2}\n":        `{"a":{"b":1},"c":{"b":1},"d":{"b":1,"e":2}}`,
		"hosts: ['*.example.com', \"*\", a*b]\nyes: 0644": `{"hosts":["*.example.com","*","a*b"],"true":420}`,
		"a: 1": `{"a":1}`,
		"":     `null`,
	} {
		got, err := safeyaml.ToJSON([]byte(text))
		require.NoError(t, err)
		require.JSONEq(t, want, string(got))
	}
	_, err = safeyaml.ToJSON([]byte("a: 1\na: 2\n"))
	require.ErrorContains(t, err, `"a" already set`)
}

// FuzzCheck: what is let through becomes no more than its text and what aliases may
// repeat, and nothing ends the process.
func FuzzCheck(f *testing.F) {
	f.Add("a: &a [x,x]\nb: &b [*a,*a]\nc: *b\n")
	f.Add("a: &a b\n? *a\n: {<<: [*a, *a]}\n--- \n*a\n")
	f.Fuzz(func(t *testing.T, text string) {
		converted, err := safeyaml.ToJSON([]byte(text))
		if err == nil {
			const escaped, repeated = 6, 64 << 10
			require.LessOrEqual(t, len(converted), escaped*(2*len(text)+repeated)+64)
		}
	})
}
