package link_test

import (
	"bufio"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/faults/link"
)

const patience = 30 * time.Second

// echo is a server that says back what it is told.
func echo(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(connection, connection)
				_ = connection.Close()
			}()
		}
	}()
	return listener.Addr().String()
}

func linked(t *testing.T) *link.Link {
	l, err := link.New("", echo(t))
	require.NoError(t, err)
	t.Cleanup(l.Close)
	return l
}

// talker is a client.
type talker struct {
	*testing.T
	net.Conn
	lines chan string // what is said back; closed at the end
}

func dial(t *testing.T, l *link.Link) talker {
	connection, err := net.Dial("tcp", l.Address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	c := talker{t, connection, make(chan string)}
	go func() {
		defer close(c.lines)
		lines := bufio.NewScanner(connection)
		for lines.Scan() {
			c.lines <- lines.Text()
		}
	}()
	return c
}

func (c talker) say(line string) {
	_, err := c.Write([]byte(line + "\n"))
	require.NoError(c, err)
}

func (c talker) hears(line string) {
	c.Helper()
	select {
	case heard, ok := <-c.lines:
		require.True(c, ok, "it ended")
		require.Equal(c, line, heard)
	case <-time.After(patience):
		require.FailNow(c, "nothing is heard")
	}
}

func (c talker) hearsNothing() {
	c.Helper()
	select {
	case heard, ok := <-c.lines:
		require.FailNow(c, "something is heard", "%q, %t", heard, ok)
	case <-time.After(100 * time.Millisecond):
	}
}

func (c talker) ends() {
	c.Helper()
	select {
	case _, ok := <-c.lines:
		require.False(c, ok)
	case <-time.After(patience):
		require.FailNow(c, "it does not end")
	}
}

func TestALinkForwardsBothWaysAndTheEnd(t *testing.T) {
	c := dial(t, linked(t))
	c.say("one")
	c.hears("one")
	c.say("two")
	require.NoError(t, c.Conn.(*net.TCPConn).CloseWrite())
	c.hears("two")
	c.ends()
}

// TestWhatIsCutArrivesLater: as what TCP sends again; one way alone or both, and
// connections that are made meanwhile wait, too.
func TestWhatIsCutArrivesLater(t *testing.T) {
	for name, fault := range map[string]link.Fault{"forth": {Forth: true}, "back": {Back: true}, "both": link.Cut()} {
		t.Run(name, func(t *testing.T) {
			l := linked(t)
			before := dial(t, l)
			before.say("one")
			before.hears("one")
			require.NoError(t, l.Set(fault))
			before.say("two")
			before.hearsNothing()
			meanwhile := dial(t, l)
			meanwhile.say("three")
			meanwhile.hearsNothing()
			require.NoError(t, l.Set(link.Fault{}))
			before.hears("two")
			meanwhile.hears("three")
		})
	}
}

func TestALinkIsSlow(t *testing.T) {
	l := linked(t)
	c := dial(t, l)
	c.say("one")
	c.hears("one")
	const latency = 50 * time.Millisecond
	require.NoError(t, l.Set(link.Fault{Latency: latency}))
	began := time.Now()
	c.say("two")
	c.hears("two")
	require.GreaterOrEqual(t, time.Since(began), 2*latency, "each way")
}

func TestConnectionsAreResetAndRefused(t *testing.T) {
	l := linked(t)
	c := dial(t, l)
	c.say("one")
	c.hears("one")
	l.Reset()
	c.ends()
	again := dial(t, l)
	again.say("two")
	again.hears("two")
	require.NoError(t, l.Set(link.Fault{Refuse: true}))
	again.ends()
	_, err := net.Dial("tcp", l.Address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.NoError(t, l.Set(link.Fault{}))
	third := dial(t, l)
	third.say("three")
	third.hears("three")
}

// TestWhatIsHeldBackEnds: with the link, and with a reset.
func TestWhatIsHeldBackEnds(t *testing.T) {
	l := linked(t)
	require.NoError(t, l.Set(link.Cut()))
	c := dial(t, l)
	c.say("one")
	l.Close()
	c.ends()
}
