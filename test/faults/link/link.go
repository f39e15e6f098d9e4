// Package link puts a TCP connection's troubles between two programs: what they
// say is late, or gets through one way only or not at all, connections are reset,
// or refused.
package link

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Fault is what is wrong with a link. The zero value is nothing.
type Fault struct {
	Latency time.Duration // what is said arrives so much later, each way
	Forth   bool          // what the client says does not arrive, until the fault ends
	Back    bool          // what the server says does not arrive, until the fault ends
	Refuse  bool          // nobody listens, and what was connected is reset
}

// Cut lets nothing through, while both sides believe that they are connected.
func Cut() Fault { return Fault{Forth: true, Back: true} }

// Link forwards TCP connections to a server, over and over.
type Link struct {
	// Address is where clients connect, as host:port.
	Address string

	target string
	ctx    context.Context //nolint:containedctx // of the connections, which begin by themselves
	end    context.CancelFunc

	mu       sync.Mutex
	fault    Fault
	changed  chan struct{} // closed when fault is another one
	listener net.Listener  // nil while connections are refused
	open     map[*pair]bool
	running  sync.WaitGroup
}

// pair is one connection of a client, and the one to the server that it goes on in.
type pair struct {
	ended chan struct{}

	mu    sync.Mutex
	sides []net.Conn // nil once they are reset
}

// New begins to forward from a free loopback address, or from this one, to target,
// "host:port". The caller closes the link.
func New(address, target string) (*Link, error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	ctx, end := context.WithCancel(context.Background())
	l := &Link{Address: address, target: target, ctx: ctx, end: end, changed: make(chan struct{}), open: map[*pair]bool{}}
	if err := l.listen(); err != nil {
		end()
		return nil, err
	}
	return l, nil
}

func (l *Link) listen() error {
	listener, err := (&net.ListenConfig{}).Listen(l.ctx, "tcp", l.Address)
	if err != nil {
		return err
	}
	l.listener, l.Address = listener, listener.Addr().String()
	l.running.Go(func() { l.accept(listener) })
	return nil
}

// Close resets all connections, and accepts no more.
func (l *Link) Close() {
	_ = l.Set(Fault{Refuse: true})
	l.end()
	l.running.Wait()
}

// Set puts one fault in place of another. What was held back goes on its way when
// it may. It fails when somebody else has taken the address of a link that
// refused connections.
func (l *Link) Set(f Fault) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = f
	close(l.changed)
	l.changed = make(chan struct{})
	switch {
	case f.Refuse && l.listener != nil:
		err := l.listener.Close()
		l.listener = nil
		l.reset()
		return err
	case !f.Refuse && l.listener == nil:
		return l.listen()
	}
	return nil
}

// Reset resets all connections there are now.
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reset()
}

func (l *Link) reset() {
	for p := range l.open {
		p.reset()
	}
}

func (l *Link) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		l.running.Go(func() { l.connect(client) })
	}
}

// connect forwards one connection until either side ends it.
func (l *Link) connect(client net.Conn) {
	p := &pair{ended: make(chan struct{}), sides: []net.Conn{client}}
	defer p.reset()
	l.mu.Lock()
	refused := l.fault.Refuse
	l.open[p] = true
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.open, p)
		l.mu.Unlock()
	}()
	if refused || !l.pass(p, true) {
		return
	}
	server, err := (&net.Dialer{}).DialContext(l.ctx, "tcp", l.target)
	if err != nil || !p.join(server) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.pump(p, server, client, true) })
	both.Go(func() { l.pump(p, client, server, false) })
	both.Wait()
}

// pump passes one direction on. An end of it is passed on, too.
func (l *Link) pump(p *pair, to, from net.Conn, forth bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !l.pass(p, forth) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				p.reset()
				return
			}
		}
		if err != nil {
			if !l.pass(p, forth) {
				return
			}
			if half, ok := to.(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
			return
		}
	}
}

// pass waits until what goes one way may arrive, and answers whether it still can.
func (l *Link) pass(p *pair, forth bool) bool {
	for {
		l.mu.Lock()
		fault, changed := l.fault, l.changed
		l.mu.Unlock()
		cut := forth && fault.Forth || !forth && fault.Back
		var after <-chan time.Time
		if !cut {
			if fault.Latency == 0 {
				return true
			}
			after = time.After(fault.Latency)
		}
		select {
		case <-after:
			return true
		case <-changed:
		case <-p.ended:
			return false
		case <-l.ctx.Done():
			return false
		}
	}
}

// reset ends both connections so that each side is told that they broke.
func (p *pair) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sides == nil {
		return
	}
	close(p.ended)
	for _, side := range p.sides {
		abort(side)
	}
	p.sides = nil
}

// join adds the connection to the server, unless the client's is reset already.
func (p *pair) join(server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sides == nil {
		abort(server)
		return false
	}
	p.sides = append(p.sides, server)
	return true
}

func abort(connection net.Conn) {
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = errors.Join(tcp.SetLinger(0), tcp.Close())
	}
}
