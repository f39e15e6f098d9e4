package schema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzHas: a body has a field when it is an object with something in it there, as
// documents are encoded.
func FuzzHas(f *testing.F) {
	for _, text := range []string{`{"spec":{"domains":["lab.example"]}}`, `{"spec":{"domains":[]}}`, `{"spec":{"domains":null}}`, `{"spec":"domains"}`, `{"domains":1}`, `{"spec":{"domains":0}}`, `[]`, `null`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var said any
		if json.Unmarshal(text, &said) != nil {
			return
		}
		body, err := json.Marshal(said)
		require.NoError(t, err)
		spec, _ := said.(map[string]any)
		within, _ := spec["spec"].(map[string]any)
		want := true
		switch value := within["domains"].(type) {
		case nil:
			want = false
		case string:
			want = value != ""
		case []any:
			want = len(value) > 0
		case map[string]any:
			want = len(value) > 0
		}
		require.Equal(t, want, has(body, []string{"spec", "domains"}), "%s", body)
	})
}
