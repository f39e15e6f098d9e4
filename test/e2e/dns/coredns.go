// Package dns runs real DNS servers for tests, and queries them.
package dns

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/tools"
)

// The zones that the servers are authoritative for.
const (
	CoreDNSZone = "lab.example"
	BINDZone    = "corp.example"
)

// CoreDNSPath is where CoreDNS looks for names in etcd.
const CoreDNSPath = "/skydns"

// Server is a DNS server on loopback.
type Server struct {
	*process.Process

	// Address is its "127.0.0.1:port", both for UDP and for TCP.
	Address string
}

// NewCoreDNS prepares a CoreDNS that serves CoreDNSZone and BINDZone from etcd, without
// any cache, so that an answer is what etcd holds now.
func NewCoreDNS(ctx context.Context, dir, etcd string, ports *process.Ports) (*Server, error) {
	path, err := tools.Path(ctx, tools.CoreDNS)
	if err != nil {
		return nil, err
	}
	port, err := ports.Next(ctx)
	if err != nil {
		return nil, err
	}
	corefile := fmt.Sprintf(`%[1]s:%[2]d %[3]s:%[2]d {
    bind 127.0.0.1
    etcd {
        path %[4]s
        endpoint %[5]s
    }
    log
    errors
}
`, CoreDNSZone, port, BINDZone, CoreDNSPath, etcd)
	file := filepath.Join(dir, "Corefile")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, []byte(corefile), 0o600); err != nil {
		return nil, err
	}
	s := &Server{Address: fmt.Sprintf("127.0.0.1:%d", port)}
	s.Process = &process.Process{
		Name: "coredns", Path: path, Args: []string{"-conf", file},
		Log: filepath.Join(dir, "coredns.log"), Ready: s.serves(CoreDNSZone),
	}
	return s, nil
}

// serves is ready when the server answers for the zone with authority.
func (s *Server) serves(zone string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := Query(ctx, s.Address, zone, "SOA")
		return err
	}
}
