package kubeapi

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// Foreign answers those of the objects that are there and that this installation
// has not made.
func (k *Kubernetes) Foreign(ctx context.Context, ids []bundle.ID) ([]bundle.ID, error) {
	var foreign []bundle.ID
	for _, id := range ids {
		live, err := k.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if live != nil && !live.Ours(k.options.Installation) {
			foreign = append(foreign, id)
		}
	}
	return foreign, nil
}
