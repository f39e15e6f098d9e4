package rsynctest

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc"

	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
)

// Serve has a fake answer gRPC calls until the test ends, and answers where.
func (f *Fake) Serve(t testing.TB) (endpoint string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	emcopb.RegisterInstallappServer(s, server{f: f})
	emcopb.RegisterUpdateappServer(s, server{f: f})
	go func() { _ = s.Serve(listener) }() // ends with Stop
	t.Cleanup(s.Stop)
	return listener.Addr().String()
}

type server struct {
	emcopb.UnimplementedInstallappServer
	emcopb.UnimplementedUpdateappServer

	f *Fake
}

func (s server) InstallApp(ctx context.Context, r *emcopb.InstallAppRequest) (*emcopb.InstallAppResponse, error) {
	err := s.f.Install(ctx, r.GetAppContext())
	return &emcopb.InstallAppResponse{AppContextInstalled: err == nil}, err
}

func (s server) UninstallApp(ctx context.Context, r *emcopb.UninstallAppRequest) (*emcopb.UninstallAppResponse, error) {
	err := s.f.Uninstall(ctx, r.GetAppContext())
	return &emcopb.UninstallAppResponse{AppContextUninstalled: err == nil}, err
}

func (s server) UpdateApp(ctx context.Context, r *emcopb.UpdateAppRequest) (*emcopb.UpdateAppResponse, error) {
	err := s.f.Update(ctx, r.GetUpdateFromAppContext(), r.GetUpdateToAppContext())
	return &emcopb.UpdateAppResponse{AppContextUpdated: err == nil}, err
}
