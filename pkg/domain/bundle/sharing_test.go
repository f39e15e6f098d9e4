package bundle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsTheSameIsKeptOnce(t *testing.T) {
	t.Parallel()
	s := NewSharing()
	first := s.Share(Object{JSON: []byte(`{"a":1}`)}, Object{JSON: []byte(`{"a":2}`)})
	second := s.Share(Object{JSON: []byte(`{"a":2}`)}, Object{JSON: []byte(`{"a":3}`)})
	require.Same(t, &first[1].JSON[0], &second[0].JSON[0])
	require.Equal(t, `{"a":3}`, string(second[1].JSON))
	require.Equal(t, 21, s.Size())
}
