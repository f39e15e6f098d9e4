package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestANameWithoutAnyAddressThatMayBePublishedIsRefused: its document would take the name out of DNS. One address that may be
// published is enough.
func TestANameWithoutAnyAddressThatMayBePublishedIsRefused(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, `{"provider":"lab","addresses":["203.0.113.99"]}`))
	w.settle(bakery)
	before := w.published(bakery)
	err := w.publish(bakery, `{"provider":"lab","addresses":["10.0.0.1","127.0.0.1"]}`)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	var refusal *intent.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, []intent.Field{
		{Pointer: string(bakery) + "#/spec/addresses/0", Detail: "10.0.0.1 cannot be published: private address in a public name: its provider has no allowPrivate; give another target, or change what the provider allows"},
		{Pointer: string(bakery) + "#/spec/addresses/1", Detail: "127.0.0.1 cannot be published: loopback address: it leads every client to itself; give another target, or change what the provider allows"},
	}, refusal.Fields)
	w.settle(bakery)
	require.Equal(t, before, w.published(bakery))

	require.NoError(t, w.publish(bakery, `{"provider":"lab","addresses":["10.0.0.1","203.0.113.98"]}`))
	w.put(lab, record("lab.example", `,"allowPrivate":true`))
	w.updateRecord(lab)
	require.NoError(t, w.publish(bakery, `{"provider":"lab","addresses":["10.0.0.1"]}`))
	w.settle(bakery)
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 10.0.0.1"}, w.published(bakery))
}
