package recent_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// TestEqualTextsAreOne: they share their memory, also with a text that was a part of a larger one. Their number is bounded.
func TestEqualTextsAreOne(t *testing.T) {
	t.Parallel()
	var texts recent.Texts
	a, b := strings.Repeat("edge+hub ", 2)[:8], strings.Clone("edge+hub")
	require.Nil(t, texts.All(nil))
	list := texts.All([]string{a, b})
	require.Equal(t, []string{"edge+hub", "edge+hub"}, list)
	require.Same(t, unsafe.StringData(list[0]), unsafe.StringData(list[1]))
	require.NotSame(t, unsafe.StringData(a), unsafe.StringData(list[0]))
	require.Empty(t, texts.Shared(""))
	long := strings.Repeat("x", 1000)
	require.Same(t, unsafe.StringData(long), unsafe.StringData(texts.Shared(long)))
	require.Equal(t, 1, texts.Len())
	const many = 10_000
	for n := range many {
		require.Equal(t, fmt.Sprint(n), texts.Shared(fmt.Sprint(n)))
	}
	require.Less(t, texts.Len(), many/2)
}

// TestTextsThatAreJoinedStayAsTheyAre: one piece of memory has them all.
func TestTextsThatAreJoinedStayAsTheyAre(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1000) + "abc"
	a, empty, b := large[1000:], "", "defg"
	recent.Join(&a, &empty, &b)
	require.Equal(t, []string{"abc", "", "defg"}, []string{a, empty, b})
	require.Equal(t, unsafe.Pointer(unsafe.StringData(b)), unsafe.Add(unsafe.Pointer(unsafe.StringData(a)), len(a)))
}
