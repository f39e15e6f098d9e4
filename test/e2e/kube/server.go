// Package kube runs Kubernetes API servers for tests, and plays the parts
// around them that the tests need: the cloud that gives load balancers their
// addresses, and the controller that finishes namespaces.
package kube

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/tools"
)

// The users that every server knows.
const (
	Admin    = "admin"     // may do everything
	Signpost = rights.User // may do what it is granted by GrantSignpost
)

// requestTimeout bounds every request of the harness: a server that is stopped
// in the middle of a test must not hold it up.
const requestTimeout = 30 * time.Second

// Options say what a server needs from the rest of the fixture.
type Options struct {
	// Name of the cluster; also its prefix in etcd.
	Name string
	// Dir is a directory for the server alone.
	Dir string
	// Etcd is the URL of an etcd server, shared by prefix.
	Etcd string
	// PodProxy is the Unix socket of a forward proxy through which the server
	// reaches pods; empty for none.
	PodProxy string
	Ports    *process.Ports
}

// Server is one kube-apiserver. It keeps its address, its objects and its
// tokens over a stop and a start.
type Server struct {
	Name string
	URL  string
	// Client and Dynamic speak as the admin.
	Client  kubernetes.Interface
	Dynamic dynamic.Interface

	dir     string
	ca      []byte
	tokens  map[string]string // by user
	process *process.Process
	admin   *rest.Config
}

// NewServer prepares a server; Start starts it.
func NewServer(ctx context.Context, options Options) (*Server, error) {
	path, err := tools.Path(ctx, tools.KubeAPIServer)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(options.Dir, 0o700); err != nil {
		return nil, err
	}
	address, err := options.Ports.Address(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{Name: options.Name, URL: "https://" + address, dir: options.Dir}
	if err := s.writeIdentity(); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", s.Name, err)
	}
	if err := s.connect(); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", s.Name, err)
	}
	args, err := s.args(options, address)
	if err != nil {
		return nil, err
	}
	s.process = &process.Process{
		Name: "kube-apiserver " + s.Name, Path: path, Args: args,
		Log: filepath.Join(s.dir, "kube-apiserver.log"), Ready: s.ready,
	}
	return s, nil
}

// writeIdentity writes what the server is known by and knows others by.
func (s *Server) writeIdentity() error {
	serving, err := newCertificate()
	if err != nil {
		return err
	}
	_, accounts, err := newKey()
	if err != nil {
		return err
	}
	s.ca = serving.cert
	s.tokens = map[string]string{}
	for _, user := range []string{Admin, Signpost} {
		secret := make([]byte, 16)
		if _, err := rand.Read(secret); err != nil {
			return err
		}
		s.tokens[user] = hex.EncodeToString(secret)
	}
	return writeFiles(map[string][]byte{
		s.file("serving.crt"):  serving.cert,
		s.file("serving.key"):  serving.key,
		s.file("accounts.key"): accounts,
		s.file("tokens.csv"): []byte(s.tokens[Admin] + ",admin,1,system:masters\n" +
			s.tokens[Signpost] + "," + Signpost + ",2\n"),
		s.file("audit-policy.yaml"): []byte(auditPolicy),
	})
}

func (s *Server) file(name string) string { return filepath.Join(s.dir, name) }

// connect makes the admin's clients. Requests are not slowed down: the harness
// stands for parts that have no such limit either.
func (s *Server) connect() error {
	s.admin = &rest.Config{
		Host: s.URL, BearerToken: s.tokens[Admin], Timeout: requestTimeout, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: s.ca},
	}
	var err error
	if s.Client, err = kubernetes.NewForConfig(s.admin); err != nil {
		return err
	}
	s.Dynamic, err = dynamic.NewForConfig(s.admin)
	return err
}

// Start starts the server and returns once it is ready.
func (s *Server) Start(ctx context.Context) error {
	return s.process.Start(ctx)
}

// Stop kills the server, as a power cut does. Its objects stay in etcd.
func (s *Server) Stop() { s.process.Kill() }

// PID is the process id of the present life, 0 before the first.
func (s *Server) PID() int { return s.process.PID() }

// Tail returns the end of the server's log.
func (s *Server) Tail(lines int) string { return s.process.Tail(lines) }

// Config is the configuration of a client that speaks as the admin.
func (s *Server) Config() *rest.Config { return rest.CopyConfig(s.admin) }

// CA is the certificate, in PEM, that the server is known by.
func (s *Server) CA() []byte { return s.ca }

// ready asks whether all that starts with the server has started.
func (s *Server) ready(ctx context.Context) error {
	client, err := rest.HTTPClientFor(s.admin)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New("not ready: " + response.Status)
	}
	return nil
}
