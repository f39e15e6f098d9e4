package bench

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// namesPerService is how many names one DNS intent gives to its Service.
const namesPerService = 10

// BenchmarkPlan plans names that point to two clusters each, ten of them to a
// Service. "render" is the pure part: frozen inputs and observations become
// the bundle. "request" is all of a request to plan a deployment intent group
// that is not deployed yet, over a store in memory: reading the documents
// twice, binding, rendering, and the differences for people.
func BenchmarkPlan(b *testing.B) {
	for _, names := range []int{1, 10, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("render/names=%d", names), func(b *testing.B) {
			frozen := groupOf(names, namesPerService)
			for b.Loop() {
				require.Len(b, rendered(b, frozen), len(frozen.Bindings))
			}
			perEndpoint(b, names)
		})
	}
	for _, names := range []int{1, 10, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("request/names=%d", names), func(b *testing.B) {
			service := serviceWith(b, names)
			for b.Loop() {
				planned, err := service.Plan(b.Context(), group, intent.Instantiate, 0)
				require.NoError(b, err)
				require.Empty(b, planned.Errors)
				require.Len(b, planned.Names, names)
			}
			perEndpoint(b, names)
		})
	}
}

// perEndpoint reports the time that one of so many endpoints took.
func perEndpoint(b *testing.B, count int) {
	perOp := float64(b.Elapsed()) / float64(b.N)
	b.ReportMetric(perOp/float64(count)/float64(time.Microsecond), "µs/endpoint")
}

// rendered is the bundle of a group.
func rendered(b *testing.B, g plan.Group) bundle.Bundle {
	b.Helper()
	var objects []bundle.Object
	for _, binding := range g.Bindings {
		rule := address.Rule{Scope: binding.Scope}
		for _, host := range binding.Hosts {
			rule.Names = append(rule.Names, host.Name)
		}
		var offers []address.Offer
		for _, cluster := range binding.Sources {
			offers = append(offers, address.Offer{
				Service:     address.Service{Cluster: cluster, Namespace: binding.Namespace, Name: binding.Service},
				Observation: observation(),
			})
		}
		choice, _ := address.Fold(address.Input{Rule: rule, Offers: offers})
		object, _, err := endpoints.Render(g, binding, slices.Repeat([]address.Choice{choice}, len(binding.Hosts)))
		require.NoError(b, err)
		objects = append(objects, object)
	}
	collected, err := bundle.Collect(objects)
	require.NoError(b, err)
	return collected
}

// serviceWith plans over a store in memory that holds a group with so many
// names, whose Services were observed on both edges.
func serviceWith(b *testing.B, names int) *release.Service {
	b.Helper()
	store := kvtest.NewFake()
	documents := etcd.New(store)
	write(b, documents, shop())
	const intents = group + "/traffic-group-intents/front/dns-intents/"
	for first := 0; first < names; first += namesPerService {
		spec := intent.DNSIntent{App: "web", ServiceName: service(first), TTL: 30}
		for n := first; n < min(first+namesPerService, names); n++ {
			spec.Hostnames = append(spec.Hostnames, hostname(n))
		}
		write(b, documents, map[intent.Path]any{intents + intent.Path(service(first)): spec})
		for _, cluster := range edges() {
			observe(b, store, address.Service{Cluster: cluster, Namespace: "shop", Name: service(first)})
		}
	}
	require.NoError(b, store.Compact(b.Context()))
	return releases(documents, store)
}

// releases is the service that plans over a store.
func releases(documents intent.Store, store kv.KV) *release.Service {
	return release.New(release.Options{
		Documents: documents, KV: store, Contexts: appcontext.NewStore(store, time.Now),
		Ledger: ledger.New(store), Observed: observed.New(store),
		Installation: "0123456789abcdef", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
}
