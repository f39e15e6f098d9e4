package controller

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestGroupsOfEMCOsAreSteppedWhenTheirContextsChange: when rsync is told or says
// something, the monitor sees something, or somebody writes the meta. Contexts
// of others step nobody, and nothing is watched before there is such a group.
func TestGroupsOfEMCOsAreSteppedWhenTheirContextsChange(t *testing.T) {
	t.Parallel()
	const groups = intent.Path("projects/shop/composite-apps/store/v1/deployment-intent-groups/")
	watched := make(chan struct{})
	store := &watching{Fake: kvtest.NewFake(), begun: watched}
	service := newWorker(&state.Store{Documents: etcd.New(store), KV: store, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	lifecycles := map[intent.Path]string{
		groups + "current": `{"seq":1,"wanted":"instantiate","appContext":"1"}`, groups + "prepared": `{"prepared":[{"appContext":"2"}]}`,
		groups + "ours": `{"seq":1,"wanted":"instantiate"}`,
	}
	for group, body := range lifecycles {
		_, err := service.Documents.Put(t.Context(), intent.Write{Path: state.LifecyclePath(group), Body: []byte(body)})
		require.NoError(t, err)
	}
	put := func(id, level, value string) {
		_, _, err := store.Txn(t.Context(), nil, kv.Put("/context/"+id+"/"+level, []byte(value)))
		require.NoError(t, err)
	}
	for id, name := range map[string]string{"1": "current", "2": "prepared", "3": "ours", "4": "unknown"} {
		put(id, "", id)
		put(id, "meta/", fmt.Sprintf(`{"Project":"shop","CompositeApp":"store","Version":"v1","DeploymentIntentGroup":%q}`, name))
	}
	put("5", "", "5")
	put("5", "meta/", `{"Project":"shop","LogicalCloud":"eu"}`)

	c := NewController(service)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { c.watchOrchestrated(ctx); close(ended) }()
	select {
	case <-watched:
		require.Fail(t, "contexts are watched, and no group is EMCO's")
	default:
	}
	close(service.Orchestrates)
	<-watched
	for _, level := range []string{
		"rsync/AppContextEventQueue/", "rsync/state/CurrentState/", "status/", "statusappctxid/", "app/web/cluster/edge+paris/status/", "meta/",
	} {
		for _, id := range []string{"3", "4", "5", "2", "1"} {
			value := `{}`
			if level == "meta/" {
				item, _, err := store.Get(t.Context(), "/context/"+id+"/meta/")
				require.NoError(t, err)
				value = string(item.Value)
			}
			put(id, level, value)
		}
		for _, want := range []intent.Path{groups + "prepared", groups + "current"} {
			got, _ := c.queue.Get()
			require.Equal(t, work{owner: want}, got, level)
			c.queue.Done(got)
		}
	}
	end()
	<-ended
	require.Zero(t, c.queue.Len())
	c.queue.ShutDown()
}

// watching is a store that tells when its contexts begin to be watched.
type watching struct {
	*kvtest.Fake
	begun chan struct{}
}

func (w *watching) Watch(ctx context.Context, prefix string, from int64) <-chan kv.Batch {
	changes := w.Fake.Watch(ctx, prefix, from)
	if prefix == "/context/" {
		close(w.begun)
	}
	return changes
}
