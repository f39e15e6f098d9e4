package kube

import (
	"context"
	_ "embed" // for the manifest
)

//go:embed manifests/signpost.yaml
var signpostRights string

// GrantSignpost gives the user signpost its rights.
func (s *Server) GrantSignpost(ctx context.Context) error {
	return s.Apply(ctx, signpostRights)
}
