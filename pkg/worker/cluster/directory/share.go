package directory

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Share implements Target: the file would be edited by two.
func (d *Directory) Share(_ context.Context, o bundle.Object) (cluster.Live, error) {
	return cluster.Live{}, cluster.Refuse(o.ID.String() + " is somebody else's file: in a directory of manifests its keys cannot be shared")
}

// Unshare implements Target: nothing was ever shared.
func (d *Directory) Unshare(context.Context, bundle.ID) error { return nil }
