// Package rsync calls EMCO's rsync, which puts app contexts into clusters.
package rsync

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
)

// Options say how rsync is reached.
type Options struct {
	Endpoint string        // host:port
	Timeout  time.Duration // a call is given up after it; 0: a minute, since rsync reads the whole app context before it answers
}

// Client calls an rsync. A success means that the work is queued there; how far it is,
// rsync writes into the app context. Each call may be repeated: rsync does what is asked
// again, or skips what it has done. Errors are *intent.Error values, or those of the
// context. If rsync cannot be reached or does not answer, they are Unavailable; if it
// says no, Conflict.
//
// Calls are few, so each has a connection of its own: none is left behind that
// leads to an rsync that has moved. A Client is safe for concurrent use.
type Client struct{ options Options }

// New is a client. It fails on an endpoint of another form, and connects
// nowhere.
func New(o Options) (*Client, error) {
	host, port, err := net.SplitHostPort(o.Endpoint)
	if _, number := strconv.ParseUint(port, 10, 16); err != nil || host == "" || number != nil {
		return nil, fmt.Errorf("%q is not of the form host:port", o.Endpoint)
	}
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	return &Client{o}, nil
}

// Install has an app context put into its clusters, or put there again after
// resources in it have changed. A context that was uninstalled is not installed
// again: rsync says yes, and does nothing.
func (c *Client) Install(ctx context.Context, contextID string) error {
	return c.call(ctx, "install app context "+contextID, func(ctx context.Context, to grpc.ClientConnInterface) (done bool, message string, err error) {
		answer, err := emcopb.NewInstallappClient(to).InstallApp(ctx, &emcopb.InstallAppRequest{AppContext: contextID})
		return answer.GetAppContextInstalled(), answer.GetAppContextInstallMessage(), err
	})
}

// Uninstall has what an app context holds taken out of its clusters.
func (c *Client) Uninstall(ctx context.Context, contextID string) error {
	return c.call(ctx, "uninstall app context "+contextID, func(ctx context.Context, to grpc.ClientConnInterface) (done bool, message string, err error) {
		answer, err := emcopb.NewInstallappClient(to).UninstallApp(ctx, &emcopb.UninstallAppRequest{AppContext: contextID})
		return answer.GetAppContextUninstalled(), answer.GetAppContextUninstallMessage(), err
	})
}

// Update has one app context replaced by another: what differs is applied, and
// then what only the old one holds is deleted.
func (c *Client) Update(ctx context.Context, from, to string) error {
	return c.call(ctx, "replace app context "+from+" by "+to, func(ctx context.Context, at grpc.ClientConnInterface) (done bool, message string, err error) {
		answer, err := emcopb.NewUpdateappClient(at).UpdateApp(ctx, &emcopb.UpdateAppRequest{UpdateFromAppContext: from, UpdateToAppContext: to})
		return answer.GetAppContextUpdated(), answer.GetAppContextUpdateMessage(), err
	})
}

// repeating has gRPC repeat calls that rsync may not have got, for a second or two.
const repeating = `{"methodConfig": [{"name": [{}], "retryPolicy": {
	"maxAttempts": 5, "initialBackoff": "0.2s", "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]
}}]}`

// How much rsync may answer, in bytes: a call is answered by yes or no, and why.
const (
	longestAnswer = 64 << 10
	longestHeader = 16 << 10
	longestReason = 500 // of that, is passed on
)

// shortly is the beginning of a reason.
func shortly(reason string) string {
	if len(reason) <= longestReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:longestReason], "") + "…"
}

// call connects, asks, and says what went wrong with what.
func (c *Client) call(ctx context.Context, what string, ask func(context.Context, grpc.ClientConnInterface) (done bool, message string, err error)) error {
	limited, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	connection, err := grpc.NewClient(c.options.Endpoint,
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithMaxHeaderListSize(longestHeader),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(longestAnswer)), grpc.WithDefaultServiceConfig(repeating), grpc.WithDisableServiceConfig(),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 2, MaxDelay: time.Second}}))
	if err != nil {
		return c.failed(intent.Unavailable, "cannot be reached to "+what, err)
	}
	defer connection.Close()
	done, message, err := ask(limited, connection)
	switch {
	case err == nil && done:
		return nil
	case err == nil && message == "":
		return c.failed(intent.Conflict, "refuses to "+what+", and does not say why", nil)
	case err == nil:
		return c.failed(intent.Conflict, "refuses to "+what+": "+shortly(message), nil)
	case ctx.Err() != nil:
		return fmt.Errorf("rsync at %s, asked to %s: %w", c.options.Endpoint, what, ctx.Err())
	}
	return c.explain(what, err)
}

// explain says what a status means.
func (c *Client) explain(what string, err error) error {
	switch answered := status.Convert(err); answered.Code() {
	case codes.Unavailable:
		return c.failed(intent.Unavailable, "cannot be reached to "+what+": "+shortly(answered.Message()), err)
	case codes.DeadlineExceeded:
		return c.failed(intent.Unavailable, fmt.Sprintf("did not answer within %s, asked to %s", c.options.Timeout, what), err)
	case codes.ResourceExhausted:
		return c.failed(intent.Unavailable, "answers too much, or has too much to do, to "+what+": "+shortly(answered.Message()), err)
	case codes.Unimplemented:
		return c.failed(intent.Unavailable, "is not an rsync that could "+what+": "+shortly(answered.Message()), err)
	default:
		return c.failed(intent.Conflict, "refuses to "+what+": "+shortly(answered.Message()), err)
	}
}

func (c *Client) failed(code intent.Code, how string, err error) error {
	return &intent.Error{Code: code, Detail: "rsync at " + c.options.Endpoint + " " + how, Err: err}
}
