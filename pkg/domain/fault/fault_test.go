package fault

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheFaultOfAnErrorIsThatOfTheFirstInItsChain(t *testing.T) {
	inner := Errorf(Refused, "no: %w", io.EOF)
	assert.Equal(t, Refused, Of(fmt.Errorf("ask: %w", inner)))
	assert.Equal(t, Stale, Of(&Error{Fault: Stale, Err: inner}))
	assert.Equal(t, Unreachable, Of(io.EOF), "nobody has said no")
	assert.Empty(t, Of(nil))
	assert.Equal(t, "no: EOF", inner.Error())
	require.ErrorIs(t, inner, io.EOF)
	require.NoError(t, Errorf(Stale, "%d", 7).Unwrap())
}
