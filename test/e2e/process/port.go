package process

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Ports gives out loopback ports. All Ports of this machine's test programs
// give each port out once, for as long as the program lives: a server that is
// down for a while finds its port free when it comes back.
type Ports struct{}

// The ports lie below those that systems hand to outgoing connections.
const (
	firstPort = 20000
	lastPort  = 32000
)

// Next returns a port that is free for TCP and UDP on 127.0.0.1.
func (p *Ports) Next(ctx context.Context) (int, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("signpost-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		taken, err := take(filepath.Join(dir, strconv.Itoa(port)))
		if err != nil {
			return 0, err
		}
		if taken && free(ctx, port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port between %d and %d", firstPort, lastPort)
}

// take locks the file that stands for a port, and tells whether nobody had. The
// system unlocks it when this program ends, however it does.
func take(path string) (bool, error) {
	file, err := syscall.Open(path, syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return false, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if syscall.Flock(file, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false, syscall.Close(file)
	}
	return true, nil
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
