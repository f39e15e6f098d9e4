package process

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports gives out loopback ports, each once.
type Ports struct {
	mu    sync.Mutex
	given map[int]bool
}

// The ports lie below those that systems hand to outgoing connections, so a
// server that is down for a while finds its port free when it comes back.
const (
	firstPort = 20000
	lastPort  = 32000
)

// Next returns a port that is free for TCP and UDP on 127.0.0.1.
func (p *Ports) Next(ctx context.Context) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.given == nil {
		p.given = map[int]bool{}
	}
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if !p.given[port] && free(ctx, port) {
			p.given[port] = true
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port between %d and %d", firstPort, lastPort)
}

// Address is Next as "127.0.0.1:port".
func (p *Ports) Address(ctx context.Context) (string, error) {
	port, err := p.Next(ctx)
	return fmt.Sprintf("127.0.0.1:%d", port), err
}

// free tells whether nobody listens on the port.
func free(ctx context.Context, port int) bool {
	address := fmt.Sprintf("127.0.0.1:%d", port)
	var config net.ListenConfig
	tcp, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = tcp.Close() }()
	udp, err := config.ListenPacket(ctx, "udp", address)
	if err != nil {
		return false
	}
	_ = udp.Close()
	return true
}
