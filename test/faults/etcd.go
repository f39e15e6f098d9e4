package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// EtcdTap is a server between a process and an etcd.
type EtcdTap struct {
	// URL is where the process finds its etcd.
	URL string

	tap    *Tap
	server *grpc.Server
	etcd   *grpc.ClientConn
}

// largest is the size, in bytes, of the largest message: an answer of etcd.
const largest = 1 << 30

// Etcd starts a tap in front of the etcd at a URL. The caller closes it.
func (t *Tap) Etcd(ctx context.Context, url string) (*EtcdTap, error) {
	etcd, err := grpc.NewClient(strings.TrimPrefix(url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{}), grpc.MaxCallRecvMsgSize(largest), grpc.MaxCallSendMsgSize(largest)))
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, etcd.Close())
	}
	e := &EtcdTap{URL: "http://" + listener.Addr().String(), tap: t, etcd: etcd}
	e.server = grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.MaxRecvMsgSize(largest), grpc.UnknownServiceHandler(e.handle))
	go func() { _ = e.server.Serve(listener) }() // ends with Close
	return e, nil
}

// Close ends all connections.
func (e *EtcdTap) Close() {
	e.server.Stop()
	_ = e.etcd.Close()
}

// handle forwards a call. Writes, of one request and one answer, pass the tap.
func (e *EtcdTap) handle(_ any, process grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(process)
	header, _ := metadata.FromIncomingContext(process.Context())
	ctx := metadata.NewOutgoingContext(process.Context(), header)
	if !strings.HasPrefix(method, "/etcdserverpb.KV/") {
		return e.stream(ctx, method, process)
	}
	var request, answer []byte
	if err := process.RecvMsg(&request); err != nil {
		return err
	}
	forward := func() error { return e.etcd.Invoke(ctx, method, &request, &answer) }
	key, writes, err := written(method, request)
	switch {
	case err != nil:
		return err
	case writes:
		err = e.tap.pass(Write{Edge: "etcd", What: key}, forward)
	default:
		err = forward()
	}
	if err != nil {
		return err
	}
	return process.SendMsg(&answer)
}

// stream forwards both ways until either side ends.
func (e *EtcdTap) stream(ctx context.Context, method string, process grpc.ServerStream) error {
	server, err := e.etcd.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	go func() {
		for {
			var request []byte
			if process.RecvMsg(&request) != nil || server.SendMsg(&request) != nil {
				_ = server.CloseSend()
				return
			}
		}
	}()
	for {
		var answer []byte
		err := server.RecvMsg(&answer)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := process.SendMsg(&answer); err != nil {
			return err
		}
	}
}

// written answers the first key that a request writes, if it writes.
func written(method string, request []byte) (key string, writes bool, err error) {
	switch strings.TrimPrefix(method, "/etcdserverpb.KV/") {
	case "Put":
		var put pb.PutRequest
		err = proto.Unmarshal(request, &put)
		return string(put.GetKey()), true, err
	case "DeleteRange":
		var remove pb.DeleteRangeRequest
		err = proto.Unmarshal(request, &remove)
		return string(remove.GetKey()), true, err
	case "Txn":
		var txn pb.TxnRequest
		err = proto.Unmarshal(request, &txn)
		key, writes = inside(&txn)
		return key, writes, err
	}
	return "", false, nil
}

// inside is written for a transaction. What it compares counts for nothing:
// whether it will write is the server's to know.
func inside(txn *pb.TxnRequest) (key string, writes bool) {
	for _, op := range append(txn.GetSuccess(), txn.GetFailure()...) {
		switch {
		case op.GetRequestPut() != nil:
			return string(op.GetRequestPut().GetKey()), true
		case op.GetRequestDeleteRange() != nil:
			return string(op.GetRequestDeleteRange().GetKey()), true
		case op.GetRequestTxn() != nil:
			if key, writes := inside(op.GetRequestTxn()); writes {
				return key, true
			}
		}
	}
	return "", false
}

// raw is the codec of messages that are passed on as they are: *[]byte.
type raw struct{}

// Name implements encoding.CodecV2.
func (raw) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (raw) Marshal(message any) (mem.BufferSlice, error) {
	bytes, ok := message.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("a raw message cannot be a %T", message)
	}
	return mem.BufferSlice{mem.SliceBuffer(*bytes)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (raw) Unmarshal(data mem.BufferSlice, message any) error {
	bytes, ok := message.(*[]byte)
	if !ok {
		return fmt.Errorf("a raw message cannot be a %T", message)
	}
	*bytes = data.Materialize()
	return nil
}
