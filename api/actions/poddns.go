package actions

import (
	"context"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
)

// PodDNS answers questions about the DNS of pods.
type PodDNS struct{ Admitter service.Admitter }

// Preview answers what a pod DNS intent would give to a pod.
func (p PodDNS) Preview(ctx context.Context, c *operation.Call) (response.Answer, error) {
	return response.OK(p.Admitter.PreviewPodDNS(ctx, c.Path, c.Body))
}
