package connect

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

// Query is the parameters of a request. Empty values are left out.
type Query map[string]string

// Of is a path with the query.
func (q Query) Of(path string) string {
	values := url.Values{}
	for name, value := range q {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// If is the value of a parameter that is set or absent.
func If(set bool) string {
	if set {
		return "true"
	}
	return ""
}

// Pages gets the pages of a list. take gets each page, and answers how many items it has, and where the next one begins.
// Pages ends after limit items; 0: after all.
func Pages[Page any](ctx context.Context, api *client.Client, path string, query Query, limit int, take func(Page) (items int, next string)) error {
	const largest = 1000
	for read := 0; ; {
		size := largest
		if limit > 0 {
			size = min(largest, limit-read)
		}
		query["limit"] = strconv.Itoa(size)
		var page Page
		if _, err := Ask(ctx, api, http.MethodGet, query.Of(path), nil, &page); err != nil {
			return err
		}
		items, next := take(page)
		read += items
		if next == "" || limit > 0 && read >= limit {
			return nil
		}
		query["continue"] = next
	}
}

// Wait looks at something until it is done.
type Wait struct {
	Timeout     time.Duration
	Every       time.Duration
	Interrupted string       // what goes on if the user does not wait any longer
	Late        func() error // what is not done after Timeout
}

// Until looks again and again until a look is done, or fails. A server that does not answer
// may come back.
func (w Wait) Until(ctx context.Context, look func(ctx context.Context) (done bool, err error)) error {
	limited, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	for {
		done, err := look(limited)
		if done && err == nil || err != nil && !IsUnreachable(err) && limited.Err() == nil {
			return err
		}
		if terminal.Sleep(limited, w.Every) {
			continue
		}
		if ctx.Err() != nil {
			return errors.New("interrupted; " + w.Interrupted)
		}
		return terminal.AsTimeoutError(w.Late())
	}
}
