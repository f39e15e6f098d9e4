package bundle_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// TestNewObjectsAreWhatParsingGives for the same text, whichever way they are made.
func TestNewObjectsAreWhatParsingGives(t *testing.T) {
	t.Parallel()
	first := sample.Seed(t)
	for seed := first; seed < first+uint64(sample.Cases(500, 5_000, 100_000)); seed++ { //nolint:gosec // a count
		draw := drawn{rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // cases, not secrets
		raw := json.RawMessage(draw.object(3, `"apiVersion":"apps/v1","kind":"A","metadata":{"name":"n","labels":`+draw.object(0, ``)+`},`))
		parsed, err := bundle.Parse("edge+hub", "web", raw)
		made, errMade := bundle.New("edge+hub", "web", raw)
		require.Equal(t, parsed, made, "seed %d: %s", seed, raw)
		require.Equal(t, err, errMade, "seed %d: %s", seed, raw)
	}
}

// drawn draws JSON.
type drawn struct{ *rand.Rand }

func (d drawn) object(depth int, begin string) string {
	out := "{" + begin
	for n := range d.IntN(5) {
		if n > 0 {
			out += ","
		}
		value := d.key()
		if depth > 0 {
			value = d.value(depth - 1)
		}
		out += d.key() + ":" + value
	}
	if out[len(out)-1] == ',' {
		out = out[:len(out)-1]
	}
	return out + "}"
}

func (d drawn) key() string {
	names := []string{
		`"status"`, `"creationTimestamp"`, `"metadata"`, `"kind"`, `"a"`, `"a-b"`, `"a.b"`, `"ab"`, `"A"`, `""`, `"ü"`, `"<"`, `"a,b"`, `"a}"`, `"]"`, `":"`,
		`"\""`, `"\\"`, `"\\\""`, `"\n"`, `"\u0041"`, `"\u003c"`, `"\/"`, `"\b"`, `"\ud83d\ude00"`, `"😀"`, "\"\u2028\"", "\"\xff\"",
	}
	if d.IntN(3) > 0 { // most texts can be sorted as they are
		names = names[:16]
	}
	if d.IntN(20) > 0 {
		return names[d.IntN(len(names))]
	}
	return fmt.Sprintf(`"key%d"`, d.IntN(100))
}

func (d drawn) value(depth int) string {
	switch d.IntN(4) {
	case 0:
		return d.object(depth, ``)
	case 1:
		out := "["
		for n := range d.IntN(4) {
			if n > 0 {
				out += ","
			}
			if depth > 0 {
				out += d.value(depth - 1)
			} else {
				out += "null"
			}
		}
		return out + "]"
	case 2:
		return d.key()
	default:
		words := []string{"null", "true", "false", "0", "-1.50", "1e400", "9007199254740993"}
		return words[d.IntN(len(words))]
	}
}
