// Package stores proves the document stores on servers that run as processes
// of their own, so that they can be killed.
package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/tools"
)

// startTimeout is how long the server may take until it listens.
const startTimeout = time.Minute

// server is a FerretDB process that can be killed and started again.
type server struct {
	binary, dir, address string
	process              *exec.Cmd
}

// newServer builds the program if need be and starts it on an empty directory.
func newServer(ctx context.Context, dir string) (*server, error) {
	binary, err := tools.Path(ctx, tools.FerretDB)
	if err != nil {
		return nil, fmt.Errorf("build ferretdb: %w", err)
	}
	address, err := new(process.Ports).Address(ctx) // which it keeps while it is down
	if err != nil {
		return nil, err
	}
	s := &server{binary: binary, dir: dir, address: address}
	err = s.start(ctx)
	return s, err
}

// start starts the process and waits until it listens.
func (s *server) start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer log.Close()
	s.process = exec.Command(s.binary, "--listen", s.address, "--state-dir", filepath.Join(s.dir, "state"))
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("start ferretdb: %w", err)
	}
	deadline := time.Now().Add(startTimeout)
	for {
		connection, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", s.address)
		if err == nil {
			return connection.Close()
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("ferretdb does not listen: %w", err), s.kill())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// kill ends the process without warning, as kill -9 does.
func (s *server) kill() error {
	if err := s.process.Process.Kill(); err != nil {
		return fmt.Errorf("kill ferretdb: %w", err)
	}
	// Wait answers that the process was killed.
	_ = s.process.Wait()
	return nil
}
