package emco

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/process"
)

// Service is one of EMCO's REST services, on loopback. It keeps its address
// while it is down.
type Service struct {
	// URL is the base that EMCO's configurations name, without "/v2".
	URL string

	handler http.Handler

	mu       sync.Mutex
	server   *http.Server // nil while it is down
	delay    time.Duration
	status   int // instead of an answer; 0 for none
	requests []string
}

func newService(handler http.Handler) (*Service, error) {
	address, err := new(process.Ports).Address(context.Background())
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Service{URL: "http://" + address, handler: handler}
	s.serve(listener)
	return s, nil
}

func (s *Service) serve(listener net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func(server *http.Server) { _ = server.Serve(listener) }(s.server) // ends with Down
}

// Down ends the service and all its connections: nobody listens any more.
func (s *Service) Down() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		_ = s.server.Close()
	}
	s.server = nil
}

// Up brings the service back after Down.
func (s *Service) Up() error {
	listener, err := net.Listen("tcp", s.URL[len("http://"):])
	if err != nil {
		return err
	}
	s.serve(listener)
	return nil
}

// Slow makes each answer wait, or till the client has gone.
func (s *Service) Slow(delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = delay
}

// Fail makes each answer an error of this status; 0 takes it back.
func (s *Service) Fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// Requests lists what the service was asked so far, as "GET /v2/projects".
func (s *Service) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// ServeHTTP answers as the faults that are switched on have it.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	delay, status := s.delay, s.status
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	s.mu.Unlock()
	if wait(r.Context(), delay) != nil {
		return
	}
	if status != 0 {
		http.Error(w, internalError, status)
		return
	}
	s.handler.ServeHTTP(w, r)
}

// internalError is what EMCO says of errors that it does not know.
const internalError = "The server encountered an internal error and was unable to complete your request."

// wait waits so long, or until ctx ends.
func wait(ctx context.Context, delay time.Duration) error {
	if delay <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
