package show

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const eventsHelp = `Lists what has happened in all projects that you may read, the newest first. --follow prints events
as they happen, until it is interrupted. It connects again when the connection breaks, and misses
nothing then.`

// EventsCommand makes `signpost events`.
func EventsCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	follow, limit := false, 0
	cmd := &cobra.Command{
		Use:     "events",
		Short:   "List or follow what happens in all projects",
		Long:    eventsHelp,
		Example: "  signpost events --limit 20\n  signpost events --follow",
		Args:    terminal.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if follow {
				server.Timeout = 0 // a stream has no end
			}
			api, err := server.Dial()
			if err != nil {
				return err
			}
			if follow {
				return (&following{api: api, program: p, json: output.String() == "json"}).run(cmd.Context())
			}
			answer, err := api.Do(cmd.Context(), http.MethodGet, fmt.Sprintf("events?limit=%d", limit), nil, nil)
			if err != nil {
				return err
			}
			return output.Print(p.Out, answer.Body, func(w io.Writer, _ bool) error { return printAnswer(cmd.Context(), w, "events", answer.Body, nil) })
		},
	}
	const usual = 100
	cmd.Flags().BoolVar(&follow, "follow", false, "print events as they happen")
	cmd.Flags().IntVar(&limit, "limit", usual, "the `NUMBER` of events to list")
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	return cmd
}

// following prints events as they happen.
type following struct {
	api     *client.Client
	program terminal.Program
	json    bool   // as they come, else a line for people
	last    string // the id to go on behind
}

// run follows until it is interrupted, or the server says that following again is of no
// use.
func (f *following) run(ctx context.Context) error {
	for {
		err := f.follow(ctx)
		if err != nil && !connect.IsUnreachable(err) {
			return err
		}
		if err != nil && f.last == "" { // it has never worked
			return err
		}
		if !terminal.Sleep(ctx, f.program.Poll) {
			return nil
		}
	}
}

// follow prints the events of one connection.
func (f *following) follow(ctx context.Context) error {
	answer, err := f.api.ListEvents(ctx, &client.ListEventsParams{Follow: true, LastEventID: f.last})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		return errors.New("the answer is no stream of events; check that --server is a Signpost server")
	}
	lines := bufio.NewScanner(answer.Body)
	const longest = 1 << 20
	lines.Buffer(nil, longest)
	kind, data := "", ""
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			if _, err := strconv.ParseInt(value, 10, 64); err == nil {
				f.last = value
			}
		case "event":
			kind = value
		case "data":
			data = value
		case "":
			if err := f.take(kind, data); err != nil {
				return err
			}
			kind, data = "", ""
		}
	}
	return nil // the connection has ended, and the next one goes on
}

// take prints an event, or tells why the stream has ended for good.
func (f *following) take(kind, data string) error {
	switch kind {
	case "event":
		return f.print(data)
	case "end":
		var why struct{ Reason, Message string }
		if err := json.Unmarshal([]byte(data), &why); err != nil {
			return err
		}
		if why.Reason == "gone" || why.Reason == "unauthorized" {
			return errors.New(why.Message)
		}
	}
	return nil
}

func (f *following) print(data string) error {
	if f.json {
		_, err := fmt.Fprintln(f.program.Out, data)
		return err
	}
	var e client.Event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return err
	}
	cells := []string{terminal.Moment(e.Time), e.Actor, string(e.Action), e.Outcome, document.ShortOwner(intent.Path(e.Path)), e.Message}
	for n, cell := range cells {
		cells[n] = terminal.Plain(cell)
	}
	_, err := fmt.Fprintln(f.program.Out, strings.Join(cells, "  "))
	return err
}
