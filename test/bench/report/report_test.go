package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

// TestEveryTableIsFreshOrMarkedOld compares each table of the page with the code of its benchmark.
func TestEveryTableIsFreshOrMarkedOld(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, Page))
	require.NoError(t, err)
	regions, err := Regions(string(raw))
	require.NoError(t, err)
	require.NotEmpty(t, regions)
	marked, err := Mark(root, string(raw))
	require.NoError(t, err)
	require.Equal(t, marked, string(raw), "the code of a benchmark has changed: make bench-docs ONLY='^$$' marks its table as old, and make bench-docs ONLY=NAME measures it again")
}

// TestAChangedBenchmarkMakesItsTableOld changes the code of a benchmark, and changes it back.
func TestAChangedBenchmarkMakesItsTableOld(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a_test.go")
	write := func(text string) { require.NoError(t, os.WriteFile(source, []byte(text), 0o600)) }
	write("package a")
	r := Region{Run: "BenchmarkA", Sources: []string{"*_test.go"}}
	digest, err := r.SourceDigest(dir)
	require.NoError(t, err)
	fresh := "# Page\n<!-- figures {\"run\":\"BenchmarkA\",\"module\":\"\",\"package\":\"\",\"sources\":[\"*_test.go\"],\"commit\":\"\",\"date\":\"\",\"digest\":\"" +
		digest + "\"} -->\n| 1 |\n<!-- end of figures -->\n"
	marked, err := Mark(dir, fresh)
	require.NoError(t, err)
	require.Equal(t, fresh, marked)

	write("package a // other")
	aged, err := Mark(dir, fresh)
	require.NoError(t, err)
	require.Contains(t, aged, old)
	again, err := Mark(dir, aged)
	require.NoError(t, err)
	require.Equal(t, aged, again, "it is marked once")

	write("package a")
	back, err := Mark(dir, aged)
	require.NoError(t, err)
	require.Equal(t, fresh, back)
}

// TestFiguresAreLaidOut reads what benchmarks print.
func TestFiguresAreLaidOut(t *testing.T) {
	sides, err := Parse("cpu: x\nBenchmarkCommit/embedded-2   5  0 ns/op  10.25 commit-p50-ms  11 commit-requests  15.2 puts/commit\n")
	require.NoError(t, err)
	require.Equal(t, "| | p50, ms | requests | ratio |\n|---|---:|---:|---:|\n| embedded: commit | 10.2 | 11 |  |\n| embedded: puts/commit |  |  | 15.2 |\n", Table(sides))

	few, err := Only(sides, "requests$")
	require.NoError(t, err)
	require.Equal(t, "| | requests |\n|---|---:|\n| embedded: commit | 11 |\n", Table(few))

	grown, err := Parse("BenchmarkScale/groups/names=100-2 1 0 ns/op 20 idle:_store_reads-/minute\nBenchmarkScale/groups/names=10000-2 1 0 ns/op 30 idle:_store_reads-/minute\n")
	require.NoError(t, err)
	require.Equal(t, "| | 100 names | 10,000 names | largest to smallest |\n|---|---:|---:|---:|\n| groups: idle: store reads, /minute | 20 | 30 | 1.5 |\n", Table(grown))
	require.Contains(t, Chart(grown, []string{"groups: idle: store reads, /minute"}), "<polyline")

	rows, err := Parse("BenchmarkTimeToAnswer/built-in,_10_names-2 1 0 ns/op 3 BIND-changes 1000 BIND-goal_for_p99,_ms 10 BIND-p50-ms 100 BIND-p99-ms 0 none-changes\n")
	require.NoError(t, err)
	require.Equal(t, "| | changes | goal for p99, ms | p50, ms | p99, ms |\n|---|---:|---:|---:|---:|\n| built-in, 10 names: BIND | 3 | 1,000 | 10 | 100 |\n| built-in, 10 names: none | 0 |  |  |  |\n", Table(rows))
	bars := Bars(rows)
	require.Contains(t, bars, ">built-in, 10 names: BIND</text>\n<rect x=\"300\" y=\"24\" width=\"0.0\"", "a median of the least value")
	require.Contains(t, bars, "width=\"210.0\"", "a p99 in the middle, from 10 to 1,000 ms")
	require.NotContains(t, bars, "none")
}
