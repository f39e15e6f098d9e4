package app

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
)

// orchestrator is release.Service as the gRPC edge asks it.
type orchestrator struct{ releases *release.Service }

// Update extends an app context.
func (o orchestrator) Update(ctx context.Context, contextID, trafficGroup, from string) ([]string, error) {
	return o.releases.UpdateContext(ctx, contextID, trafficGroup, from)
}

// Terminate prepares for the end of an app context.
func (o orchestrator) Terminate(ctx context.Context, contextID string) error {
	return o.releases.TerminateContext(ctx, contextID)
}

// Event takes note of what rsync has been told.
func (o orchestrator) Event(ctx context.Context, contextID string, event intent.Action) error {
	return o.releases.PostEvent(ctx, contextID, event)
}
