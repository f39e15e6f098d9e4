package throttle

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRequestsOfStrangersAreFew: beyond that the connection with most of them goes,
// of several the oldest.
func TestRequestsOfStrangersAreFew(t *testing.T) {
	t.Parallel()
	const local = "192.0.2.53:9018"
	reasons := map[string]int{}
	c := NewConnections(40, 10, func(reason string) { reasons[reason]++ })
	open := func(at string) from {
		one := connect(at)
		require.NotNil(t, c.add(one))
		return one
	}
	modest, greedy, other := open("192.0.2.1:1"), open("192.0.2.2:1"), open("192.0.2.2:2")
	first := c.Ask("192.0.2.1:1", local)
	for range 5 {
		c.Ask("192.0.2.2:1", local)
	}
	for range 4 {
		c.Ask("192.0.2.2:2", local)()
		c.Ask("192.0.2.2:2", local)
	}
	require.Empty(t, reasons)
	c.Ask("192.0.2.1:1", local)()
	require.True(t, greedy.closed(), "it has five of eleven")
	require.False(t, other.closed())
	require.False(t, modest.closed())
	require.Equal(t, map[string]int{fullAsking: 1}, reasons)

	for n := range 5 {
		open("192.0.2.3:" + strconv.Itoa(n))
		c.Ask("192.0.2.3:"+strconv.Itoa(n), local)
	}
	c.Known("192.0.2.2:2", local, "anna")
	for range 100 {
		c.Ask("192.0.2.2:2", local)
	}
	require.False(t, other.closed(), "somebody is known by it")
	first()
	require.Equal(t, 5, c.asking)
	require.Equal(t, map[string]int{fullAsking: 1}, reasons)

	c.Ask("192.0.2.9:1", local)() // which there is not
	var none *Connections
	none.Ask("192.0.2.1:1", local)()
	require.Equal(t, 5, c.asking)
}

// TestAConnectionThatIsClosedTakesItsRequestsAlong: and these change nothing when they
// end.
func TestAConnectionThatIsClosedTakesItsRequestsAlong(t *testing.T) {
	t.Parallel()
	c := NewConnections(8, 2, func(string) {})
	one := c.add(connect("192.0.2.1:1"))
	done := c.Ask("192.0.2.1:1", "192.0.2.53:9018")
	require.NoError(t, one.Close())
	require.Zero(t, c.asking)
	done()
	require.Zero(t, c.asking)
}
