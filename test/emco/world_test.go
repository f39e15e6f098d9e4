package emco_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/emco"
)

const patience = time.Minute

// servers are an etcd, and API servers on it by name.
type servers struct {
	etcd  *etcd.Server
	kubes map[string]*kube.Server
}

func startServers(t *testing.T, clusters ...string) servers {
	ports, dir := &process.Ports{}, t.TempDir()
	store, err := etcd.NewServer(t.Context(), filepath.Join(dir, "etcd"), ports)
	require.NoError(t, err)
	require.NoError(t, store.Start(t.Context()))
	t.Cleanup(store.Kill)
	s := servers{etcd: store, kubes: map[string]*kube.Server{}}
	for _, name := range clusters {
		server, err := kube.NewServer(t.Context(), kube.Options{Name: name, Dir: filepath.Join(dir, name), Etcd: store.URL, Ports: ports})
		require.NoError(t, err)
		require.NoError(t, server.Start(t.Context()))
		t.Cleanup(server.Stop)
		s.kubes[name] = server
	}
	return s
}

// startWorld starts a world on an etcd.
func startWorld(t *testing.T, options emco.Options) *emco.World {
	w, err := emco.Start(options)
	t.Cleanup(w.Close)
	require.NoError(t, err)
	return w
}

// call is one call that a controller got.
type call struct {
	method string
	texts  map[protowire.Number]string
	event  uint64
	left   time.Duration // until the caller's deadline
}

func (c call) String() string {
	return fmt.Sprintf("%s %s", c.method, c.texts[1])
}

// controller is an action controller of the tests. It notes its calls, and
// answers as it is told.
type controller struct {
	host string
	port int

	mu     sync.Mutex
	calls  []call
	answer func(ctx context.Context, c call) (ok bool, message string, err error)
}

// frames has gRPC pass messages on as they are.
type frames struct{}

func (frames) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (frames) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (frames) Name() string { return "proto" }

var _ encoding.CodecV2 = frames{}

func startController(t *testing.T) *controller {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	c := &controller{host: host}
	c.port, err = strconv.Atoi(port)
	require.NoError(t, err)
	c.answer = func(context.Context, call) (bool, string, error) { return true, "done", nil }
	server := grpc.NewServer(grpc.ForceServerCodecV2(frames{}), grpc.UnknownServiceHandler(c.serve))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return c
}

// then has the controller answer in another way from now on.
func (c *controller) then(answer func(context.Context, call) (bool, string, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answer
}

// took are the calls since the last time.
func (c *controller) took() []call {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

func (c *controller) serve(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	var wire []byte
	if err := stream.RecvMsg(&wire); err != nil {
		return err
	}
	got := call{method: method, texts: map[protowire.Number]string{}}
	for len(wire) > 0 {
		field, kind, size := protowire.ConsumeTag(wire)
		wire = wire[size:]
		if kind == protowire.VarintType {
			got.event, size = protowire.ConsumeVarint(wire)
		} else {
			got.texts[field], size = protowire.ConsumeString(wire)
		}
		wire = wire[size:]
	}
	if deadline, ok := stream.Context().Deadline(); ok {
		got.left = time.Until(deadline)
	}
	c.mu.Lock()
	c.calls = append(c.calls, got)
	answer := c.answer
	c.mu.Unlock()
	ok, message, err := answer(stream.Context(), got)
	if err != nil {
		return err
	}
	var reply []byte
	if ok {
		reply = protowire.AppendVarint(protowire.AppendTag(reply, 1, protowire.VarintType), 1)
	}
	reply = protowire.AppendString(protowire.AppendTag(reply, 2, protowire.BytesType), message)
	return stream.SendMsg(reply)
}
