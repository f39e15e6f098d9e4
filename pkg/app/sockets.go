package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
)

const (
	maxProfiling  = 16 // connections of the listener for profiles
	ofDescriptors = 4  // at most one in so many is a connection of the HTTP listener
	ofHTTP        = 8  // gRPC has one connection for so many of HTTP: orchestrators keep theirs
	ofListener    = 4  // an address has at most one in so many before it has shown who asks
)

// maxConnections is how many connections the HTTP listener has at once. The
// stores need descriptors, too: without any, etcd ends the process.
func (l Limits) maxConnections() int {
	most := throttle.Descriptors() / ofDescriptors
	if l.MaxConnections > 0 {
		most = min(most, l.MaxConnections)
	}
	return most
}

// bound bounds the connections of the listeners, with their metrics.
func (e *edge) bound(most int, metrics prometheus.Registerer) (err error) {
	if e.ofHTTP, err = newConnectionsOf("rest", most, metrics); err != nil {
		return err
	}
	e.ofGRPC, err = newConnectionsOf("grpc", most/ofHTTP, metrics)
	return err
}

func newConnectionsOf(listener string, most int, metrics prometheus.Registerer) (*throttle.Connections, error) {
	labels := prometheus.Labels{"listener": listener}
	ended := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signpost_connections_ended_total", ConstLabels: labels,
		Help: "Connections ended for others: the listener had as many as it may, or their address or all together without an authenticated request.",
	}, []string{"reason"})
	connections := throttle.NewConnections(most, most/ofListener, func(reason string) { ended.WithLabelValues(reason).Inc() })
	for _, reason := range throttle.Reasons() {
		ended.WithLabelValues(reason)
	}
	if err := metrics.Register(ended); err != nil {
		return nil, err
	}
	return connections, metrics.Register(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "signpost_connections", ConstLabels: labels, Help: "Connections of a listener."},
		func() float64 { return float64(connections.Len()) },
	))
}
