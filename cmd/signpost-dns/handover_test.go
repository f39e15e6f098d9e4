package main

import (
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/coredns/coredns/plugin/pkg/reuseport"
	"github.com/stretchr/testify/require"
)

// server is one of those that share an address.
type server struct {
	*net.UDPConn
	read atomic.Int64
}

func newServer(t *testing.T, address string) *server {
	t.Helper()
	connection, err := reuseport.ListenPacket("udp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	return &server{UDPConn: connection.(*net.UDPConn)}
}

// serve reads queries until the server is closed.
func (s *server) serve() {
	query := make([]byte, 1)
	for {
		if _, _, err := s.ReadFrom(query); err != nil {
			return
		}
		s.read.Add(1)
	}
}

// ask sends queries, each from a port of its own, which is what decides who
// gets it.
func ask(t *testing.T, address net.Addr, queries int) {
	t.Helper()
	for range queries {
		client, err := net.Dial("udp", address.String())
		require.NoError(t, err)
		_, err = client.Write([]byte{1})
		require.NoError(t, err)
		require.NoError(t, client.Close())
	}
}

// A server that ends has read what came to it, and nothing comes to it any more:
// its successor, on the same address, gets it.
func TestQueriesGoToTheSuccessor(t *testing.T) {
	const many = 100
	old := newServer(t, "127.0.0.1:0")
	ask(t, old.LocalAddr(), many) // nobody reads yet
	successor := newServer(t, old.LocalAddr().String())
	go successor.serve()
	go old.serve()
	raw, err := old.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(socket uintptr) {
		require.True(t, serves(int(socket)))
		retire([]int{int(socket)})
		require.False(t, anyUnread([]int{int(socket)}))
		require.False(t, serves(int(socket)))
	}))
	ask(t, old.LocalAddr(), many)
	require.Eventually(t, func() bool { return old.read.Load() == many && successor.read.Load() == many }, patience, tick)
}

func TestOnlyServersAreRetired(t *testing.T) {
	client, err := net.Dial("udp", "127.0.0.1:9")
	require.NoError(t, err)
	defer client.Close()
	stream, err := reuseport.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer stream.Close()
	for _, c := range []struct {
		what   string
		socket any
		want   bool
	}{
		{"one that asks", client, false},
		{"one for TCP", stream, false},
		{"one that serves", newServer(t, "127.0.0.1:0"), true},
	} {
		raw, err := c.socket.(syscall.Conn).SyscallConn()
		require.NoError(t, err)
		require.NoError(t, raw.Control(func(socket uintptr) { require.Equal(t, c.want, serves(int(socket)), c.what) }))
	}
}
