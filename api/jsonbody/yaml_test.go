package jsonbody

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// FuzzYAML: what is taken becomes JSON.
func FuzzYAML(f *testing.F) {
	for _, text := range []string{
		"metadata: {name: x}\nspec:\n  servers: []\n", "a: 1\n---\nb: 2", "a: &x [1]\nb: *x", "a: 1\na: 2", "? [a]\n: b", "\xff", "", "--- \n# nothing\n...\n", "on: .inf", "1: 0x10",
		"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		converted, err := FromYAML(text)
		if err != nil {
			require.Equal(t, intent.Invalid, intent.CodeOf(err))
			return
		}
		require.True(t, json.Valid(converted), "%s", converted)
	})
}
