package api

import (
	"context"
	"net/http"
)

// previewPodDNS answers what a pod DNS intent would give to a pod.
func (e *edge) previewPodDNS(ctx context.Context, c *call) (answer, error) {
	preview, err := e.Admitter.PreviewPodDNS(ctx, c.path, c.body)
	return answer{status: http.StatusOK, body: preview}, err
}
