package kubelet

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Proxy is the way from API servers to pods: a forward proxy that takes the
// address of a pod in its cluster to the one on this machine. API servers
// refuse to speak to loopback addresses by themselves.
type Proxy struct {
	Socket string // a path: Unix sockets cannot be longer than about 100 bytes

	listener net.Listener
	done     sync.WaitGroup
}

// StartProxy starts a proxy on a Unix socket.
func StartProxy(ctx context.Context, socket string) (*Proxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	p := &Proxy{Socket: socket, listener: listener}
	p.done.Go(func() {
		// It ends when the listener is closed.
		_ = http.Serve(listener, http.HandlerFunc(connect))
	})
	return p, nil
}

// Close stops the proxy. Connections that are open go on until an end of them
// closes.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.done.Wait()
}

// connect serves the method CONNECT.
func connect(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || !strings.HasPrefix(r.Host, "10.") {
		http.Error(w, "only CONNECT to pods", http.StatusMethodNotAllowed)
		return
	}
	pod, err := new(net.Dialer).DialContext(r.Context(), "tcp", HostIP(r.Host))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = pod.Close()
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, err = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	if err != nil {
		_, _ = client.Close(), pod.Close()
		return
	}
	go copyAndClose(pod, buffered)
	copyAndClose(client, pod)
}

// copyAndClose copies until either end closes, and then closes the target.
func copyAndClose(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}
