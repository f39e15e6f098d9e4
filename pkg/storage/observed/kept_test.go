package observed

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOfAnswersASumIsKept: there are answers of each single name. What else is stored is read again.
func TestOfAnswersASumIsKept(t *testing.T) {
	t.Parallel()
	const most = 32 // bytes
	k, answers, service := kept{}, answerPrefix("edge+hub")+"shop/a", servicePrefix("edge+hub")+"shop/a"
	value := []byte(strings.Repeat("an answer ", 50))
	for _, key := range []string{answers, service} {
		require.False(t, k.has(key, value))
		k.put(key, value)
		require.True(t, k.has(key, value))
		require.False(t, k.has(key, append(value, '.')))
	}
	require.LessOrEqual(t, len(k.of(answers)), most)
	require.Equal(t, value, k.of(service))
	k.drop(answers)
	require.False(t, k.has(answers, value))
}
