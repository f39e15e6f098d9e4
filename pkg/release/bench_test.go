package release_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// big is a world whose group has so many names, all on two edges.
func big(b *testing.B, names int) *world {
	w := newShop(b)
	for n := range names {
		path := prod.Child("traffic-group-intents", "front").Child("dns-intents", fmt.Sprintf("n%04d", n))
		w.put(path, fmt.Sprintf(`{"app":"web","serviceName":"s%04d","hostnames":["n%04d.lab.example"]}`, n, n))
		w.observe(berlin, fmt.Sprintf("shop/s%04d", n), "203.0.113.10")
	}
	return w
}

func BenchmarkPlanOf200Names(b *testing.B) {
	w := big(b, 200)
	for b.Loop() {
		_, err := w.service.Plan(context.Background(), prod, "", 0)
		require.NoError(b, err)
	}
}

func BenchmarkStepOf200NamesAtRest(b *testing.B) {
	w := big(b, 200)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	for b.Loop() {
		_, err := w.service.StepGroup(context.Background(), prod)
		require.NoError(b, err)
	}
}

func BenchmarkAddressAmong200Names(b *testing.B) {
	w := big(b, 200)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	n := 0
	for b.Loop() {
		n++
		w.observe(paris, "shop/s0007", fmt.Sprintf("198.51.100.%d", n%250+1))
		_, err := w.service.StepGroup(context.Background(), prod)
		require.NoError(b, err)
	}
}
