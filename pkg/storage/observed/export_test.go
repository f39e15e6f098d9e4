package observed

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Services answers the observed Services of a cluster, ordered by namespace
// and name, and the store's revision they were read at.
func (s *Store) Services(ctx context.Context, cluster string) ([]Service, int64, error) {
	return s.services(ctx, clusterPrefix(cluster)+serviceFolder+"/")
}

// All answers the observed Services of all clusters, and the store's revision
// they were read at.
func (s *Store) All(ctx context.Context) ([]Service, int64, error) { return s.services(ctx, prefix) }

func (s *Store) services(ctx context.Context, under string) ([]Service, int64, error) {
	items, revision, err := s.kv.Range(ctx, kv.Range{Prefix: under})
	if err != nil {
		return nil, 0, err
	}
	var out []Service
	for _, item := range items {
		name, ok := parseService(item.Key)
		if !ok {
			continue
		}
		o, err := decode[address.Observation](item)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, Service{Service: name, Observation: o, Revision: item.ModRevision})
	}
	return out, revision, nil
}
