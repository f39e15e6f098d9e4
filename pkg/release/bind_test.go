package release

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// TestBindingEndsWithItsContext: wherever it has come to, for names and records may
// be many, and to match them may take long.
func TestBindingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	asks := dnsIntent{"projects/p/dns-intents/www", intent.DNSIntent{App: "web", ServiceName: "web", Hostnames: []string{"www.lab.example"}}}
	app := plan.App{Name: "web", Clusters: []string{"edge+berlin"}}
	hosts := []hostnameOf{{name: "www.lab.example", pointer: "/spec/hostnames/0"}}
	half := func() *draft {
		return &draft{
			in: &inputs{}, group: plan.Group{Apps: []plan.App{app}, Bindings: []plan.Binding{{Record: "a"}, {Record: "b"}}},
			records: map[string]recordDraft{"lab": {}}, places: map[placeKey]place{},
		}
	}
	for what, do := range map[string]func(*draft) error{
		"all":          func(d *draft) error { return d.bind(ctx, asks) },
		"making names": func(d *draft) error { _, err := d.hostnames(ctx, asks, app); return err },
		"a record": func(d *draft) error {
			return d.bindRecord(ctx, asks, app, hosts, "lab", plan.Binding{}, map[string]bool{})
		},
		"unserved names":   func(d *draft) error { return d.refuseUnserved(ctx, asks, hosts, map[string]bool{}) },
		"two bindings":     func(d *draft) error { return d.finishBindings(ctx) },
		"names to warn of": func(d *draft) error { return d.bindNames(ctx, asks) },
	} {
		require.ErrorIs(t, do(half()), context.Canceled, what)
	}
}
