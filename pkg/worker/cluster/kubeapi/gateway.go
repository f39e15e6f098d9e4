package kubeapi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/source"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

func gatewayKind() cluster.Kind { return cluster.Kind{Group: cluster.GroupGateway, Kind: "Gateway"} }

func routeKind() cluster.Kind { return cluster.Kind{Group: cluster.GroupGateway, Kind: "HTTPRoute"} }

// route is what is kept of an HTTPRoute.
type route struct {
	services []string // to which it leads, as "namespace/name"
	gateways []string // that have accepted it, as "namespace/name"
}

// routeOf reads an HTTPRoute. An object without the types that its definition prescribes
// leads nowhere.
func routeOf(object *unstructured.Unstructured) *route {
	var content source.HTTPRoute
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &content) != nil {
		return &route{}
	}
	return &route{services: content.Services(object.GetNamespace()), gateways: content.Gateways(object.GetNamespace())}
}

// gateway is what is kept of a Gateway.
type gateway struct{ offers []address.Candidate }

func gatewayOf(object *unstructured.Unstructured) *gateway {
	var content source.GatewayObject
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &content) != nil {
		return &gateway{}
	}
	return &gateway{offers: content.Offers(source.Key(object.GetNamespace(), object.GetName()))}
}
