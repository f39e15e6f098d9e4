package emco

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Event is a moment that a controller is told of once it is there.
type Event uint64

// The events, with their numbers on the wire.
const (
	Instantiated Event = iota
	Terminated
	Updated
)

func (e Event) String() string {
	return [...]string{"INSTANTIATE", "TERMINATE", "UPDATE"}[e]
}

// NoContext is what EMCO names as the context to update from when there is
// none: a nil that was formatted.
const NoContext = "<nil>"

// Answer is what a controller says: a call can fail without being an error of
// gRPC.
type Answer struct {
	OK      bool
	Message string
}

// Controller is an action controller, as EMCO's client of contextupdate sees
// it.
type Controller interface {
	// UpdateAppContext asks for a context to be adapted to an intent. The last
	// argument is the context that it takes the place of, NoContext or empty
	// for none.
	UpdateAppContext(ctx context.Context, contextID, intent, updateFrom string) (Answer, error)
	TerminateAppContext(ctx context.Context, contextID string) (Answer, error)
	PostEvent(ctx context.Context, contextID string, event Event) (Answer, error)
}

// Client is a Controller at the other end of a connection. It speaks by field
// numbers, and so proves the wire by other means than generated code.
type Client struct {
	connection *grpc.ClientConn
}

// Dial makes a client of a controller. It connects with the first call.
func Dial(host string, port int, options ...grpc.DialOption) (*Client, error) {
	if len(options) == 0 {
		options = []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	}
	connection, err := grpc.NewClient(net.JoinHostPort(host, strconv.Itoa(port)), options...)
	return &Client{connection: connection}, err
}

// Close ends the connection.
func (c *Client) Close() { _ = c.connection.Close() }

// UpdateAppContext calls /contextupdate/UpdateAppContext.
func (c *Client) UpdateAppContext(ctx context.Context, contextID, intent, updateFrom string) (Answer, error) {
	return c.call(ctx, "/contextupdate/UpdateAppContext", message{texts: map[number]string{1: contextID, 2: intent, 3: updateFrom}})
}

// TerminateAppContext calls /contextupdate/TerminateAppContext.
func (c *Client) TerminateAppContext(ctx context.Context, contextID string) (Answer, error) {
	return c.call(ctx, "/contextupdate/TerminateAppContext", message{texts: map[number]string{1: contextID}})
}

// PostEvent calls /contextupdate/PostEvent.
func (c *Client) PostEvent(ctx context.Context, contextID string, event Event) (Answer, error) {
	return c.call(ctx, "/contextupdate/PostEvent", message{texts: map[number]string{1: contextID}, numbers: map[number]uint64{2: uint64(event)}})
}

// call makes a call whose answer is a truth and a text, as all of EMCO's are.
func (c *Client) call(ctx context.Context, method string, request message) (Answer, error) {
	var response message
	if err := c.connection.Invoke(ctx, method, &request, &response, grpc.ForceCodec(codec{})); err != nil {
		return Answer{}, err
	}
	if err := response.only(2, 1); err != nil {
		return Answer{}, fmt.Errorf("%s: %w", method, err)
	}
	return Answer{OK: response.numbers[1] == 1, Message: response.texts[2]}, nil
}
