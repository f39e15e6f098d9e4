// Package publishers opens the built-in publishers of providers.
package publishers

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/guard"
	"github.com/signpost-dns/signpost/pkg/publisher/open"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/builtin"
	"github.com/signpost-dns/signpost/pkg/worker/connections"
)

// Limits say which servers publishers may connect to.
type Limits struct {
	Servers []string // rules of --publisher-servers, which were checked
	Stores  []string // addresses (HOST:PORT) of Signpost's own stores, to which no publisher connects
}

func (l Limits) dialer() *guard.Dialer {
	rules, _ := guard.Parse(guard.Servers, l.Servers) // app.Config.Check has found no fault
	return &guard.Dialer{Flag: guard.Servers, Rules: rules, Stores: l.Stores}
}

// resolveWithin is how long names of servers are resolved when a provider is written.
const resolveWithin = 2 * time.Second

// Forbidden makes a function that judges the servers of a provider. It returns why the built-in publisher may not connect
// to some of them, by the fields that name these servers.
func Forbidden(limits Limits) func(context.Context, intent.Record) map[string]string {
	dialer := limits.dialer()
	return func(ctx context.Context, in intent.Record) map[string]string {
		ctx, cancel := context.WithTimeout(ctx, resolveWithin)
		defer cancel()
		reasons := map[string]string{}
		for _, server := range open.Servers(publisher.Settings{Provider: in.Provider, Parameters: in.Parameters, Environment: in.Environment}) {
			if err := dialer.Check(ctx, server.Address, server.Scope); err != nil && reasons[server.Field] == "" {
				reasons[server.Field] = err.Error()
			}
		}
		return reasons
	}
}

// New makes what reaches the built-in publishers of providers.
func New(limits Limits, store kv.KV, values cluster.Values, counted *open.Metrics, places *Places) connections.Publishers {
	dialer := limits.dialer()
	writer := func(ctx context.Context, of bundle.Publisher) (publisher.Writer, error) {
		settings, err := settingsOf(ctx, of, values)
		if err != nil {
			return nil, err
		}
		settings.Dial = dialer.Dial
		opened, err := open.Writer(settings, counted)
		if err != nil {
			return nil, err
		}
		return checked{Writer: opened, of: of, places: places}, nil
	}
	return func(name string, options cluster.Options) cluster.Target {
		return builtin.New(name, builtin.Settings{KV: store, Options: options, Open: writer})
	}
}

// settingsOf are the settings of a writer, with its secrets in memory.
func settingsOf(ctx context.Context, of bundle.Publisher, values cluster.Values) (publisher.Settings, error) {
	out := publisher.Settings{
		Provider: of.Provider, Parameters: of.Parameters, Owner: of.OwnerID, Environment: map[string]string{}, Files: map[string][]byte{},
	}
	maps.Copy(out.Environment, of.Environment)
	for name, id := range of.Values {
		value, err := values.Secret(ctx, id)
		if err != nil {
			return out, fmt.Errorf("the credential %s cannot be opened: %w", name, err)
		}
		out.Environment[name] = string(value)
	}
	for path, id := range of.Files {
		content, err := values.Secret(ctx, id)
		if err != nil {
			return out, fmt.Errorf("the credential %s cannot be opened: %w", path, err)
		}
		out.Files[path] = content
	}
	return out, nil
}
