package release_test

import (
	"context"
	"errors"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
)

// liveState is what clusters answer to plans. Nil functions know nothing.
type liveState struct {
	service        func(address.Service) (*address.Observation, error)
	services       map[string][]string // names, by namespace
	nodes          func(cluster string) []placement.Node
	resolverUsers  func(cluster string, addresses []string) ([]string, error)
	foreignObjects func(cluster string, ids []bundle.ID) []bundle.ID
	namespaceMaker func(namespace string) (grant.MadeBy, error)
}

func (l liveState) ReadService(_ context.Context, service address.Service) (*address.Observation, error) {
	if l.service == nil {
		return nil, nil
	}
	return l.service(service)
}

func (l liveState) ReadServiceNames(_ context.Context, _, namespace string) ([]string, error) {
	return l.services[namespace], nil
}

func (l liveState) ReadNodes(_ context.Context, cluster string) ([]placement.Node, error) {
	if l.nodes == nil {
		return nil, errors.New("the cluster does not answer")
	}
	return l.nodes(cluster), nil
}

func (l liveState) ReadResolverUsers(_ context.Context, cluster string, addresses []string) ([]string, error) {
	if l.resolverUsers == nil {
		return nil, nil
	}
	return l.resolverUsers(cluster, addresses)
}

func (l liveState) ReadForeignObjects(_ context.Context, cluster string, ids []bundle.ID) ([]bundle.ID, error) {
	if l.foreignObjects == nil {
		return nil, nil
	}
	return l.foreignObjects(cluster, ids), nil
}

func (l liveState) ReadNamespaceMaker(_ context.Context, _, namespace string) (grant.MadeBy, error) {
	if l.namespaceMaker == nil {
		return grant.NotKnown, nil
	}
	return l.namespaceMaker(namespace)
}
