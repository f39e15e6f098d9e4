package hostname

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAPatternMayBeInternational, label by label.
func TestAPatternMayBeInternational(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"www.*":               "www.*",
		"*.münchen.example":   "*.xn--mnchen-3ya.example",
		"WWW.München.example": "WWW.xn--mnchen-3ya.example",
		"":                    "",
	} {
		got, err := ASCIIPattern(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := ASCIIPattern("mün*.example")
	require.ErrorContains(t, err, "give the whole label")
}
