package emco

import (
	"context"
	"net"

	"google.golang.org/grpc"
)

// listen serves rsync's calls: a controller may ask it to install contexts of
// its own.
func (r *Rsync) listen() (*grpc.Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.Address = listener.Addr().String()
	server := grpc.NewServer(grpc.ForceServerCodec(codec{}))
	one := func(do func(context.Context, string) error) func(context.Context, message) error {
		return func(ctx context.Context, m message) error { return do(ctx, m.texts[1]) }
	}
	two := func(ctx context.Context, m message) error { return r.Update(ctx, m.texts[1], m.texts[2]) }
	server.RegisterService(serviceOf("installapp", map[string]func(context.Context, message) error{
		"InstallApp": one(r.Install), "UninstallApp": one(r.Uninstall),
	}), r)
	server.RegisterService(serviceOf("updateapp", map[string]func(context.Context, message) error{
		"UpdateApp": two, "RollbackApp": two,
	}), r)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	return server, nil
}

// serviceOf describes a service whose answers are all a truth and a text. What
// rsync will not do is an error of gRPC.
func serviceOf(name string, calls map[string]func(context.Context, message) error) *grpc.ServiceDesc {
	service := &grpc.ServiceDesc{ServiceName: name, HandlerType: (*any)(nil)}
	for _, method := range sortedKeys(calls) {
		do := calls[method]
		service.Methods = append(service.Methods, grpc.MethodDesc{
			MethodName: method,
			Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				var request message
				if err := decode(&request); err != nil {
					return nil, err
				}
				if err := do(ctx, request); err != nil {
					return nil, err
				}
				return &message{numbers: map[number]uint64{1: 1}}, nil
			},
		})
	}
	return service
}
