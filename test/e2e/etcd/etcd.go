// Package etcd runs an etcd server for tests, and reads and writes it through
// its JSON interface.
package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/tools"
)

// Server is an etcd server. It keeps its data over a kill and a start.
type Server struct {
	*process.Process

	// URL of the client interface.
	URL string
}

// NewServer prepares a server whose files are in dir; Start starts it.
func NewServer(ctx context.Context, dir string, ports *process.Ports) (*Server, error) {
	members, err := NewMembers(ctx, 1, dir, ports)
	if err != nil {
		return nil, err
	}
	return members[0], nil
}

// NewMembers prepares the members of one cluster, whose files are in dir. Each
// is ready when it has a leader: the first half has to be started side by side.
func NewMembers(ctx context.Context, count int, dir string, ports *process.Ports) ([]*Server, error) {
	path, err := tools.Path(ctx, tools.Etcd)
	if err != nil {
		return nil, err
	}
	clients, peers := make([]string, count), make([]string, count)
	var cluster []string
	for i := range count {
		if clients[i], err = ports.Address(ctx); err != nil {
			return nil, err
		}
		if peers[i], err = ports.Address(ctx); err != nil {
			return nil, err
		}
		cluster = append(cluster, fmt.Sprintf("member%d=http://%s", i, peers[i]))
	}
	members := make([]*Server, count)
	for i := range members {
		members[i], err = newMember(path, filepath.Join(dir, fmt.Sprintf("member%d", i)), clients[i], peers[i])
		if err != nil {
			return nil, err
		}
		members[i].Args = append(members[i].Args, fmt.Sprintf("--name=member%d", i), "--initial-cluster="+strings.Join(cluster, ","))
	}
	return members, nil
}

func newMember(path, dir, client, peer string) (*Server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + client}
	s.Process = &process.Process{
		Name: "etcd", Path: path, Log: filepath.Join(dir, "etcd.log"), Ready: s.ready,
		Args: []string{
			"--data-dir=" + filepath.Join(dir, "data"),
			"--listen-client-urls=" + s.URL,
			"--advertise-client-urls=" + s.URL,
			"--listen-peer-urls=http://" + peer,
			"--initial-advertise-peer-urls=http://" + peer,
			"--log-level=warn",
			// The tests kill processes, not machines.
			"--unsafe-no-fsync",
		},
	}
	return s, nil
}

// Put writes one key.
func (s *Server) Put(ctx context.Context, key, value string) error {
	return s.call(ctx, "/v3/kv/put", map[string]any{"key": []byte(key), "value": []byte(value)}, nil)
}

// Prefix reads all keys that begin with prefix.
func (s *Server) Prefix(ctx context.Context, prefix string) (map[string]string, error) {
	end := []byte(prefix)
	end[len(end)-1]++
	var answer struct {
		Kvs []struct{ Key, Value []byte }
	}
	request := map[string]any{"key": []byte(prefix), "range_end": end}
	if err := s.call(ctx, "/v3/kv/range", request, &answer); err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, pair := range answer.Kvs {
		values[string(pair.Key)] = string(pair.Value)
	}
	return values, nil
}

// DeletePrefix removes all keys that begin with prefix.
func (s *Server) DeletePrefix(ctx context.Context, prefix string) error {
	end := []byte(prefix)
	end[len(end)-1]++
	return s.call(ctx, "/v3/kv/deleterange", map[string]any{"key": []byte(prefix), "range_end": end}, nil)
}

// ready asks for a linearizable read, which needs a leader.
func (s *Server) ready(ctx context.Context) error {
	_, err := s.Prefix(ctx, "/ready")
	return err
}

// call posts to the JSON interface, in which keys and values are base64.
func (s *Server) call(ctx context.Context, path string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(post)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd %s: %s: %s", path, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// EndLeases ends all leases now, as their time does: for those whose holders
// are dead.
func (s *Server) EndLeases(ctx context.Context) error {
	var held struct {
		Leases []struct{ ID string }
	}
	if err := s.call(ctx, "/v3/lease/leases", map[string]any{}, &held); err != nil {
		return err
	}
	for _, lease := range held.Leases {
		if err := s.call(ctx, "/v3/lease/revoke", map[string]any{"ID": lease.ID}, nil); err != nil {
			return err
		}
	}
	return nil
}
