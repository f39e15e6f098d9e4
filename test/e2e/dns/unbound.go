package dns

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/signpost-dns/signpost/test/e2e/process"
)

// NewUnbound prepares an Unbound, which caches the answers of an authoritative server ("host:port") for CoreDNSZone as
// long as their TTLs say. All of its files are in dir.
func NewUnbound(ctx context.Context, dir, authoritative string, ports *process.Ports) (*Server, error) {
	path, err := lookUp("unbound", "unbound")
	if err != nil {
		return nil, err
	}
	port, err := ports.Next(ctx)
	if err != nil {
		return nil, err
	}
	host, of, err := net.SplitHostPort(authoritative)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "unbound.conf")
	config := fmt.Sprintf(`server:
    directory: %[1]q
    chroot: ""
    username: ""
    pidfile: ""
    do-daemonize: no
    use-syslog: no
    num-threads: 1
    interface: 127.0.0.1@%[2]d
    access-control: 127.0.0.0/8 allow
    do-not-query-localhost: no
    module-config: "iterator"
    prefetch: no
    serve-expired: no
remote-control:
    control-enable: no
stub-zone:
    name: %[3]q
    stub-addr: %[4]s@%[5]s
`, dir, port, CoreDNSZone, host, of)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	s := &Server{Address: fmt.Sprintf("127.0.0.1:%d", port)}
	s.Process = &process.Process{
		Name: "unbound", Path: path, Args: []string{"-d", "-c", file}, Log: filepath.Join(dir, "unbound.log"),
		Ready: func(ctx context.Context) error {
			_, err := Resolve(ctx, s.Address, CoreDNSZone, "SOA")
			return err
		},
	}
	return s, nil
}
