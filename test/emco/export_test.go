package emco

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// AskRsync makes a call of rsync's over gRPC, as a controller does.
func AskRsync(ctx context.Context, address, call, id string) error {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	request := message{texts: map[number]string{1: id}}
	var response message
	return connection.Invoke(ctx, "/installapp/"+call, &request, &response, grpc.ForceCodec(codec{}))
}
