package lifecycle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
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

// named is a name as it is stored, with its status.
type named struct {
	Metadata intent.Metadata   `json:"metadata"`
	Status   intent.NameReport `json:"status"`
}

// PrintName tells what the command changed, and how the name is now.
func PrintName(w io.Writer, accepted, now []byte) error {
	var changed, name named
	if err := cmp.Or(json.Unmarshal(accepted, &changed), json.Unmarshal(now, &name)); err != nil {
		return err
	}
	onWay := ""
	if goes := name.Status.State == intent.Instantiating || name.Status.State == intent.Updating; goes && name.Status.Published != "True" {
		onWay = "; it is on its way, and --wait waits for it"
	}
	terminal.Printf(w, "%s %s: published %s, verified %s%s\n", terminal.Plain(name.Metadata.Name), name.Status.State, name.Status.Published, name.Status.Verified, onWay)
	for _, warning := range changed.Status.Warnings {
		terminal.Printf(w, "warning: %s\n", terminal.Plain(warning))
	}
	if len(name.Status.Records)+len(changed.Status.Changes) == 0 {
		return nil
	}
	terminal.Printf(w, "\n")
	t := terminal.NewTable("TYPE", "TARGETS", "CHANGE")
	told := map[string]bool{}
	for _, change := range changed.Status.Changes {
		told[change.Type] = true
		t.Add(change.Type, TargetsCell(change.Action, change.Before, change.Targets)+TTLCell(change.Action, change.TTLBefore, change.TTL), change.Action)
	}
	for _, record := range name.Status.Records {
		if !told[record.Type] {
			t.Add(record.Type, strings.Join(record.Targets, " "), "unchanged")
		}
	}
	return t.Write(w)
}
