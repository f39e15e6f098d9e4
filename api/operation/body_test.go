package operation

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/api/schema"
	"github.com/signpost-dns/signpost/openapi"
)

// manyOf is the inside of a list.
func manyOf(n int, item string) string {
	return strings.TrimSuffix(strings.Repeat(item+",", n), ",")
}

// servers is a DNS CR intent with these servers.
func servers(items string) string {
	return `{"metadata":{"name":"x"},"spec":{"servers":[` + items + `]}}`
}

// TestErrorsTakeNoMoreMemoryThanTheirBody: 1 MiB of them became 500 MiB, in each of
// many requests at once.
func TestErrorsTakeNoMoreMemoryThanTheirBody(t *testing.T) { //nolint:paralleltest // it measures the memory of all
	doc, err := openapi.Load()
	require.NoError(t, err)
	op, err := New(doc, "/v2/projects/{project}/logical-clouds/{logicalCloud}/dns-cr-intents", "POST", nil)
	require.NoError(t, err)
	const beside = "has more than 20000 values, so that only the first error is told"
	for name, c := range map[string]struct {
		body  string
		wants string // of the first error
		alone bool
	}{
		"a list that is too long":      {servers(manyOf(340_000, `{}`)), "/spec/servers must have at most 1000 items", true},
		"lists that are not":           {servers(manyOf(500, `{"zones":[`+manyOf(1000, "0")+`]}`)), "/spec/servers/0/", true},
		"fields that are not known":    {`{"k":[` + manyOf(300_000, "1") + `]}`, `/k unknown field "k"`, true},
		"as many as are all looked at": {servers(manyOf(1000, `{"zones":[0,0,0,0,0,0,0,0,0]}`)), "/spec/servers/0/", false},
	} {
		t.Run(name, func(t *testing.T) {
			value, _, err := jsonbody.Decode([]byte(c.body))
			require.NoError(t, err)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			fields := schema.Validate(op.body, value)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40<<20))
			require.Contains(t, fields[0].Pointer+" "+fields[0].Detail, c.wants)
			require.Equal(t, c.alone, fields[len(fields)-1].Detail == beside)
			if !c.alone {
				require.Len(t, fields, schema.MaxErrors+1)
			}
		})
	}
}

// TestABodyWeighsWhatItBecomes: in JSON and in YAML.
func TestABodyWeighsWhatItBecomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent     Received
		from, to int64 // MiB
	}{
		"a text":              {Received{mediaJSON, []byte(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`)}, 2, 3},
		"ten thousand names":  {Received{mediaJSON, []byte(`[` + manyOf(10_000, `"a.lab.example"`) + `]`)}, 5, 20},
		"objects":             {Received{mediaJSON, []byte(servers(manyOf(340_000, `{}`)))}, 100, 1000},
		"lists in each other": {Received{mediaJSON, []byte(strings.Repeat("[", 1000))}, 1 << 20, 1 << 40},
		"lines":               {Received{mediaYAML, []byte(strings.Repeat("- a\n", 250_000))}, 100, 1000},
		"a text in YAML":      {Received{mediaYAML, []byte("a: " + strings.Repeat("x", 1<<20))}, 0, 1},
	} {
		weight := c.sent.decoded() >> 20
		require.True(t, c.from <= weight && weight <= c.to, "%s: %d MiB", name, weight)
	}
}
