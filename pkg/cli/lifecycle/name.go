package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
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
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	shown := ""
	for {
		response, err := api.Do(limited, http.MethodGet, path, nil, nil)
		var name struct {
			Status intent.NameReport `json:"status"`
		}
		switch {
		case err == nil:
			err = json.Unmarshal(response.Body, &name)
		case connect.IsUnreachable(err):
			name.Status.Message, err = "waiting for the server", nil
		}
		if err != nil && limited.Err() == nil {
			return nil, err
		}
		if err == nil && name.Status.Is(what) {
			return response.Body, nil
		}
		if text := name.Status.Message; text != "" && text != shown {
			terminal.Printf(p.Err, "%s\n", terminal.Plain(text))
			shown = text
		}
		if !terminal.Sleep(limited, p.Poll) {
			if ctx.Err() != nil {
				return nil, errors.New("interrupted; the name was accepted, and its publication goes on")
			}
			return nil, terminal.AsTimeoutError(fmt.Errorf("%s is not %s after %s: %s; it goes on, see signpost get %s", hostIn(path), what, timeout, shown, path))
		}
	}
}

// hostIn is the host name of a name's path, as it is written in a URL.
func hostIn(path string) string {
	name := intent.Path(path).Name()
	if host, err := url.PathUnescape(name); err == nil {
		return host
	}
	return name
}
