// Package resources answers the verbs on documents: one implementation of create, list,
// get, put and delete for all of them.
package resources

import (
	"context"
	"log/slog"
	"maps"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Handlers answer the verbs.
type Handlers struct {
	Store      intent.Store // read directly, written through Admitter
	Admitter   service.Admitter
	Sealer     service.Sealer
	Lifecycle  service.Lifecycle
	Clusters   service.Clusters
	History    service.History
	NearlyFull func() bool // whether the store has little room left: documents can be deleted then, and not written
	Log        *slog.Logger
}

// Operations maps the operations on documents to their handlers. DNS intents have a short
// form of their paths, too.
func (h *Handlers) Operations() map[string]operation.Handler {
	all := map[string]operation.Handler{}
	for _, kind := range intent.Kinds() {
		maps.Copy(all, h.verbs(kind.One, kind.Many))
	}
	for id, handle := range h.verbs("GroupDNSIntent", "GroupDNSIntents") {
		all[id] = inDefaultGroup(handle)
	}
	return all
}

func (h *Handlers) verbs(one, many string) map[string]operation.Handler {
	return map[string]operation.Handler{
		"create" + one: h.Create, "list" + many: h.List, "get" + one: h.Get, "put" + one: h.Put, "delete" + one: h.Delete,
	}
}

// inDefaultGroup has a path name the default traffic group, which the short form leaves
// out.
func inDefaultGroup(handle operation.Handler) operation.Handler {
	return func(ctx context.Context, c *operation.Call) (response.Answer, error) {
		c.Path = intent.InDefaultTrafficGroup(c.Path)
		return handle(ctx, c)
	}
}

// Conditional holds an action's preconditions against its owner, as it is when the
// request arrives.
func (h *Handlers) Conditional(act operation.Handler) operation.Handler {
	return func(ctx context.Context, c *operation.Call) (response.Answer, error) {
		asked, err := operation.ReadPrecondition(c.Header)
		if err != nil {
			return response.Answer{}, err
		}
		if asked.Asked() {
			owner, err := h.Find(ctx, c.Owner())
			if err != nil {
				return response.Answer{}, err
			}
			if err := asked.Check(c.Owner(), owner); err != nil {
				return response.Answer{}, err
			}
		}
		return act(ctx, c)
	}
}
