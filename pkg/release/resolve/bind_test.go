package resolve

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
)

// TestBindingEndsWithItsContext: wherever it has come to, for names and records may
// be many, and to match them may take long.
func TestBindingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	asks := inputs.DNSIntent{Path: "projects/p/dns-intents/www", Spec: intent.DNSIntent{App: "web", ServiceName: "web", Hostnames: []string{"www.lab.example"}}}
	app := plan.App{Name: "web", Clusters: []string{"edge+berlin"}}
	hosts := []hostnameOf{{name: "www.lab.example", pointer: "/spec/hostnames/0"}}
	half := func() *Draft {
		return &Draft{
			In: &inputs.Inputs{}, Group: plan.Group{Apps: []plan.App{app}, Bindings: []plan.Binding{{Record: "a"}, {Record: "b"}}},
			Records: map[string]RecordDraft{"lab": {}}, Places: map[PlaceKey]Place{},
		}
	}
	for what, do := range map[string]func(*Draft) error{
		"all":          func(d *Draft) error { return d.bind(ctx, asks) },
		"making names": func(d *Draft) error { _, err := d.hostnames(ctx, asks, app); return err },
		"a record": func(d *Draft) error {
			return d.bindRecord(ctx, asks, app, hosts, "lab", plan.Binding{}, map[string]bool{})
		},
		"unserved names":   func(d *Draft) error { return d.refuseUnserved(ctx, asks, hosts, map[string]bool{}) },
		"two bindings":     func(d *Draft) error { return d.finishBindings(ctx) },
		"names to warn of": func(d *Draft) error { return d.BindNames(ctx, asks) },
	} {
		require.ErrorIs(t, do(half()), context.Canceled, what)
	}
}
