package response

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Stream is an answer of server-sent events.
type Stream struct {
	Actor intent.Actor // who follows

	// Serve sends events until it returns. It asks renew who follows by now, which
	// fails once the caller's credentials are not good any more.
	Serve func(ctx context.Context, out *Events, renew func() (intent.Actor, error))
}

// Events writes server-sent events. A client that does not read fails each write after
// a while.
type Events struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewEvents begins an answer of server-sent events.
func NewEvents(w http.ResponseWriter) *Events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy passes each event on
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the request was read; tests' recorders have none
	return &Events{w: w, control: control}
}

// Send sends an event of a kind with the JSON of data. Events without an ID (0) do not
// change where a client goes on.
func (e *Events) Send(id int64, kind string, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	var text strings.Builder
	if id > 0 {
		_, _ = fmt.Fprintf(&text, "id: %d\n", id)
	}
	_, _ = fmt.Fprintf(&text, "event: %s\ndata: %s\n\n", kind, raw)
	return e.write(text.String())
}

// Advance tells the client behind which ID it goes on, without an event.
func (e *Events) Advance(id int64) error { return e.write(fmt.Sprintf("id: %d\n\n", id)) }

func (e *Events) write(text string) error {
	const patience = 10 * time.Second
	_ = e.control.SetWriteDeadline(time.Now().Add(patience)) // tests' recorders have none
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	err := e.control.Flush()
	_ = e.control.SetWriteDeadline(time.Time{}) // HTTP/2 resets a stream at its deadline, also while nothing is written
	return err
}
