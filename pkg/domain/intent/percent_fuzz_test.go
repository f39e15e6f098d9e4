package intent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzPercent: a share that is read is written as a number that is read alike,
// and so is its text with the sign behind.
func FuzzPercent(f *testing.F) {
	for _, seed := range []string{`25`, `"25%"`, `"25"`, `"%"`, `"25%%"`, `2.5`, `1e2`, `null`, `"\u0032%"`, `-1`, `"+5%"`, `99999999999999999999`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var share, again, text Percent
		if json.Unmarshal(raw, &share) != nil {
			return
		}
		written, err := json.Marshal(share)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(written, &again))
		require.Equal(t, share, again)
		require.NoError(t, json.Unmarshal([]byte(`"`+string(written)+`%"`), &text))
		require.Equal(t, share, text)
	})
}
