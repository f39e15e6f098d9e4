package throttle

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// from is a connection that comes from an address, and the other side of it.
type from struct {
	net.Conn
	remote string
	other  net.Conn
}

func connect(remote string) from {
	here, there := net.Pipe()
	return from{here, remote, there}
}

func (f from) RemoteAddr() net.Addr { return address(f.remote) }
func (f from) LocalAddr() net.Addr  { return address("192.0.2.53:9018") }

// closed tells whether the connection has been ended.
func (f from) closed() bool { return f.other.SetReadDeadline(time.Time{}) != nil }

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// TestStrangersMakeRoom: the oldest connection without a known subject goes, of the
// address that has too many, or of anywhere when there are too many in all.
func TestStrangersMakeRoom(t *testing.T) {
	t.Parallel()
	reasons := map[string]int{}
	c := NewConnections(6, 3, func(reason string) { reasons[reason]++ })
	var flood []from
	for port := range 4 {
		flood = append(flood, connect("192.0.2.1:"+strconv.Itoa(port)))
		require.NotNil(t, c.add(flood[port]))
	}
	require.True(t, flood[0].closed(), "the oldest of four from an address that has three")
	require.Equal(t, map[string]int{fullOrigin: 1}, reasons)
	require.Equal(t, 3, c.Len())

	user := connect("192.0.2.1:99") // through the same ingress
	require.NotNil(t, c.add(user))
	require.True(t, flood[1].closed())
	c.Known("192.0.2.1:99", "192.0.2.53:9018", "anna")
	for port := range 9 {
		require.NotNil(t, c.add(connect("192.0.2.1:"+strconv.Itoa(1000+port))))
	}
	require.False(t, user.closed(), "somebody is known by it")
	require.Equal(t, 4, c.Len())

	modest := connect("192.0.2.2:1")
	require.NotNil(t, c.add(modest))
	for net := range 9 {
		require.NotNil(t, c.add(connect("[2001:db8:"+strconv.Itoa(net)+"::1]:1")))
	}
	require.Equal(t, 6, c.Len(), "there are never more")
	require.Positive(t, reasons[full])
	require.True(t, modest.closed(), "it has asked for nothing meanwhile")
	require.False(t, user.closed())
}

func TestNobodyIsKnownByMoreThanHalfOfTheConnections(t *testing.T) {
	t.Parallel()
	c := NewConnections(4, 4, func(string) {})
	greedy := make([]from, 4)
	for n := range greedy {
		at := "192.0.2.1:" + strconv.Itoa(n)
		greedy[n] = connect(at)
		require.NotNil(t, c.add(greedy[n]))
		c.Known(at, "192.0.2.53:9018", "greedy")
		c.Known(at, "192.0.2.53:9018", "greedy") // which changes nothing
	}
	modest := connect("192.0.2.2:1")
	require.NotNil(t, c.add(modest))
	c.Known("192.0.2.2:1", "192.0.2.53:9018", "modest")
	require.True(t, greedy[2].closed())
	require.False(t, greedy[0].closed())
	other := connect("192.0.2.2:2")
	require.NotNil(t, c.add(other))
	c.Known("192.0.2.2:2", "192.0.2.53:9018", "modest")
	late := connect("192.0.2.3:1")
	require.Nil(t, c.add(late), "all are known: who comes last is turned away")
	require.True(t, late.closed())
}

func TestAClosedConnectionIsForgotten(t *testing.T) {
	t.Parallel()
	c := NewConnections(2, 2, func(string) {})
	for n := range 9 {
		at := "192.0.2.1:" + strconv.Itoa(n)
		one := c.add(connect(at))
		require.NotNil(t, one)
		if n%2 == 0 {
			c.Known(at, "192.0.2.53:9018", "anna")
		}
		require.NoError(t, one.Close())
		_ = one.Close() // as servers do
		require.Zero(t, c.Len())
	}
	require.Empty(t, c.origins)
	require.Empty(t, c.subjects)
	require.Zero(t, c.strange.Len())
	c.Known("192.0.2.1:1", "192.0.2.53:9018", "anna") // which is gone
}

func TestNoConnectionsBoundNothing(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var none *Connections
	require.Equal(t, l, none.Limit(l))
	none.Known("192.0.2.1:1", "192.0.2.53:9018", "anna")
}
