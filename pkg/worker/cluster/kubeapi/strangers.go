package kubeapi

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// Strangers answers those of the objects that are there and that this installation
// has not made.
func (k *Kubernetes) Strangers(ctx context.Context, ids []bundle.ID) ([]bundle.ID, error) {
	var strangers []bundle.ID
	for _, id := range ids {
		live, err := k.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if live != nil && !live.Ours(k.options.Installation) {
			strangers = append(strangers, id)
		}
	}
	return strangers, nil
}
