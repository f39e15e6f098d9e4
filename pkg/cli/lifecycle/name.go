package lifecycle

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// AwaitName looks at a name until it is as --wait says, and answers its document.
func AwaitName(ctx context.Context, p terminal.Program, api *client.Client, path, what string, timeout time.Duration) ([]byte, error) {
	var body []byte
	shown := ""
	err := connect.Wait{
		Timeout: timeout, Every: p.Poll, Interrupted: "the name was accepted, and its publication goes on",
		Late: func() error {
			return fmt.Errorf("%s is not %s after %s: %s; it goes on, see signpost get %s", hostIn(path), what, timeout, shown, path)
		},
	}.Until(ctx, func(ctx context.Context) (bool, error) {
		var name struct {
			Status intent.NameReport `json:"status"`
		}
		answer, err := connect.Ask(ctx, api, http.MethodGet, path, nil, &name)
		if connect.IsUnreachable(err) {
			name.Status.Message = "waiting for the server"
		}
		body = answer
		done := err == nil && name.Status.Is(what)
		if text := name.Status.Message; !done && text != "" && text != shown {
			terminal.Printf(p.Err, "%s\n", terminal.Plain(text))
			shown = text
		}
		return done, err
	})
	return body, err
}

// hostIn is the host name of a name's path, as it is written in a URL.
func hostIn(path string) string {
	name := intent.Path(path).Name()
	if host, err := url.PathUnescape(name); err == nil {
		return host
	}
	return name
}
