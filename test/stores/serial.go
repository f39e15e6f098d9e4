package stores

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
)

// A message of the wire protocol begins with its length, the header included.
const (
	lengthBytes = 4
	maxMessage  = 48 << 20
)

// Serial is a proxy that lets one command at a time through to the server.
// MongoDB changes a document atomically; FerretDB over SQLite reads it, and
// then writes it, and lets other commands come between. One at a time, its
// answers are those of MongoDB.
type Serial struct {
	listener net.Listener
	target   string
	one      sync.Mutex // held from a command to its answer
}

// NewSerial starts a proxy to the server at an address, on a port of its own.
func NewSerial(ctx context.Context, target string) (*Serial, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s := &Serial{listener: listener, target: target}
	go s.accept(ctx)
	return s, nil
}

// Address returns where the proxy listens.
func (s *Serial) Address() string { return s.listener.Addr().String() }

// Close ends the listener. Connections end with their clients.
func (s *Serial) Close() error { return s.listener.Close() }

func (s *Serial) accept(ctx context.Context) {
	for {
		client, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		go s.serve(ctx, client)
	}
}

// serve ends with either side. The clients see a server that broke off.
func (s *Serial) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.target)
	if err != nil {
		return
	}
	defer server.Close()
	for {
		command, err := message(client)
		if err != nil {
			return
		}
		answer, err := s.exchange(server, command)
		if err != nil {
			return
		}
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

func (s *Serial) exchange(server net.Conn, command []byte) ([]byte, error) {
	s.one.Lock()
	defer s.one.Unlock()
	if _, err := server.Write(command); err != nil {
		return nil, err
	}
	return message(server)
}

func message(from io.Reader) ([]byte, error) {
	var length [lengthBytes]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n < lengthBytes || n > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	whole := make([]byte, n)
	copy(whole, length[:])
	_, err := io.ReadFull(from, whole[lengthBytes:])
	return whole, err
}
